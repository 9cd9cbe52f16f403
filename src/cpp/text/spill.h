// An array that grows in memory up to a budget, and in a nameless temporary file beyond it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "text/file.h"

namespace muse {

/// Written once from start to end, then read, and optionally rewritten in place by something no longer:
///
///     array.push_back(x) ...              // write
///     auto old = array.contents();        // read
///     array.rewind();
///     array.push_back(f(old[i])) ...      // the view of the old contents stays valid: never write past what was read
///     auto now = array.contents();
///
/// Memory is grown by realloc, which moves large blocks by their page tables: std::vector would copy them, and hold the
/// array twice while it does.
template <class T>
class SpillArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Without a limit when `max_bytes` is 0. `directory` is where the temporary file goes, "" for the system's choice.
  SpillArray(std::int64_t max_bytes, std::string directory)
      : max_in_memory_(max_bytes > 0 ? static_cast<std::size_t>(max_bytes) / sizeof(T)
                                     : std::numeric_limits<std::size_t>::max() / sizeof(T)),
        directory_(std::move(directory)) {}

  void push_back(T value) {
    if (used_ == capacity_) make_room();
    buffer_.get()[used_++] = value;
  }

  std::int64_t size() const { return in_file_ + static_cast<std::int64_t>(used_); }
  bool spilled() const { return static_cast<bool>(file_); }

  /// All that was written. Valid until the next call of contents().
  std::span<const T> contents() {
    if (!spilled()) {
      shrink();
      return {buffer_.get(), used_};
    }
    flush();
    file_.truncate(in_file_ * static_cast<std::int64_t>(sizeof(T)));
    const auto size = static_cast<std::size_t>(in_file_);
    mapping_ = file_.map(size * sizeof(T));
    return {static_cast<const T*>(mapping_.data()), size};
  }

  void rewind() { used_ = 0, in_file_ = 0; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  static constexpr std::size_t kFirstCapacity = 1024;
  static constexpr std::size_t kWriteBuffer = (std::size_t{1} << 20) / sizeof(T);

  void make_room() {
    if (!spilled() && capacity_ < max_in_memory_) {
      reallocate(std::min(std::max(kFirstCapacity, capacity_ + capacity_ / 2), max_in_memory_));
      return;
    }
    if (!spilled()) file_ = TemporaryFile(directory_);
    flush();
    if (capacity_ != kWriteBuffer) reallocate(kWriteBuffer);
  }

  void flush() {
    if (used_ == 0) return;
    file_.write(in_file_ * static_cast<std::int64_t>(sizeof(T)), buffer_.get(), used_ * sizeof(T));
    in_file_ += static_cast<std::int64_t>(std::exchange(used_, 0));
  }

  void shrink() {
    if (used_ > 0 && used_ < capacity_) reallocate(used_);
  }

  void reallocate(std::size_t capacity) {
    auto* moved = static_cast<T*>(std::realloc(buffer_.get(), capacity * sizeof(T)));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(buffer_.release());
    buffer_.reset(moved);
    capacity_ = capacity;
  }

  std::size_t max_in_memory_;
  std::string directory_;
  std::unique_ptr<T, Free> buffer_;  // all of the array, or what was not yet written to the file
  std::size_t used_ = 0;
  std::size_t capacity_ = 0;
  std::int64_t in_file_ = 0;
  TemporaryFile file_;
  Mapping mapping_;
};

}  // namespace muse
