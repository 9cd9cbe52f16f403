// muse._core: the encoder of contexts, contexts of uses, sense trees, and selection by them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "selector.h"
#include "senses/sense_tree.h"
#include "senses/use_selection.h"
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

void check_corpus(const Corpus& corpus, std::int64_t words) {
  for (const std::int32_t token : corpus.tokens())
    if (token >= words) throw py::value_error("the corpus has a word id beyond the vocabulary");
}

void check_places(const Corpus& corpus, const IndexArray& places) {
  for (const std::int64_t place : as_span(places))
    if (place < 0 || place >= corpus.n_tokens()) throw py::value_error("a place lies outside the corpus");
}

Matrix padded_matrix(const FloatArray& array, const char* name) {
  const Matrix matrix = as_matrix(array, name, true);
  if (matrix.stride % kRowPad != 0) throw py::value_error(std::string(name) + " must have padded rows");
  return matrix;
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
    if (offsets.size() != positions.size() + 1) throw py::value_error("positions and offsets do not fit together");
    for (py::ssize_t i = 0; i < positions.size(); ++i)
      if (positions.at(i) < -1 || positions.at(i) >= offsets.at(i + 1) - offsets.at(i))
        throw py::value_error("a position lies outside its context");
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
    check_corpus(corpus, space_.topic.rows);
    check_places(corpus, places);
    py::array_t<float> out({places.size(), static_cast<py::ssize_t>(padded_dim())});
    float* data = out.mutable_data();
    {
      const ReleaseGil release;
      UseContexts uses(space_);
      for_uses(uses, SentenceIndex(corpus), as_span(places), [&](std::size_t first, UseContexts& some) {
        some.compute(data + first * static_cast<std::size_t>(some.stride()));
      });
    }
    return columns(out, dim());
  }

  // The means that topics are before they get unit length, and what the encoder gives before whitening.
  py::tuple raw(const Corpus& corpus, const IndexArray& places, int workers) const {
    check_corpus(corpus, space_.topic.rows);
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

  py::tuple select(const FloatArray& selection, const IndexArray& sense_offset, float temperature,
                   const TokenArray& tokens, const IndexArray& offsets, int workers) const {
    const Matrix rows = as_matrix(selection, "selection_vectors", false);
    const Contexts contexts = as_contexts(tokens, offsets, space_.topic.rows);
    if (rows.dim != dim() || sense_offset.size() != space_.topic.rows + 1 || sense_offset.at(0) != 0 ||
        sense_offset.at(space_.topic.rows) != rows.rows)
      throw py::value_error("selection_vectors and sense_offset do not fit the space");
    const auto o = as_span(sense_offset);
    for (std::size_t i = 1; i < o.size(); ++i)
      if (o[i] <= o[i - 1]) throw py::value_error("every word needs at least one sense");
    if (!(temperature > 0.0f)) throw py::value_error("temperature must be above 0");
    std::vector<std::int32_t> sense(static_cast<std::size_t>(tokens.size()));
    std::vector<float> probability(sense.size()), margin(sense.size());
    {
      const ReleaseGil release;
      select_uses({space_, rows, sense_offset.data(), temperature}, contexts, workers,
                  {sense.data(), probability.data(), margin.data()});
    }
    return py::make_tuple(take(std::move(sense)), take(std::move(probability)), take(std::move(margin)));
  }

 private:
  int padded_dim() const { return (dim() + kRowPad - 1) / kRowPad * kRowPad; }
  static py::array_t<float> columns(const py::array_t<float>& array, int count) {
    return array[py::make_tuple(py::ellipsis(), py::slice(0, count, 1))].cast<py::array_t<float>>();
  }

  py::tuple owners_;
  UseSpace space_;
};

py::dict py_train_encoder(const FloatArray& words_, const FloatArray& outputs_, const FloatArray& positions_,
                          const Corpus& corpus, const WeightArray& weights, const WeightArray& keep,
                          const IndexArray& counts, const EncoderOptions& options, int workers,
                          const Progress& progress) {
  const EncoderModel model{padded_matrix(words_, "words"), padded_matrix(outputs_, "outputs"),
                           padded_matrix(positions_, "positions")};
  const std::int64_t words = model.words.rows;
  if (options.window < 1 || options.negative < 0 || options.group < 1 || options.shared < 0 || options.block_tokens < 1)
    throw py::value_error("window, group and block_tokens must be at least 1, negative and shared at least 0");
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

py::dict py_grow_trees(const Space& space, const std::optional<FloatArray>& map_vectors, const Corpus& corpus,
                       const IndexArray& offsets, const IndexArray& places, const TreeOptions& options, int workers,
                       const Progress& progress) {
  const Matrix map = map_vectors ? as_matrix(*map_vectors, "map_vectors", false) : Matrix{};
  const std::int64_t words = space.get().topic.rows;
  if (options.leaves < 2 || options.uses_a_leaf < 1 || options.least_uses < 2 || options.restarts < 1 ||
      options.iterations < 1)
    throw py::value_error("a tree needs at least two leaves and two uses, and k-means one restart and iteration");
  if (map_vectors && (map.rows != words || !options.map.fits(options.map.window)))
    throw py::value_error("map_vectors must have a row a word, and the map a window with distance weights for it");
  check_corpus(corpus, words);
  check_places(corpus, places);
  const auto o = as_span(offsets);
  if (offsets.size() != words + 1 || o[0] != 0 || o.back() != places.size())
    throw py::value_error("offsets do not fit the vocabulary and the places");
  for (std::size_t i = 1; i < o.size(); ++i)
    if (o[i] < o[i - 1]) throw py::value_error("offsets must not decrease");
  SenseTrees trees;
  {
    const ReleaseGil release;
    trees = grow_trees(space.get(), map, corpus, {o, as_span(places)}, options, workers, as_poll(progress));
  }
  const auto leaves = static_cast<py::ssize_t>(trees.counts.size());
  const auto joins = static_cast<py::ssize_t>(trees.strengths.size());
  py::dict result;
  result["leaf_offset"] = take(std::move(trees.leaf_offset));
  result["means"] = take(std::move(trees.means)).reshape({leaves, static_cast<py::ssize_t>(space.dim())});
  result["map_means"] = take(std::move(trees.map_means)).reshape({leaves, static_cast<py::ssize_t>(map.dim)});
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
      .def_readwrite("map", &muse::TreeOptions::map);
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
      .def("select", &Space::select, py::arg("selection_vectors"), py::arg("sense_offset"), py::arg("temperature"),
           py::arg("tokens"), py::arg("offsets"), py::arg("workers") = 1,
           "The best sense (local number) of every token, its probability, and its margin.");
  m.def("grow_trees", &py_grow_trees, py::arg("space"), py::arg("map_vectors"), py::arg("corpus"), py::arg("offsets"),
        py::arg("places"), py::arg("options"), py::arg("workers"), py::arg("progress") = py::none(),
        "Trees of the uses of each word, as a dict of arrays; see sense_tree.h.");
  m.def("join_all", &py_join_all, py::arg("centroids"), py::arg("counts"), py::arg("share_power"),
        "How clusters are joined two by two until one is left: (J, 2) parts, and how far apart they were.");
}
