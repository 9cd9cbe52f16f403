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
  if (sense_offset.size() != model.num_words + 1 || sense_offset.at(0) != 0 ||
      model.num_senses() != model.selection.rows || model.context.dim != model.selection.dim)
    throw py::value_error("context_vectors, selection_vectors and sense_offset do not fit together");
  const auto rows = as_span(sense_offset);
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i] <= rows[i - 1]) throw py::value_error("every word needs at least one sense");
  if (!options.fits(options.window)) throw py::value_error("window must be at least 1, and distance weights cover it");
  if (weights.size() != 0 && weights.size() != model.num_words)
    throw py::value_error("context_weights must hold one number a word");
  return model;
}

inline void check_tokens(const TokenArray& tokens, const IndexArray& offsets, std::int64_t words) {
  std::int64_t last = 0;
  const bool starts = offsets.size() >= 1 && offsets.at(0) == 0;
  for (const std::int64_t o : as_span(offsets)) {
    if (!starts || o < last) throw py::value_error("offsets must begin at 0 and never decrease");
    last = o;
  }
  if (!starts || last != tokens.size()) throw py::value_error("offsets must end at the number of tokens");
  for (const std::int32_t t : as_span(tokens))
    if (t < 0 || t >= words) throw py::value_error("a token id lies outside the vocabulary");
}

// As above, with all that a selector needs; the arrays must outlive it.
inline SelectorParts selector_parts(const FloatArray& context, const FloatArray& selection,
                                    const IndexArray& sense_offset, const WeightArray& weights,
                                    const SelectionOptions& options, float temperature) {
  if (!(temperature > 0.0f)) throw py::value_error("temperature must be above 0");
  return {selector(context, selection, sense_offset, weights, options), options, as_span(weights), temperature};
}

}  // namespace muse::bindings
