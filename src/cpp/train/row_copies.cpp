#include "train/row_copies.h"

#include <algorithm>
#include <new>

#include "math/prefetch.h"

namespace muse {

namespace {

constexpr std::size_t kCopies = std::size_t{32} << 20;      // bytes, of a thread
constexpr std::size_t kAllCopies = std::size_t{512} << 20;  // and of all threads
constexpr int kWaiting = 64;                                // updates of a row that may wait in all threads together
constexpr int kFewest = 4, kMost = 32;                      // and in one
// The least block that lies on large pages: with small ones copies would cost more than they save.
constexpr std::size_t kLargeBlock = std::size_t{8} << 20;

}  // namespace

RowCopies::Block RowCopies::allocate(std::size_t floats) {
  Block block(static_cast<float*>(allocate_zeros(std::max(floats * sizeof(float), kLargeBlock), false)));
  if (!block) throw std::bad_alloc();
  return block;
}

RowCopies::RowCopies(const Matrix& shared, int threads)
    : shared_(shared.data), stride_(static_cast<std::size_t>(shared.stride)) {
  if (threads <= 1) return;
  every_ = std::clamp(kWaiting / threads, kFewest, kMost);
  const std::size_t bytes = std::min(kCopies, kAllCopies / static_cast<std::size_t>(threads));
  size_ = std::min(bytes / (stride_ * sizeof(float)), static_cast<std::size_t>(shared.rows)) * stride_;
  if (size_ == 0) return;
  copies_ = allocate(size_);
  base_ = allocate(size_);
  to_copies_ = reinterpret_cast<std::uintptr_t>(copies_.get()) - reinterpret_cast<std::uintptr_t>(shared_);
  for (std::size_t at = 0; at < size_; at += stride_) merge(at);
}

RowCopies::~RowCopies() {
  for (std::size_t at = 0; at < size_; at += stride_) merge(at);
}

void RowCopies::updated(float* const* rows, int count) {
  if (size_ == 0) return;
  for (const std::size_t at : due_) merge(at);
  due_.clear();
  for (; next_ < count; next_ += every_) {
    const std::size_t at = floats_between(copies_.get(), rows[next_]);
    if (at >= size_) continue;
    prefetch_row(shared_ + at, static_cast<int>(stride_));
    prefetch_row(base_.get() + at, static_cast<int>(stride_));
    due_.push_back(at);
  }
  next_ -= count;
}

// Hands in what was added to a copy since it was last merged, and takes over what the row is now.
void RowCopies::merge(std::size_t at) {
  float* __restrict copy = copies_.get() + at;
  float* __restrict base = base_.get() + at;
  float* __restrict shared = shared_ + at;
  for (std::size_t d = 0; d < stride_; ++d) shared[d] = copy[d] = base[d] = shared[d] + (copy[d] - base[d]);
}

}  // namespace muse
