// What arrays a selector of senses is given, checked; the same for the core's and for the CUDA backend's.
#pragma once

#include "arrays.h"
#include "senses/tagger.h"

namespace muse::bindings {

inline Model selector(const FloatArray& context, const FloatArray& selection, const IndexArray& sense_offset,
                      const WeightArray& weights, const SelectionOptions& options) {
  Model model;
  model.context = as_matrix(context, "context_vectors", false);
  model.selection = as_matrix(selection, "selection_vectors", false);
  model.num_words = model.context.rows;
  model.sense_offset = sense_offset.data();
  check_selector(model, as_span(sense_offset), options, as_span(weights));
  return model;
}

inline Contexts as_contexts(const TokenArray& tokens, const IndexArray& offsets, std::int64_t num_words) {
  const Contexts contexts{as_span(tokens), as_span(offsets)};
  check_contexts(contexts, num_words);
  return contexts;
}

// As above, with all that a selector needs; the arrays must outlive it.
inline SelectorParts selector_parts(const FloatArray& context, const FloatArray& selection,
                                    const IndexArray& sense_offset, const WeightArray& weights,
                                    const SelectionOptions& options, float temperature, const WeightArray& prior) {
  if (!(temperature > 0.0f)) throw py::value_error("temperature must be above 0");
  const Model model = selector(context, selection, sense_offset, weights, options);
  if (prior.size() != 0 && prior.size() != model.selection.rows)
    throw py::value_error("prior must hold one number a sense");
  return {model, options, as_span(weights), temperature, as_span(prior)};
}

}  // namespace muse::bindings
