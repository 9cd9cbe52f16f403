// muse._cuda: the trainer on a CUDA device. Types it shares with muse._core, which must be loaded first, are that
// one's.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../cpp/bindings/trainer.h"
#include "backend.h"

namespace py = pybind11;

#ifdef MUSE_CUDA_EMULATION
void register_emulation(py::module_& m);  // tests/emulation/
#endif

PYBIND11_MODULE(_cuda, m) {
  using muse::cuda::CudaTrainer;
  m.doc() = "CUDA backend of muse.";
  py::module_::import("muse._core");
  py::register_exception<muse::cuda::OutOfMemory>(m, "OutOfMemory", PyExc_MemoryError);
  m.def("missing", &muse::cuda::missing, "What the backend lacks: 'driver', 'device', or nothing ('').");
  m.def("describe_device", &muse::cuda::describe_device, "The device in use, for people to read.");
  muse::bindings::register_trainer<CudaTrainer>(m, "Trains arrays in place on a CUDA device, batch by batch.")
      .def_property(
          "slice_tokens", [](const muse::bindings::PyTrainer<CudaTrainer>& t) { return t.trainer().slice_tokens; },
          [](muse::bindings::PyTrainer<CudaTrainer>& t, std::int64_t tokens) { t.trainer().slice_tokens = tokens; },
          "About how many tokens are on the device at once.");
#ifdef MUSE_CUDA_EMULATION
  register_emulation(m);
#endif
}
