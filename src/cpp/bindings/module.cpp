// The table of contents of muse._core: one register function a file.
#include <pybind11/pybind11.h>

#include <string>

#include "gil.h"
#include "math/kernels.h"
#include "modules.h"

namespace py = pybind11;

void register_answers(py::module_& m);
void register_corpus(py::module_& m);
void register_cluster(py::module_& m);
void register_distributed(py::module_& m);
void register_rows(py::module_& m);
void register_search(py::module_& m);
void register_selection(py::module_& m);
void register_train(py::module_& m);
void register_trees(py::module_& m);

MUSE_MODULE(_core, m) {
  m.doc() = "C++ core of muse: corpus encoding, training, sense selection, nearest neighbours.";
  m.attr("__version__") = MUSE_VERSION;
  m.def(
      "isa", [] { return std::string(muse::kernels().name); }, "Name of the kernel set in use (see MUSE_ISA).");
  m.def(
      "isa_available", [](const std::string& name) { return muse::find_kernels(name.c_str()) != nullptr; },
      py::arg("name"), "Whether this build and processor can run a kernel set.");
  muse::bindings::park_threads_at_exit();
  register_corpus(m);
  register_train(m);
  register_selection(m);
  register_cluster(m);
  register_trees(m);
  register_distributed(m);
  register_answers(m);
  register_search(m);
  register_rows(m);
  muse::bindings::refuse_pickles(m);
}
