// What the emulated muse._cuda has beyond the real one.
#include "emulation.h"

#include <pybind11/pybind11.h>

#include <string>

namespace py = pybind11;

namespace {

emulation::Order order(const std::string& name) {
  if (name == "forward") return emulation::Order::kForward;
  if (name == "reversed") return emulation::Order::kReversed;
  if (name == "shuffled") return emulation::Order::kShuffled;
  throw py::value_error("an order is forward, reversed or shuffled");
}

}  // namespace

void register_emulation(py::module_& m) {
  m.def(
      "set_order",
      [](const std::string& threads, const std::string& blocks, unsigned seed) {
        emulation::set_order(order(threads), order(blocks), seed);
      },
      py::arg("threads") = "forward", py::arg("blocks") = "forward", py::arg("seed") = 1);
  m.def("set_memory", &emulation::set_memory);
}
