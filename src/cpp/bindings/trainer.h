// The Python class of a trainer, the same for the core's and for the CUDA backend's.
#pragma once

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.h"
#include "text/corpus.h"
#include "train/train.h"

namespace muse::bindings {

inline bool check_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  return true;
}

// Trains numpy arrays in place: `Trainer`, or the CUDA backend's. Keeps them alive for as long as it writes to them.
template <typename AnyTrainer>
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
    check_senses(as_span(offset_), model.num_words);
    model.sense_offset = offset_.data();
    const auto counts = as_span(word_counts);
    const auto weights = as_span(context_weights);
    trainer_ = std::make_unique<AnyTrainer>(model, corpus, std::vector(counts.begin(), counts.end()), options, sample,
                                            ns_exponent, std::vector(weights.begin(), weights.end()));
  }

  AnyTrainer& trainer() { return *trainer_; }
  const AnyTrainer& trainer() const { return *trainer_; }
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
      const ReleaseGil release;
      stats = trainer_->run(epoch, first, last, workers, [&](std::int64_t tokens) {
        const AcquireGil acquire;
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
  std::unique_ptr<AnyTrainer> trainer_;
};

template <typename AnyTrainer>
py::class_<PyTrainer<AnyTrainer>> register_trainer(py::module_& m, const char* doc) {
  using Wrapped = PyTrainer<AnyTrainer>;
  return py::class_<Wrapped>(m, "Trainer", doc)
      .def(py::init<FloatArray, FloatArray, FloatArray, FloatArray, IndexArray, const IndexArray&, const Corpus&,
                    const Options&, double, double, const WeightArray&, std::optional<FloatArray>,
                    std::optional<FloatArray>>(),
           py::kw_only(), py::arg("context_vectors").noconvert(), py::arg("selection_vectors").noconvert(),
           py::arg("sense_vectors").noconvert(), py::arg("collocation_vectors").noconvert(), py::arg("sense_offset"),
           py::arg("word_counts"), py::arg("corpus"), py::arg("options"), py::arg("sample"), py::arg("ns_exponent"),
           py::arg("context_weights"), py::arg("forward_values") = py::none(), py::arg("backward_values") = py::none())
      .def_property_readonly("num_batches", &Wrapped::num_batches)
      .def("alpha_at", &Wrapped::alpha_at, py::arg("epoch"), py::arg("batch"))
      .def("run", &Wrapped::run, py::arg("epoch"), py::arg("first"), py::arg("last"), py::arg("workers"),
           py::arg("tick") = py::none(),
           "Runs batches [first, last) of an epoch; tick(tokens) is called about ten times a second, false stops.");
}

}  // namespace muse::bindings
