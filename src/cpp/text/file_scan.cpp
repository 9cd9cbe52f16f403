#include "text/file_scan.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "math/parallel.h"
#include "text/text_block.h"

namespace muse {

FileScan::FileScan(InputFile file, CorpusEncoder& encoder)
    : file_(std::move(file)), encoder_(encoder), n_blocks_(TextBlock::count_in(file_)) {}

bool FileScan::run(int workers, const ByteProgress& progress) {
  bool complete = false;
  const auto n_threads = static_cast<int>(std::clamp<std::int64_t>(n_blocks_, 1, std::max(1, workers)));
  std::vector<std::thread> threads;
  const auto join = [&threads] {
    for (std::thread& thread : threads) thread.join();
  };
  try {
    start_threads(threads, n_threads, [this] { work(); });
    if (threads.empty()) throw std::runtime_error("the system gives this process no thread to read on");
    complete = watch(progress);
  } catch (...) {
    stop();
    join();
    throw;
  }
  join();
  if (error_) std::rethrow_exception(error_);
  return complete;
}

bool FileScan::watch(const ByteProgress& progress) {
  constexpr auto kInterval = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_for(lock, kInterval, [this] { return stopped_ || added_ == n_blocks_; });
    if (stopped_) return false;
    const std::int64_t added = added_;
    lock.unlock();  // the callable may take its time, and other locks
    const bool go_on = !progress || progress(std::min(added * TextBlock::kBytes, file_.size()));
    if (added == n_blocks_) return true;
    if (!go_on) {
      stop();
      return false;
    }
    lock.lock();
  }
}

void FileScan::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void FileScan::work() {
  TextBlock block;
  std::int64_t index = 0;
  while (take(index)) {
    std::exception_ptr error;
    try {
      block.read(file_, index);
    } catch (...) {
      error = std::current_exception();
    }
    if (!add_in_turn(index, block, std::move(error))) return;
  }
}

bool FileScan::take(std::int64_t& index) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || next_ == n_blocks_) return false;
  index = next_++;
  return true;
}

bool FileScan::add_in_turn(std::int64_t index, const TextBlock& block, std::exception_ptr error) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || added_ == index; });
    if (stopped_) return false;
  }
  try {  // without the lock: as long as it is this block's turn, nobody else touches the encoder
    if (error) std::rethrow_exception(error);
    encoder_.add_block(block);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (error) {
    error_ = error;
    stopped_ = true;
  } else {
    ++added_;
  }
  changed_.notify_all();
  return !stopped_;
}

}  // namespace muse
