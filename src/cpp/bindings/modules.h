// What each extension module must do that pybind11 leaves open.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace muse::bindings {

// Whether this is not the main interpreter, which an ImportError then says. In another one pybind11 waits for ever for
// a GIL that its thread holds already (before Python 3.12).
inline bool refuse_interpreter() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return false;
  PyErr_SetString(PyExc_ImportError,
                  "muse cannot be imported in a subinterpreter, since its C++ core belongs to the main one; import it "
                  "there, or in a process of its own (multiprocessing)");
  return true;
}

// Each class that `m` holds refuses to be pickled or copied: pybind11 would say so in words of its own, and ends the
// process where the oldest pickle protocols make an object without its constructor.
inline void refuse_pickles(const pybind11::module_& m) {
  namespace py = pybind11;
  const py::handle meta(reinterpret_cast<PyObject*>(py::detail::get_internals().default_metaclass));
  for (const auto& [name, value] : m.attr("__dict__").cast<py::dict>()) {
    if (!py::isinstance(value, meta)) continue;
    const auto refuse = [what = py::str(value.attr("__module__")).cast<std::string>() + "." +
                                py::str(name).cast<std::string>()](const py::object&, const py::args&) -> py::object {
      throw py::type_error("a " + what +
                           " cannot be pickled or copied, since it is memory of the C++ core; pickle or save what it "
                           "was made from, and make it anew");
    };
    for (const char* method : {"__reduce__", "__reduce_ex__"})
      value.attr(method) = py::cpp_function(refuse, py::name(method), py::is_method(value));
  }
}

}  // namespace muse::bindings

// PYBIND11_MODULE for the main interpreter alone: see refuse_interpreter, which must come before anything of
// pybind11's. What Python calls is PyInit_NAME, which asks first; what pybind11 makes is another such function,
// PyInit_mainNAME. The module's name is the one that it is imported by.
#define MUSE_MODULE(name, variable)                                                                          \
  extern "C" PYBIND11_EXPORT PyObject* PyInit_main##name();                                                  \
  extern "C" PYBIND11_EXPORT PyObject* PyInit_##name();                                                      \
  PyObject* PyInit_##name() { return muse::bindings::refuse_interpreter() ? nullptr : PyInit_main##name(); } \
  PYBIND11_MODULE(main##name, variable)
