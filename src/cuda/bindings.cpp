// muse._cuda: training, selection and search on a CUDA device. Types it shares with muse._core, which must be loaded
// first, are that one's.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend.h"
#include "bindings/arrays.h"
#include "bindings/modules.h"
#include "bindings/selector.h"
#include "bindings/trainer.h"

namespace py = pybind11;

#ifdef MUSE_CUDA_EMULATION
void register_emulation(py::module_& m);  // tests/emulation/
#endif

namespace {

using namespace muse::bindings;

std::int64_t positive(std::int64_t number, const char* name) {
  if (number < 1 || number > (std::int64_t{1} << 28)) throw py::value_error(std::string(name) + " is out of range");
  return number;
}

// A CudaSelector for tokens in arrays; muse._core.Tagger uses the class below it.
class Selector : public muse::cuda::CudaSelector {
 public:
  Selector(const FloatArray& context, const FloatArray& selection, const IndexArray& sense_offset,
           const WeightArray& weights, const muse::SelectionOptions& options, float temperature, std::int64_t chunk,
           const WeightArray& prior)
      : CudaSelector(selector_parts(context, selection, sense_offset, weights, options, temperature, prior),
                     positive(chunk, "chunk")),
        words_(context.shape(0)) {}

  py::tuple choose(const TokenArray& tokens, const IndexArray& offsets) const {
    const muse::Contexts contexts = as_contexts(tokens, offsets, words_);
    std::vector<std::int32_t> sense(static_cast<std::size_t>(tokens.size()));
    std::vector<float> probability(sense.size());
    {
      const ReleaseGil release;
      select(contexts, {sense.data(), probability.data(), nullptr});
    }
    return py::make_tuple(take(std::move(sense)), take(std::move(probability)));
  }

 private:
  std::int64_t words_;
};

std::unique_ptr<muse::cuda::CudaSearch> make_search(const FloatArray& matrix, const std::optional<WeightArray>& scale,
                                                    std::int64_t panel) {
  const muse::Matrix rows = as_matrix(matrix, "matrix", false);
  return std::make_unique<muse::cuda::CudaSearch>(rows, data_or_null(scale, rows.rows, "scale"),
                                                  positive(panel, "panel"));
}

std::pair<IndexArray, FloatArray> top_k(const muse::cuda::CudaSearch& search, const FloatArray& queries, std::int64_t k,
                                        std::optional<std::int64_t> end, const std::optional<ByteArray>& mask) {
  const muse::Matrix wanted = as_matrix(queries, "queries", false);
  const std::int64_t rows = end.value_or(search.rows());
  if (wanted.dim != search.dim()) throw py::value_error("matrix and queries must have the same number of columns");
  if (rows < 0 || rows > search.rows()) throw py::value_error("end must not lie beyond the rows");
  if (k < 1 || k > search.most_hits())
    throw py::value_error("k must be from 1 to " + std::to_string(search.most_hits()) + " on the device");
  const muse::SearchOptions options{k, nullptr, data_or_null(mask, rows, "mask")};
  return search_results(wanted.rows, k, [&](std::int64_t* indices, float* scores) {
    search.top_k(wanted, rows, options, indices, scores);
  });
}

}  // namespace

MUSE_MODULE(_cuda, m) {
  using muse::cuda::CudaTrainer;
  m.doc() = "CUDA backend of muse.";
  muse::bindings::park_threads_at_exit();
  py::module_::import("muse._core");
  py::register_exception<muse::cuda::OutOfMemory>(m, "OutOfMemory",
                                                  py::module_::import("muse.errors").attr("InsufficientMemoryError"));
  m.def("missing", &muse::cuda::missing, "What the backend lacks: 'driver', 'device', or nothing ('').");
  m.def("describe_device", &muse::cuda::describe_device, "The device in use, for people to read.");
  muse::bindings::register_trainer<CudaTrainer>(m, "Trains arrays in place on a CUDA device, batch by batch.")
      .def_property(
          "slice_tokens", [](const muse::bindings::PyTrainer<CudaTrainer>& t) { return t.trainer().slice_tokens; },
          [](muse::bindings::PyTrainer<CudaTrainer>& t, std::int64_t tokens) { t.trainer().slice_tokens = tokens; },
          "About how many tokens are on the device at once.")
      .def_property(
          "bfloat16", [](const muse::bindings::PyTrainer<CudaTrainer>& t) { return t.trainer().bfloat16; },
          [](muse::bindings::PyTrainer<CudaTrainer>& t, bool wanted) { t.trainer().bfloat16 = wanted; },
          "Whether U and V are bfloat16 on the device.");
  py::class_<Selector, muse::DeviceSelector>(m, "Selector", "Selects senses with copies of P and Q on the device.")
      .def(py::init<const FloatArray&, const FloatArray&, const IndexArray&, const WeightArray&,
                    const muse::SelectionOptions&, float, std::int64_t, const WeightArray&>(),
           py::arg("context_vectors"), py::arg("selection_vectors"), py::arg("sense_offset"),
           py::arg("context_weights"), py::arg("options"), py::arg("temperature") = 1.0f, py::arg("chunk") = 1 << 16,
           py::arg("prior") = WeightArray(0))
      .def("select", &Selector::choose, py::arg("tokens"), py::arg("offsets"),
           "The best sense (local number) of every token, and its probability; see muse._core.select_senses.");
  py::class_<muse::cuda::CudaSearch>(m, "Search", "Finds nearest rows in a copy of a matrix on the device.")
      .def(py::init(&make_search), py::arg("matrix").noconvert(), py::arg("scale").noconvert() = py::none(),
           py::arg("panel") = 1 << 25)
      .def("top_k", &top_k, py::arg("queries").noconvert(), py::arg("k"), py::kw_only(), py::arg("end") = py::none(),
           py::arg("mask").noconvert() = py::none(),
           "As muse._core.top_k, over the rows before `end`; the mask has one number for each of these.")
      .def_property_readonly("most_hits", &muse::cuda::CudaSearch::most_hits, "The largest k.");
#ifdef MUSE_CUDA_EMULATION
  register_emulation(m);
#endif
  muse::bindings::refuse_pickles(m);
}
