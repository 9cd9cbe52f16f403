// muse._core: the split of words into senses.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <vector>

#include "arrays.h"
#include "math/kernels.h"
#include "senses/cluster.h"

namespace muse::bindings {

namespace {

void check(const Matrix& context, const WeightArray& weights, const SelectionOptions& options, const Corpus& corpus) {
  if (weights.size() != 0 && weights.size() != context.rows)
    throw py::value_error("context_weights must hold one number a word");
  if (!options.fits(options.window)) throw py::value_error("window must be at least 1, and distance weights cover it");
  corpus.check_words(context.rows);
}

py::tuple py_sample_occurrences(const Corpus& corpus, std::int64_t num_words, std::int64_t cap, std::uint64_t seed) {
  corpus.check_words(num_words);
  Occurrences found;
  {
    const ReleaseGil release;
    found = sample_occurrences(corpus, num_words, cap, seed);
  }
  return py::make_tuple(take(std::move(found.offsets)), take(std::move(found.places)));
}

py::array_t<float> py_context_vectors(const FloatArray& context_vectors_, const WeightArray& weights,
                                      const SelectionOptions& options, const Corpus& corpus, const IndexArray& places) {
  const Matrix context = as_matrix(context_vectors_, "context_vectors", false);
  check(context, weights, options, corpus);
  for (const std::int64_t p : as_span(places))
    if (p < 0 || p >= corpus.n_tokens()) throw py::value_error("a place lies outside the corpus");
  const py::ssize_t width = context.padded_dim();
  py::array_t<float> out({places.size(), width});
  float* data = out.mutable_data();
  {
    const ReleaseGil release;
    context_vectors(context, options, as_span(weights), corpus, as_span(places), data);
  }
  return out[py::make_tuple(py::ellipsis(), py::slice(0, context.dim, 1))].cast<py::array_t<float>>();
}

py::tuple py_split_senses(const FloatArray& context_vectors_, const WeightArray& weights,
                          const SelectionOptions& options, const Corpus& corpus, const IndexArray& offsets,
                          const IndexArray& places, const TokenArray& wanted, const SplitOptions& split, int workers) {
  const Matrix context = as_matrix(context_vectors_, "context_vectors", true);
  check(context, weights, options, corpus);
  if (context.stride % kRowPad != 0) throw py::value_error("context_vectors must have padded rows");
  if (wanted.size() != context.rows || offsets.size() != context.rows + 1)
    throw py::value_error("wanted and offsets must fit the vocabulary");
  const auto o = as_span(offsets);
  const auto p = as_span(places);
  if (split.restarts < 1 || split.iterations < 1 || split.min_contexts < 1)
    throw py::value_error("restarts, iterations and min_contexts must be at least 1");
  if (split.share_weight > 0.0f && context.dim < 2)
    throw py::value_error("share_weight needs a column of context_vectors beside the constant");
  if (o[0] != 0 || o.back() != places.size()) throw py::value_error("offsets do not fit places");
  for (std::size_t i = 1; i < o.size(); ++i)
    if (o[i] < o[i - 1]) throw py::value_error("offsets must not decrease");
  for (const std::int64_t place : p)
    if (place < 0 || place >= corpus.n_tokens()) throw py::value_error("a place lies outside the corpus");
  Split found;
  {
    const ReleaseGil release;
    found = split_senses(context, options, as_span(weights), corpus, {o, p}, as_span(wanted), split, workers, [] {
      const AcquireGil acquire;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();  // Ctrl-C
    });
  }
  auto centroids = take(std::move(found.centroids));
  const auto rows = static_cast<py::ssize_t>(found.counts.size());
  return py::make_tuple(take(std::move(found.senses)), centroids.reshape({rows, static_cast<py::ssize_t>(context.dim)}),
                        take(std::move(found.counts)));
}

}  // namespace
}  // namespace muse::bindings

void register_cluster(pybind11::module_& m) {
  using namespace muse::bindings;
  py::class_<muse::SplitOptions>(m, "SplitOptions", "How words are split into senses.")
      .def(py::init<>())
      .def_readwrite("min_contexts", &muse::SplitOptions::min_contexts)
      .def_readwrite("restarts", &muse::SplitOptions::restarts)
      .def_readwrite("iterations", &muse::SplitOptions::iterations)
      .def_readwrite("discourse", &muse::SplitOptions::discourse)
      .def_readwrite("adaptive", &muse::SplitOptions::adaptive)
      .def_readwrite("min_share", &muse::SplitOptions::min_share)
      .def_readwrite("max_cosine_two", &muse::SplitOptions::max_cosine_two)
      .def_readwrite("max_cosine_more", &muse::SplitOptions::max_cosine_more)
      .def_readwrite("share_weight", &muse::SplitOptions::share_weight)
      .def_readwrite("seed", &muse::SplitOptions::seed);
  m.def("sample_occurrences", &py_sample_occurrences, py::arg("corpus"), py::arg("num_words"), py::arg("cap"),
        py::arg("seed"), "Places of each word in the corpus, about `cap` a word at most: (offsets, places).");
  m.def("context_vectors", &py_context_vectors, py::arg("context_vectors"), py::arg("context_weights"),
        py::arg("options"), py::arg("corpus"), py::arg("places"), "The contexts of tokens, float32 (n, S).");
  m.def("split_senses", &py_split_senses, py::arg("context_vectors"), py::arg("context_weights"), py::arg("options"),
        py::arg("corpus"), py::arg("offsets"), py::arg("places"), py::arg("wanted"), py::arg("split"),
        py::arg("workers"), "Senses of each word from clusters of its contexts: (senses, centroids, counts).");
}
