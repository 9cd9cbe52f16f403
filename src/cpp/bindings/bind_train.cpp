// muse._core: options, aligned arrays, the trainer.
#include <pybind11/functional.h>
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <new>
#include <vector>

#include "arrays.h"
#include "corpus.h"
#include "pages.h"
#include "train.h"

namespace muse::bindings {

namespace {

// A zeroed (rows, dim) array whose rows are padded to whole registers and cache lines.
py::array_t<float> aligned_zeros(std::int64_t rows, std::int64_t dim) {
  if (rows < 0 || dim < 1 || dim > (1 << 20)) throw py::value_error("rows must be at least 0 and dim from 1 to 2^20");
  const std::int64_t stride = (dim + kRowPad - 1) / kRowPad * kRowPad;
  const auto bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride) * sizeof(float);
  if (rows > (std::int64_t{1} << 56) / stride) throw std::bad_alloc();
  auto* data = static_cast<float*>(allocate_zeros(bytes));
  if (data == nullptr) throw std::bad_alloc();
  const py::capsule free(data, release_zeros);
  return py::array_t<float>({rows, dim}, {stride * static_cast<std::int64_t>(sizeof(float)), std::int64_t{4}}, data,
                            free);
}

bool check_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  return true;
}

// Keeps the numpy arrays alive for as long as the trainer writes to them.
class PyTrainer {
 public:
  PyTrainer(FloatArray context, FloatArray selection, FloatArray sense, FloatArray collocation, IndexArray sense_offset,
            const IndexArray& word_counts, const Corpus& corpus, const Options& options, double sample,
            double ns_exponent, const WeightArray& context_weights, std::optional<FloatArray> forward,
            std::optional<FloatArray> backward)
      : offset_(std::move(sense_offset)), arrays_{context, selection, sense, collocation} {
    Model model;
    model.context = as_matrix(context, "context_vectors", true);
    model.selection = as_matrix(selection, "selection_vectors", true);
    model.sense = as_matrix(sense, "sense_vectors", true);
    model.collocation = as_matrix(collocation, "collocation_vectors", true);
    for (const auto& [array, matrix, name] : {std::tuple{forward, &model.forward, "forward_values"},
                                              std::tuple{backward, &model.backward, "backward_values"}}) {
      if (!array) continue;
      *matrix = as_matrix(*array, name, true);
      arrays_.push_back(*array);
    }
    model.num_words = model.context.rows;
    const auto offsets = as_span(offset_);
    if (offset_.size() != model.num_words + 1 || offsets[0] != 0 || model.num_words == 0)
      throw py::value_error("sense_offset must hold one number more than there are words and begin at 0");
    for (std::size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] <= offsets[i - 1]) throw py::value_error("every word needs at least one sense");
    model.sense_offset = offset_.data();
    const auto counts = as_span(word_counts);
    const auto weights = as_span(context_weights);
    trainer_ = std::make_unique<Trainer>(model, corpus, std::vector(counts.begin(), counts.end()), options, sample,
                                         ns_exponent, std::vector(weights.begin(), weights.end()));
  }

  std::int64_t num_batches() const { return trainer_->num_batches(); }
  float alpha_at(int epoch, std::int64_t batch) const {
    if (epoch < 0 || batch < 0 || batch > num_batches()) throw py::value_error("epoch or batch out of range");
    return trainer_->alpha_at(epoch, batch);
  }

  // An exception of `tick` or of a signal handler (Ctrl-C) stops the run and is returned beside its numbers, which say
  // what the arrays hold now.
  py::dict run(int epoch, std::int64_t first, std::int64_t last, int workers, const py::object& tick) {
    RunStats stats;
    py::object error = py::none();
    const auto guarded = [&error](const auto& call) {
      try {
        return call();
      } catch (const py::error_already_set& e) {
        error = e.value();
        if (e.trace()) PyException_SetTraceback(error.ptr(), e.trace().ptr());
        return false;
      }
    };
    {
      const py::gil_scoped_release release;
      stats = trainer_->run(epoch, first, last, workers, [&](std::int64_t tokens) {
        const py::gil_scoped_acquire acquire;
        const bool go_on = guarded([&] {
          check_signals();
          return tick.is_none() || tick(tokens).cast<bool>();
        });
        return go_on ? Tick::kGoOn : error.is_none() ? Tick::kFinishBatches : Tick::kStopNow;
      });
    }
    guarded([] { return check_signals(); });
    py::dict result;
    result["error"] = error;
    result["targets"] = stats.step.targets;
    result["pairs"] = stats.step.pairs;
    result["reward"] = stats.step.reward;
    result["loss"] = stats.step.loss;
    result["loss_pairs"] = stats.step.loss_pairs;
    result["entropy"] = stats.step.entropy;
    result["entropy_targets"] = stats.step.entropy_targets;
    result["tokens"] = stats.tokens;
    result["next_batch"] = stats.next_batch;
    result["stopped"] = stats.stopped;
    result["diverged"] = stats.diverged;
    result["cut"] = stats.step.cut;
    result["sense_use"] = take(std::move(stats.sense_use));
    return result;
  }

 private:
  IndexArray offset_;
  std::vector<FloatArray> arrays_;
  std::unique_ptr<Trainer> trainer_;
};

void register_options(py::module_& m) {
  py::native_enum<Strategy>(m, "Strategy", "enum.Enum", "How a sense is taken from its scores (paper, section 3.3).")
      .value("greedy", Strategy::kGreedy)
      .value("eps_greedy", Strategy::kEpsGreedy)
      .value("boltzmann", Strategy::kBoltzmann)
      .value("policy", Strategy::kPolicy)
      .value("smooth_policy", Strategy::kSmoothPolicy)
      .finalize();
  py::native_enum<Formulation>(m, "Formulation", "enum.Enum", "Which sides of a pair train the selector.")
      .value("one_sided", Formulation::kOneSided)
      .value("two_sided", Formulation::kTwoSided)
      .value("factorized", Formulation::kFactorized)
      .finalize();
  py::native_enum<Reward>(m, "Reward", "enum.Enum", "What a selected sense earns.")
      .value("likelihood", Reward::kLikelihood)
      .value("sampled_likelihood", Reward::kSampledLikelihood)
      .finalize();
  py::native_enum<Collocates>(m, "Collocates", "enum.Enum", "How many collocates a target trains with.")
      .value("one", Collocates::kOne)
      .value("all", Collocates::kAll)
      .finalize();
  py::native_enum<SelectionUpdate>(m, "SelectionUpdate", "enum.Enum", "How P and Q learn.")
      .value("paper", SelectionUpdate::kPaper)
      .value("posterior", SelectionUpdate::kPosterior)
      .value("none", SelectionUpdate::kNone)
      .finalize();
  py::class_<Options>(m, "Options", "Options of the trainer; see src/cpp/options.h.")
      .def(py::init<>())
      .def_readwrite("strategy", &Options::strategy)
      .def_readwrite("formulation", &Options::formulation)
      .def_readwrite("reward", &Options::reward)
      .def_readwrite("collocates", &Options::collocates)
      .def_readwrite("selection_update", &Options::selection_update)
      .def_readwrite("window", &Options::window)
      .def_readwrite("shrink_windows", &Options::shrink_windows)
      .def_readwrite("shrink_selection", &Options::shrink_selection)
      .def_readwrite("selection", &Options::selection)
      .def_readwrite("negative", &Options::negative)
      .def_readwrite("group_size", &Options::group_size)
      .def_readwrite("group_negatives", &Options::group_negatives)
      .def_readwrite("alpha", &Options::alpha)
      .def_readwrite("min_alpha", &Options::min_alpha)
      .def_readwrite("selection_alpha", &Options::selection_alpha)
      .def_readwrite("selection_mean", &Options::selection_mean)
      .def_readwrite("epsilon", &Options::epsilon)
      .def_readwrite("temperature", &Options::temperature)
      .def_readwrite("batch_tokens", &Options::batch_tokens)
      .def_readwrite("posterior_weight", &Options::posterior_weight)
      .def_readwrite("posterior_selects", &Options::posterior_selects)
      .def_readwrite("train_context_vectors", &Options::train_context_vectors)
      .def_readwrite("sibling_share", &Options::sibling_share)
      .def_readwrite("max_norm", &Options::max_norm)
      .def_readwrite("seed", &Options::seed)
      .def_readwrite("epochs", &Options::epochs);
}

}  // namespace
}  // namespace muse::bindings

void register_train(pybind11::module_& m) {
  using namespace muse::bindings;
  register_options(m);
  m.def("aligned_zeros", &aligned_zeros, py::arg("rows"), py::arg("dim"),
        "Zeroed float32 array (rows, dim) with padded, 64-byte aligned rows, as training needs it.");
  m.def(
      "keep_probabilities",
      [](const IndexArray& counts, double sample) { return take(muse::keep_probabilities(as_span(counts), sample)); },
      py::arg("counts"), py::arg("sample"), "Probability that subsampling keeps a token of each word, float32 (V,).");
  py::class_<PyTrainer>(m, "Trainer", "Trains arrays in place, batch by batch.")
      .def(py::init<FloatArray, FloatArray, FloatArray, FloatArray, IndexArray, const IndexArray&, const muse::Corpus&,
                    const muse::Options&, double, double, const WeightArray&, std::optional<FloatArray>,
                    std::optional<FloatArray>>(),
           py::kw_only(), py::arg("context_vectors").noconvert(), py::arg("selection_vectors").noconvert(),
           py::arg("sense_vectors").noconvert(), py::arg("collocation_vectors").noconvert(), py::arg("sense_offset"),
           py::arg("word_counts"), py::arg("corpus"), py::arg("options"), py::arg("sample"), py::arg("ns_exponent"),
           py::arg("context_weights"), py::arg("forward_values") = py::none(), py::arg("backward_values") = py::none())
      .def_property_readonly("num_batches", &PyTrainer::num_batches)
      .def("alpha_at", &PyTrainer::alpha_at, py::arg("epoch"), py::arg("batch"))
      .def("run", &PyTrainer::run, py::arg("epoch"), py::arg("first"), py::arg("last"), py::arg("workers"),
           py::arg("tick") = py::none(),
           "Runs batches [first, last) of an epoch; tick(tokens) is called about ten times a second, false stops.");
}
