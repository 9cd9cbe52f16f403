// What the emulated muse._cuda has beyond the real one.
#include "emulation.h"

#include <pybind11/pybind11.h>

namespace py = pybind11;

void register_emulation(py::module_& m) {
  m.def("set_order", [](const char* name) {
    const char first = name[0];
    emulation::set_order(first == 'r'   ? emulation::Order::kReversed
                         : first == 's' ? emulation::Order::kShuffled
                                        : emulation::Order::kForward);
  });
  m.def("set_memory", &emulation::set_memory);
}
