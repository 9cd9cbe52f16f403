// muse._core: the encoder of contexts, contexts of uses, sense trees, and selection by them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "senses/sense_tree.h"
#include "senses/use_moments.h"
#include "space.h"
#include "train/context_encoder.h"

namespace muse::bindings {

namespace {

using Progress = py::object;  // None, or called with what is done

// Calls back with what is done, or, without a callback, looks for Ctrl-C.
std::function<void(std::int64_t)> as_poll(const Progress& progress) {
  return [&progress](std::int64_t done) {
    const AcquireGil acquire;
    if (!progress.is_none()) progress(done);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
}

Matrix padded_matrix(const FloatArray& array, const char* name) {
  const Matrix matrix = as_matrix(array, name, true);
  if (matrix.stride % kRowPad != 0) throw py::value_error(std::string(name) + " must have padded rows");
  return matrix;
}

py::dict py_train_encoder(const FloatArray& words_, const FloatArray& outputs_, const FloatArray& positions_,
                          const Corpus& corpus, const WeightArray& weights, const WeightArray& keep,
                          const IndexArray& counts, const EncoderOptions& options, int workers,
                          const Progress& progress) {
  const EncoderModel model{padded_matrix(words_, "words"), padded_matrix(outputs_, "outputs"),
                           padded_matrix(positions_, "positions")};
  const std::int64_t words = model.words.rows;
  if (options.window < 1 || options.negative < 0 || options.group < 1 || options.shared < 0 || options.block_tokens < 1)
    throw py::value_error("window, group and block_tokens must be at least 1, negative and shared at least 0");
  if (!(options.alpha > 0.0f)) throw py::value_error("alpha must be above 0");
  if (model.outputs.rows != words || model.outputs.dim != model.words.dim || model.positions.dim != model.words.dim ||
      model.positions.rows != 2 * options.window + 1)
    throw py::value_error("words, outputs and positions do not fit together");
  if ((weights.size() != 0 && weights.size() != words) || keep.size() != words || counts.size() != words)
    throw py::value_error("weights, keep and counts must hold one number a word");
  check_corpus(corpus, words);
  EncoderStats stats;
  {
    const ReleaseGil release;
    stats = train_encoder(model, corpus, as_span(weights), as_span(keep), as_span(counts), options, workers,
                          as_poll(progress));
  }
  py::dict result;
  result["targets"] = stats.targets;
  result["loss"] = stats.loss_targets > 0 ? stats.loss / static_cast<double>(stats.loss_targets) : 0.0;
  return result;
}

void check_offsets(const IndexArray& offsets, const IndexArray& places) {
  const auto o = as_span(offsets);
  if (o.empty() || o[0] != 0 || o.back() != places.size())
    throw py::value_error("offsets must begin at 0 and end with the places");
  for (std::size_t i = 1; i < o.size(); ++i)
    if (o[i] < o[i - 1]) throw py::value_error("offsets must not decrease");
}

py::tuple py_use_moments(const Space& space, const Corpus& corpus, const IndexArray& offsets, const IndexArray& places,
                         int workers) {
  check_corpus(corpus, space.get().topic.rows);
  check_places(corpus, places);
  check_offsets(offsets, places);
  UseMoments found;
  {
    const ReleaseGil release;
    found = use_moments(space.get(), corpus, {as_span(offsets), as_span(places)}, workers);
  }
  const auto square = [](Moments& moments) {
    const py::ssize_t dim = moments.dim;
    return take(std::move(moments.covariance)).reshape({dim, dim});
  };
  return py::make_tuple(take(std::move(found.topic.mean)), square(found.topic), take(std::move(found.order.mean)),
                        square(found.order));
}

py::dict py_grow_trees(const Space& space, const Corpus& corpus, const IndexArray& offsets, const IndexArray& places,
                       const TreeOptions& options, int workers, const Progress& progress) {
  const std::int64_t words = space.get().topic.rows;
  if (options.leaves < 2 || options.uses_a_leaf < 1 || options.least_uses < 2 || options.restarts < 1 ||
      options.iterations < 1)
    throw py::value_error("a tree needs at least two leaves and two uses, and k-means one restart and iteration");
  check_corpus(corpus, words);
  check_places(corpus, places);
  check_offsets(offsets, places);
  SenseTrees trees;
  {
    const ReleaseGil release;
    trees = grow_trees(space.get(), corpus, {as_span(offsets), as_span(places)}, options, workers, as_poll(progress));
  }
  const auto leaves = static_cast<py::ssize_t>(trees.counts.size());
  const auto joins = static_cast<py::ssize_t>(trees.strengths.size());
  py::dict result;
  result["leaf_offset"] = take(std::move(trees.leaf_offset));
  result["means"] = take(std::move(trees.means)).reshape({leaves, static_cast<py::ssize_t>(space.dim())});
  result["topics"] = take(std::move(trees.topics)).reshape({leaves, static_cast<py::ssize_t>(space.get().topic.dim)});
  result["counts"] = take(std::move(trees.counts));
  result["joins"] = take(std::move(trees.joins)).reshape({joins, py::ssize_t{2}});
  result["strengths"] = take(std::move(trees.strengths));
  return result;
}

py::tuple py_join_all(const WeightArray& centroids, const IndexArray& counts, float share_power) {
  if (centroids.ndim() != 2 || centroids.shape(0) != counts.size() || counts.size() < 1)
    throw py::value_error("there must be a count for each centroid, and at least one");
  std::vector<std::int32_t> parts;
  std::vector<float> strengths;
  for (const Join& join :
       join_all(as_span(centroids), static_cast<int>(centroids.shape(1)), as_span(counts), share_power)) {
    parts.push_back(join.first);
    parts.push_back(join.second);
    strengths.push_back(join.strength);
  }
  const auto joins = static_cast<py::ssize_t>(strengths.size());
  return py::make_tuple(take(std::move(parts)).reshape({joins, py::ssize_t{2}}), take(std::move(strengths)));
}

}  // namespace
}  // namespace muse::bindings

void register_trees(pybind11::module_& m) {
  using namespace muse::bindings;
  py::class_<muse::EncoderOptions>(m, "EncoderOptions", "How the encoder of contexts learns.")
      .def(py::init<>())
      .def_readwrite("window", &muse::EncoderOptions::window)
      .def_readwrite("alpha", &muse::EncoderOptions::alpha)
      .def_readwrite("position_alpha", &muse::EncoderOptions::position_alpha)
      .def_readwrite("negative", &muse::EncoderOptions::negative)
      .def_readwrite("group", &muse::EncoderOptions::group)
      .def_readwrite("shared", &muse::EncoderOptions::shared)
      .def_readwrite("block_tokens", &muse::EncoderOptions::block_tokens)
      .def_readwrite("max_tokens", &muse::EncoderOptions::max_tokens)
      .def_readwrite("learn_words", &muse::EncoderOptions::learn_words)
      .def_readwrite("seed", &muse::EncoderOptions::seed);
  py::class_<muse::TreeOptions>(m, "TreeOptions", "How the uses of a word become a tree.")
      .def(py::init<>())
      .def_readwrite("leaves", &muse::TreeOptions::leaves)
      .def_readwrite("uses_a_leaf", &muse::TreeOptions::uses_a_leaf)
      .def_readwrite("least_uses", &muse::TreeOptions::least_uses)
      .def_readwrite("restarts", &muse::TreeOptions::restarts)
      .def_readwrite("iterations", &muse::TreeOptions::iterations)
      .def_readwrite("first_uses", &muse::TreeOptions::first_uses)
      .def_readwrite("passes", &muse::TreeOptions::passes)
      .def_readwrite("share_power", &muse::TreeOptions::share_power)
      .def_readwrite("seed", &muse::TreeOptions::seed)
      .def_readwrite("memory", &muse::TreeOptions::memory);
  m.def("train_encoder", &py_train_encoder, py::arg("words"), py::arg("outputs"), py::arg("positions"),
        py::arg("corpus"), py::arg("weights"), py::arg("keep"), py::arg("counts"), py::arg("options"),
        py::arg("workers"), py::arg("progress") = py::none(),
        "Trains the encoder of contexts in place, one epoch; targets, and the mean loss of the last tenth of them.");
  py::class_<Space>(m, "UseSpace", "The space that contexts of uses are in.")
      .def(py::init<const FloatArray&, const WeightArray&, const muse::SelectionOptions&,
                    const std::optional<FloatArray>&, const std::optional<FloatArray>&,
                    const std::optional<FloatArray>&, const std::optional<WeightArray>&, float>(),
           py::arg("topic"), py::arg("weights"), py::arg("options"), py::arg("words") = py::none(),
           py::arg("positions") = py::none(), py::arg("transform") = py::none(), py::arg("mean") = py::none(),
           py::arg("order_weight") = 0.75f)
      .def_property_readonly("dim", &Space::dim)
      .def("vectors", &Space::vectors, py::arg("tokens"), py::arg("offsets"), py::arg("positions"),
           py::arg("workers") = 1, "Contexts of words in given texts, float32 (n, S); position -1: all of it counts.")
      .def("contexts", &Space::contexts, py::arg("corpus"), py::arg("places"),
           "Contexts of tokens of a corpus, float32 (n, S).")
      .def("raw", &Space::raw, py::arg("corpus"), py::arg("places"), py::arg("workers") = 1,
           "Both blocks of tokens of a corpus before whitening: means of rows of topic, (n, Dt), and the encoder's\n"
           "(n, De).")
      .def("select", &Space::select, py::arg("selection_vectors"), py::arg("sense_offset"), py::arg("bias"),
           py::arg("temperature"), py::arg("tokens"), py::arg("offsets"), py::arg("workers") = 1,
           py::arg("prior") = WeightArray(0),
           "The best sense (local number) of every token, its probability, and its margin; bias, one a sense or none,\n"
           "is added to scores; prior, likewise, are the shares that a word which stands alone is answered by.");
  m.def("use_moments", &py_use_moments, py::arg("space"), py::arg("corpus"), py::arg("offsets"), py::arg("places"),
        py::arg("workers") = 1,
        "How raw contexts of uses of some words vary: the mean of words' means, and the covariance around them, of\n"
        "topics, (Dt,) and (Dt, Dt), and of what the encoder gives, (De,) and (De, De).");
  m.def("grow_trees", &py_grow_trees, py::arg("space"), py::arg("corpus"), py::arg("offsets"), py::arg("places"),
        py::arg("options"), py::arg("workers"), py::arg("progress") = py::none(),
        "Trees of the uses of each word, as a dict of arrays; see sense_tree.h.");
  m.def("join_all", &py_join_all, py::arg("centroids"), py::arg("counts"), py::arg("share_power"),
        "How clusters are joined two by two until one is left: (J, 2) parts, and how far apart they were.");
}
