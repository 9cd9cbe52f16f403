// muse._core: sense scores and sense selection with a trained model.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <vector>

#include "arrays.h"
#include "selection.h"

namespace muse::bindings {

namespace {

Model selector(const FloatArray& context, const FloatArray& selection, const IndexArray& sense_offset,
               const SelectionOptions& options) {
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
  return model;
}

void check_tokens(const TokenArray& tokens, const IndexArray& offsets, std::int64_t words, const WeightArray& weights) {
  if (weights.size() != 0 && weights.size() != words)
    throw py::value_error("context_weights must hold one number a word");
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

py::array_t<float> py_sense_scores(const FloatArray& context, const FloatArray& selection,
                                   const IndexArray& sense_offset, const WeightArray& weights,
                                   const SelectionOptions& options, const TokenArray& tokens, const IndexArray& offsets,
                                   const IndexArray& positions, const TokenArray& words) {
  const Model model = selector(context, selection, sense_offset, options);
  check_tokens(tokens, offsets, model.num_words, weights);
  if (positions.size() != words.size() || offsets.size() != words.size() + 1)
    throw py::value_error("positions, words and offsets do not fit together");
  std::int64_t total = 0;
  for (py::ssize_t i = 0; i < words.size(); ++i) {
    const std::int64_t length = offsets.at(i + 1) - offsets.at(i);
    if (words.at(i) < 0 || words.at(i) >= model.num_words || positions.at(i) < -1 || positions.at(i) >= length)
      throw py::value_error("a word or position lies outside its context");
    total += model.senses_of(words.at(i));
  }
  std::vector<float> scores(static_cast<std::size_t>(total));
  {
    const py::gil_scoped_release release;
    sense_scores(model, options, as_span(weights), {as_span(tokens), as_span(offsets)}, as_span(positions),
                 as_span(words), scores.data());
  }
  return take(std::move(scores));
}

py::tuple py_select_senses(const FloatArray& context, const FloatArray& selection, const IndexArray& sense_offset,
                           const WeightArray& weights, const SelectionOptions& options, const TokenArray& tokens,
                           const IndexArray& offsets, float temperature, int workers) {
  const Model model = selector(context, selection, sense_offset, options);
  if (!(temperature > 0.0f)) throw py::value_error("temperature must be above 0");
  check_tokens(tokens, offsets, model.num_words, weights);
  std::vector<std::int32_t> sense(static_cast<std::size_t>(tokens.size()));
  std::vector<float> probability(sense.size());
  {
    const py::gil_scoped_release release;
    select_senses(model, options, as_span(weights), {as_span(tokens), as_span(offsets)}, temperature, workers,
                  sense.data(), probability.data());
  }
  return py::make_tuple(take(std::move(sense)), take(std::move(probability)));
}

}  // namespace
}  // namespace muse::bindings

void register_selection(pybind11::module_& m) {
  using namespace muse::bindings;
  py::class_<muse::SelectionOptions>(m, "SelectionOptions", "How a context becomes sense scores.")
      .def(py::init<>())
      .def_readwrite("window", &muse::SelectionOptions::window)
      .def_readwrite("mean", &muse::SelectionOptions::mean)
      .def_readwrite("cross_sentences", &muse::SelectionOptions::cross_sentences)
      .def_readwrite("full_text", &muse::SelectionOptions::full_text)
      .def_readwrite("distance", &muse::SelectionOptions::distance);
  m.def("sense_scores", &py_sense_scores, py::arg("context_vectors"), py::arg("selection_vectors"),
        py::arg("sense_offset"), py::arg("context_weights"), py::arg("options"), py::arg("tokens"), py::arg("offsets"),
        py::arg("positions"), py::arg("words"),
        "Scores of each word's senses in its context, one word after another; position -1: not in the context.");
  m.def("select_senses", &py_select_senses, py::arg("context_vectors"), py::arg("selection_vectors"),
        py::arg("sense_offset"), py::arg("context_weights"), py::arg("options"), py::arg("tokens"), py::arg("offsets"),
        py::arg("temperature") = 1.0f, py::arg("workers") = 1,
        "The best sense (local number) of every token, and its probability.");
}
