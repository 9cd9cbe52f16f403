// A space of contexts of uses, as Python gives it; bind_trees.cpp makes it a class, and a tagger selects by it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "selector.h"
#include "senses/use_selection.h"
#include "text/corpus.h"

namespace muse::bindings {

inline void check_places(const Corpus& corpus, const IndexArray& places) {
  for (const std::int64_t place : as_span(places))
    if (place < 0 || place >= corpus.n_tokens()) throw py::value_error("a place lies outside the corpus");
}

inline void check_corpus(const Corpus& corpus, std::int64_t words) {
  for (const std::int32_t token : corpus.tokens())
    if (token >= words) throw py::value_error("the corpus has a word id beyond the vocabulary");
}

// A UseSpace and the arrays that it reads, which stay alive and must not change.
class Space {
 public:
  Space(const FloatArray& topic, const WeightArray& weights, const SelectionOptions& options,
        const std::optional<FloatArray>& words, const std::optional<FloatArray>& positions,
        const std::optional<FloatArray>& transform, const std::optional<WeightArray>& mean, float order_weight)
      : owners_(py::make_tuple(topic, weights, words, positions, transform, mean)) {
    space_.topic = as_matrix(topic, "topic", false);
    space_.topic_options = options;
    space_.weights = as_span(weights);
    space_.order_weight = order_weight;
    if (weights.size() != 0 && weights.size() != space_.topic.rows)
      throw py::value_error("weights must hold one number a word");
    if (!options.fits(options.window) || options.distance.empty())
      throw py::value_error("the topic needs a window of at least 1 within sentences, and distance weights for it");
    if (!words) return;
    if (!positions || !transform || !mean) throw py::value_error("words need positions, a transform and a mean");
    space_.words = as_matrix(*words, "words", false);
    space_.positions = as_matrix(*positions, "positions", false);
    space_.transform = as_matrix(*transform, "transform", false);
    space_.mean = as_span(*mean);
    const int dim = space_.words.dim;
    if (space_.words.rows != space_.topic.rows || space_.positions.dim != dim || space_.positions.rows < 3 ||
        space_.positions.rows % 2 != 1 || space_.transform.rows != dim || mean->size() != dim)
      throw py::value_error("the arrays of the encoder do not fit together");
    if (order_weight <= 0.0f) throw py::value_error("order_weight must be above 0");
  }

  const UseSpace& get() const { return space_; }
  int dim() const { return space_.dim(); }

  py::array_t<float> vectors(const TokenArray& tokens, const IndexArray& offsets, const IndexArray& positions,
                             int workers) const {
    const Contexts contexts = as_contexts(tokens, offsets, space_.topic.rows);
    check_positions(offsets, positions);
    py::array_t<float> out({positions.size(), static_cast<py::ssize_t>(padded_dim())});
    float* data = out.mutable_data();
    {
      const ReleaseGil release;
      use_vectors(space_, contexts, as_span(positions), workers, data);
    }
    return columns(out, dim());
  }

  // Contexts of places of a corpus.
  py::array_t<float> contexts(const Corpus& corpus, const IndexArray& places) const {
    check(corpus);
    check_places(corpus, places);
    py::array_t<float> out({places.size(), static_cast<py::ssize_t>(padded_dim())});
    float* data = out.mutable_data();
    {
      const ReleaseGil release;
      UseContexts uses(space_);
      for_uses(uses, corpus, as_span(places), [&](std::size_t first, UseContexts& some) {
        some.compute(data + first * static_cast<std::size_t>(some.stride()));
      });
    }
    return columns(out, dim());
  }

  // The means that topics are before they get unit length, and what the encoder gives before whitening.
  py::tuple raw(const Corpus& corpus, const IndexArray& places, int workers) const {
    check(corpus);
    check_places(corpus, places);
    py::array_t<float> topics({places.size(), static_cast<py::ssize_t>(space_.topic.padded_dim())});
    py::array_t<float> encoded({places.size(), static_cast<py::ssize_t>(space_.has_order() ? space_.words.dim : 0)});
    float* topic_data = topics.mutable_data();
    float* encoded_data = space_.has_order() ? encoded.mutable_data() : nullptr;
    {
      const ReleaseGil release;
      raw_contexts(space_, corpus, as_span(places), workers, encoded_data, topic_data);
    }
    return py::make_tuple(columns(topics, space_.topic.dim), encoded);
  }

  // Q, and what is added to scores; the arrays must outlive it. Throws where they do not fit the space.
  UseSelector selector(const FloatArray& selection, const IndexArray& sense_offset, const WeightArray& bias,
                       float temperature, const WeightArray& prior) const {
    const Matrix rows = as_matrix(selection, "selection_vectors", false);
    if (rows.dim != dim() || sense_offset.size() != space_.topic.rows + 1 || sense_offset.at(0) != 0 ||
        sense_offset.at(space_.topic.rows) != rows.rows)
      throw py::value_error("selection_vectors and sense_offset do not fit the space");
    const auto o = as_span(sense_offset);
    for (std::size_t i = 1; i < o.size(); ++i)
      if (o[i] <= o[i - 1]) throw py::value_error("every word needs at least one sense");
    if (bias.size() != 0 && bias.size() != rows.rows)
      throw py::value_error("bias must hold one number a sense, or none");
    if (prior.size() != 0 && prior.size() != rows.rows)
      throw py::value_error("prior must hold one number a sense, or none");
    if (!(temperature > 0.0f)) throw py::value_error("temperature must be above 0");
    return {space_, rows, sense_offset.data(), as_span(bias), temperature, as_span(prior)};
  }

  py::tuple select(const FloatArray& selection, const IndexArray& sense_offset, const WeightArray& bias,
                   float temperature, const TokenArray& tokens, const IndexArray& offsets, int workers,
                   const WeightArray& prior) const {
    const UseSelector senses = selector(selection, sense_offset, bias, temperature, prior);
    const Contexts contexts = as_contexts(tokens, offsets, space_.topic.rows);
    std::vector<std::int32_t> sense(static_cast<std::size_t>(tokens.size()));
    std::vector<float> probability(sense.size()), margin(sense.size());
    {
      const ReleaseGil release;
      select_uses(senses, contexts, workers, {sense.data(), probability.data(), margin.data()});
    }
    return py::make_tuple(take(std::move(sense)), take(std::move(probability)), take(std::move(margin)));
  }

 private:
  // That all of its words are those of the space; the same corpus is not looked at twice.
  void check(const Corpus& corpus) const {
    if (checked_.n_tokens() > 0 && checked_.tokens().data() == corpus.tokens().data() &&
        checked_.n_tokens() == corpus.n_tokens())
      return;
    check_corpus(corpus, space_.topic.rows);
    checked_ = corpus;
  }
  static void check_positions(const IndexArray& offsets, const IndexArray& positions) {
    if (offsets.size() != positions.size() + 1) throw py::value_error("positions and offsets do not fit together");
    for (py::ssize_t i = 0; i < positions.size(); ++i)
      if (positions.at(i) < -1 || positions.at(i) >= offsets.at(i + 1) - offsets.at(i))
        throw py::value_error("a position lies outside its context");
  }
  int padded_dim() const { return (dim() + kRowPad - 1) / kRowPad * kRowPad; }
  static py::array_t<float> columns(const py::array_t<float>& array, int count) {
    return array[py::make_tuple(py::ellipsis(), py::slice(0, count, 1))].cast<py::array_t<float>>();
  }

  py::tuple owners_;
  UseSpace space_;
  mutable Corpus checked_;  // held, so that no other one lies in its place
};

}  // namespace muse::bindings
