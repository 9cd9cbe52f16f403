#include "senses/use_rows.h"

#include <algorithm>
#include <new>
#include <thread>

#include "math/pages.h"
#include "math/panel.h"
#include "math/parallel.h"

namespace muse {

namespace {

constexpr int kBlockShift = 12;  // of a place: the number of its block
constexpr std::int64_t kBlock = std::int64_t{1} << kBlockShift;
constexpr std::size_t kUsesAtOnce = 48;  // whose rows lie in the second cache

// Asks the memory for a row that will be written.
void ask_to_write(const std::int16_t* row, int count) {
  for (int i = 0; i < count; i += 32) __builtin_prefetch(row + i, 1, 2);
}

}  // namespace

// One thread's work and memory.
class UseRows::Maker {
 public:
  explicit Maker(UseRows& to) : to_(to), contexts_(to.space_), kernels_(kernels()) { counts_.resize(at(kBlock) + 1); }

  void run(std::int64_t block) {
    const std::int64_t begin = block << kBlockShift;
    sort(std::span(to_.items_)
             .subspan(at(to_.blocks_[at(block)]), at(to_.blocks_[at(block + 1)] - to_.blocks_[at(block)])));
    if (sorted_.empty()) return;
    const auto offsets = to_.corpus_.offsets();
    const std::int64_t* sentence =
        &*(std::upper_bound(offsets.begin(), offsets.end(), begin + sorted_.front().place) - 1);
    for (const Item& item : sorted_) {
      const std::int64_t place = begin + item.place;
      if (place >= sentence[1]) {
        add(sentence);
        while (place >= sentence[1]) ++sentence;
      }
      places_.push_back(place - *sentence);
      items_.push_back(item.row);
      ask_to_write(to_.rows_.get() + std::int64_t{item.row} * to_.stride_, to_.stride_);
      if (items_.size() < kUsesAtOnce) continue;
      add(sentence);
      flush();
    }
    add(sentence);
    flush();
  }

 private:
  // By place: counted, and laid down.
  void sort(std::span<const Item> items) {
    std::fill(counts_.begin(), counts_.end(), 0);
    for (const Item& item : items) ++counts_[at(item.place) + 1];
    for (std::size_t i = 1; i < counts_.size(); ++i) counts_[i] += counts_[i - 1];
    sorted_.resize(items.size());
    for (const Item& item : items) sorted_[at(counts_[at(item.place)]++)] = item;
  }

  void add(const std::int64_t* sentence) {
    if (places_.empty()) return;
    contexts_.add(to_.corpus_.tokens().subspan(at(sentence[0]), at(sentence[1] - sentence[0])), places_);
    places_.clear();
  }

  void flush() {
    const int stride = to_.stride_;
    reserve(rows_, static_cast<std::int64_t>(items_.size()) * stride);
    scales_.resize(items_.size());
    contexts_.compute(rows_.data(), scales_.data());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const std::int64_t row = items_[i];
      kernels_.shorten(rows_.data() + i * at(stride), stride, to_.rows_.get() + row * stride);
      to_.scales_[at(row)] = scales_[i];
    }
    items_.clear();
    contexts_.clear();
  }

  UseRows& to_;
  UseContexts contexts_;
  const Kernels& kernels_;
  std::vector<std::int32_t> counts_, items_;  // rows of the uses in contexts_
  std::vector<Item> sorted_;
  std::vector<std::int64_t> places_;  // in a sentence, not yet in contexts_
  std::vector<float> rows_, scales_;
};

UseRows::UseRows(const UseSpace& space, const Corpus& corpus)
    : space_(space), corpus_(corpus), stride_(padded(space.dim())), rows_(nullptr, release_zeros) {}

std::int64_t UseRows::row_bytes(const UseSpace& space) {
  return static_cast<std::int64_t>(sizeof(std::int16_t)) * padded(space.dim());
}

void UseRows::compute(std::span<const std::span<const std::int64_t>> uses, int workers,
                      const std::function<void(std::int64_t)>& poll) {
  constexpr std::int64_t kBlocksAtOnce = 4;
  sort(uses);
  reserve_rows();
  scales_.resize(items_.size());
  const auto caller = std::this_thread::get_id();
  std::atomic<std::int64_t> done{0};
  parallel_chunks(static_cast<std::int64_t>(blocks_.size()) - 1, kBlocksAtOnce, workers, [&] {
    return [&, maker = Maker(*this)](std::int64_t first, std::int64_t last) mutable {
      if (std::this_thread::get_id() == caller) poll(done);
      for (std::int64_t block = first; block < last; ++block) maker.run(block);
      done += blocks_[at(last)] - blocks_[at(first)];
    };
  });
}

void UseRows::reserve_rows() {
  const std::size_t size = items_.size() * at(stride_);
  if (size <= capacity_) return;
  rows_.reset();  // before more is taken
  capacity_ = 0;
  rows_.reset(static_cast<std::int16_t*>(allocate_zeros(size * sizeof(std::int16_t), false)));
  if (rows_ == nullptr) throw std::bad_alloc();
  capacity_ = size;
}

// Into blocks of the text.
void UseRows::sort(std::span<const std::span<const std::int64_t>> uses) {
  blocks_.assign(at((corpus_.n_tokens() + kBlock - 1) >> kBlockShift) + 2, 0);
  for (const auto& places : uses)
    for (const std::int64_t place : places) ++blocks_[at(place >> kBlockShift) + 2];
  for (std::size_t i = 1; i < blocks_.size(); ++i) blocks_[i] += blocks_[i - 1];
  items_.resize(at(blocks_.back()));
  std::int32_t row = 0;
  for (const auto& places : uses)
    for (const std::int64_t place : places)
      items_[at(blocks_[at(place >> kBlockShift) + 1]++)] = {static_cast<std::int32_t>(place & (kBlock - 1)), row++};
  blocks_.pop_back();
}

void UseRows::read(std::int64_t first, std::int64_t count, float* out) const {
  kernels().lengthen(rows_.get() + first * stride_, static_cast<int>(count * stride_), out);
}

}  // namespace muse
