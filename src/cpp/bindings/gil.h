// Letting go of the GIL, and taking it again, in threads that the interpreter may leave behind.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace muse::bindings {

// When the main thread ends the interpreter, a daemon thread that asks for the GIL is unwound (before Python 3.14),
// which no destructor allows: the process would abort. So such threads are parked instead, and end with the process.
class Threads {
 public:
  // At the interpreter's end: waits for those that are in a callback or about to take the GIL; the others are parked.
  static void end() {
    survivor_ = std::this_thread::get_id();
    ending_ = true;
    const pybind11::gil_scoped_release release;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (busy_ > 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  // Before a thread takes the GIL.
  static void enter() {
    ++busy_;
    if (!ending_ || std::this_thread::get_id() == survivor_) return;
    --busy_;
    park();
  }
  static void leave() { --busy_; }

  // After a thread has let go of the GIL.
  static void check() {
    if (ending_ && std::this_thread::get_id() != survivor_) park();
  }

 private:
  [[noreturn]] static void park() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }

  static inline std::atomic<bool> ending_ = false;
  static inline std::atomic<int> busy_ = 0;
  static inline std::thread::id survivor_;
};

// Each extension module has threads of its own, and calls this when it is made.
inline void park_threads_at_exit() {
  pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(&Threads::end));
}

// No GIL while it lives.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) { Threads::check(); }
  ~ReleaseGil() {
    Threads::enter();
    PyEval_RestoreThread(state_);
    Threads::leave();
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

// The GIL while it lives, for a callback out of code that runs without it.
class AcquireGil {
 public:
  AcquireGil() : state_((Threads::enter(), PyGILState_Ensure())) {}
  ~AcquireGil() {
    PyGILState_Release(state_);
    Threads::leave();
  }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace muse::bindings
