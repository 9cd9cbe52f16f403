// Work in chunks on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace muse {

// The cores that this process may use, which in a container are often fewer than the machine has; at least 1.
int cores();

// Adds up to `count` threads that run `work`; fewer where the system gives no more, which costs time and nothing else.
template <typename Work>
void start_threads(std::vector<std::thread>& pool, int count, const Work& work) {
  try {
    pool.reserve(pool.size() + static_cast<std::size_t>(std::max(count, 0)));
    for (int i = 0; i < count; ++i) pool.emplace_back(work);
  } catch (const std::system_error&) {
  }
}

// Calls task(first, last) for chunks of [0, count) on `workers` threads; each thread makes its own task with
// make_task(), so that a task may own scratch memory. The first exception is thrown again when all threads have
// stopped.
template <typename MakeTask>
void parallel_chunks(std::int64_t count, std::int64_t chunk, int workers, const MakeTask& make_task) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto work = [&] {
    try {
      auto task = make_task();
      for (std::int64_t first; (first = next.fetch_add(chunk)) < count;) task(first, std::min(count, first + chunk));
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
      next = count;
    }
  };
  const auto chunks = (count + chunk - 1) / chunk;
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(std::min<std::int64_t>(workers, chunks), 1, 1024));
  std::vector<std::thread> pool;
  start_threads(pool, threads - 1, work);
  work();
  for (std::thread& thread : pool) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace muse
