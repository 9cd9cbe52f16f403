// muse._core: options, aligned arrays, the trainer.
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <new>
#include <vector>

#include "arrays.h"
#include "gil.h"
#include "math/pages.h"
#include "train/train.h"
#include "trainer.h"

namespace muse::bindings {

namespace {

// A zeroed (rows, dim) array whose rows are padded to whole registers and cache lines.
py::array_t<float> aligned_zeros(std::int64_t rows, std::int64_t dim, bool used) {
  if (rows < 0 || dim < 1 || dim > (1 << 20)) throw py::value_error("rows must be at least 0 and dim from 1 to 2^20");
  float* data = allocate_rows(rows, dim, used);
  if (data == nullptr) throw std::bad_alloc();
  const py::capsule free(data, release_zeros);
  constexpr std::int64_t kFloat = sizeof(float);
  return py::array_t<float>({rows, dim}, {padded(dim) * kFloat, kFloat}, data, free);
}

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
  py::class_<Options>(m, "Options", "Options of the trainer; see src/cpp/model/options.h.")
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
      .def("shared_negatives", &Options::shared_negatives, "How many negatives a group of targets shares.")
      .def_readwrite("alpha", &Options::alpha)
      .def_readwrite("min_alpha", &Options::min_alpha)
      .def_readwrite("selection_alpha", &Options::selection_alpha)
      .def_readwrite("selection_mean", &Options::selection_mean)
      .def_readwrite("epsilon", &Options::epsilon)
      .def_readwrite("temperature", &Options::temperature)
      .def_readwrite("batch_tokens", &Options::batch_tokens)
      .def_readwrite("posterior_weight", &Options::posterior_weight)
      .def_readwrite("train_context_vectors", &Options::train_context_vectors)
      .def_readwrite("sibling_share", &Options::sibling_share)
      .def_readwrite("max_norm", &Options::max_norm)
      .def_readwrite("seed", &Options::seed)
      .def_readwrite("epochs", &Options::epochs);
}

void place(PyTrainer<Trainer>& self, const Corpus& corpus, std::int64_t first_token, std::int64_t first_batch,
           std::int64_t last_batch, double start, double end) {
  const ReleaseGil release;
  self.trainer().place(corpus, {first_token, first_batch, last_batch, start, end});
}

}  // namespace
}  // namespace muse::bindings

void register_train(pybind11::module_& m) {
  using namespace muse::bindings;
  register_options(m);
  m.def("aligned_zeros", &aligned_zeros, py::arg("rows"), py::arg("dim"), py::arg("used") = true,
        "Zeroed float32 array (rows, dim) with padded, 64-byte aligned rows, as training needs it. One that may never\n"
        "be `used` takes no memory until it is.");
  m.def("give_back_memory", &muse::give_back_memory, "Gives the system what is free in the heap.");
  m.def(
      "keep_probabilities",
      [](const IndexArray& counts, double sample) { return take(muse::keep_probabilities(as_span(counts), sample)); },
      py::arg("counts"), py::arg("sample"), "Probability that subsampling keeps a token of each word, float32 (V,).");
  register_trainer<muse::Trainer>(m, "Trains arrays in place, batch by batch.")
      .def("place", &place, py::arg("corpus"), py::kw_only(), py::arg("first_token"), py::arg("first_batch"),
           py::arg("last_batch"), py::arg("start"), py::arg("end"),
           "The corpus is now this part of a text, which begins at its token `first_token`, by whose places draws are\n"
           "keyed; its batches [first_batch, last_batch) are trained while the whole training goes from `start` to\n"
           "`end`, both from 0 to 1: by these the learning rate falls.");
}
