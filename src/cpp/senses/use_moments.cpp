#include "senses/use_moments.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "math/kernels.h"
#include "math/panel.h"
#include "math/parallel.h"
#include "model/products.h"

namespace muse {

namespace {

constexpr std::int64_t kParts = 8;  // of the words, whose sums are added up in their order
constexpr int kRows = 256;          // of contexts at a time, or one word's

// Sums of one block of contexts.
class Sums {
 public:
  explicit Sums(int dim) : dim_(dim), stride_(padded(dim)), means_(at(dim), 0.0), scatter_(dim) {}

  // Room for `count` more rows.
  float* more(int count) {
    reserve(rows_, std::int64_t{used_ + count} * stride_);
    return rows_.data() + std::int64_t{used_} * stride_;
  }

  // The last `count` rows are those of a word.
  void end_word(int count) {
    float* rows = rows_.data() + std::int64_t{used_} * stride_;
    mean_.assign(at(stride_), 0.0f);
    const Kernels& k = kernels();
    for (int i = 0; i < count; ++i)
      k.axpy(1.0f / static_cast<float>(count), rows + std::int64_t{i} * stride_, mean_.data(), dim_);
    for (int i = 0; i < count; ++i) k.axpy(-1.0f, mean_.data(), rows + std::int64_t{i} * stride_, dim_);
    for (int d = 0; d < dim_; ++d) means_[at(d)] += static_cast<double>(mean_[at(d)]);
    used_ += count;
    if (used_ >= kRows) flush();
  }

  void flush() {
    scatter_.add(rows_.data(), used_);
    used_ = 0;
  }

  void add(const Sums& other) {
    scatter_.add(other.scatter_);
    for (std::size_t d = 0; d < means_.size(); ++d) means_[d] += other.means_[d];
  }

  Moments moments(std::int64_t words, std::int64_t uses) const {
    Moments made{dim_, means_, std::vector<double>(at(std::int64_t{dim_} * dim_))};
    for (double& mean : made.mean) mean /= static_cast<double>(std::max<std::int64_t>(words, 1));
    scatter_.write(static_cast<double>(std::max<std::int64_t>(uses - words, 1)), made.covariance.data());
    return made;
  }

 private:
  int dim_, stride_, used_ = 0;
  std::vector<float> rows_, mean_;
  std::vector<double> means_;  // summed over words
  Scatter scatter_;
};

struct Part {
  explicit Part(const UseSpace& space) : topic(space.topic.dim), order(space.has_order() ? space.words.dim : 0) {}

  Sums topic, order;
};

// One thread's work and memory.
class Reader {
 public:
  Reader(const UseSpace& space, const Corpus& corpus)
      : space_(space), corpus_(corpus), mean_(space.topic_options), contexts_(space) {
    mean_.mean = true;
  }

  void read(std::span<const std::int64_t> places, Part& part) {
    if (places.empty()) return;
    const auto count = static_cast<int>(places.size());
    float* topics = part.topic.more(count);
    float* orders = space_.has_order() ? part.order.more(count) : nullptr;
    const int topic_stride = space_.topic.padded_dim(), dim = space_.words.dim, stride = padded(dim);
    for_uses(contexts_, corpus_, places, [&](std::size_t first, UseContexts& some) {
      some.compute_means(space_.topic, mean_, topics + first * at(topic_stride));
      if (orders == nullptr) return;
      reserve(encoded_, std::int64_t{some.size()} * dim);
      some.compute_encoded(encoded_.data());
      for (int i = 0; i < some.size(); ++i) {
        float* to = orders + (first + at(i)) * at(stride);
        std::copy_n(encoded_.data() + std::int64_t{i} * dim, dim, to);
        std::fill_n(to + dim, stride - dim, 0.0f);
      }
    });
    part.topic.end_word(count);
    if (orders != nullptr) part.order.end_word(count);
  }

 private:
  const UseSpace& space_;
  const Corpus& corpus_;
  SelectionOptions mean_;
  UseContexts contexts_;
  std::vector<float> encoded_;
};

}  // namespace

UseMoments use_moments(const UseSpace& space, const Corpus& corpus, const OccurrencesView& uses, int workers) {
  const auto words = static_cast<std::int64_t>(uses.offsets.size()) - 1;
  std::vector<std::unique_ptr<Part>> parts(at(kParts));
  parallel_chunks(kParts, 1, workers, [&] {
    return [&, reader = std::make_unique<Reader>(space, corpus)](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        auto part = std::make_unique<Part>(space);
        for (std::int64_t w = i * words / kParts; w < (i + 1) * words / kParts; ++w)
          reader->read(uses.places.subspan(at(uses.offsets[at(w)]), at(uses.offsets[at(w + 1)] - uses.offsets[at(w)])),
                       *part);
        part->topic.flush();
        part->order.flush();
        parts[at(i)] = std::move(part);
      }
    };
  });
  for (std::size_t i = 1; i < parts.size(); ++i) {
    parts[0]->topic.add(parts[i]->topic);
    parts[0]->order.add(parts[i]->order);
  }
  const std::int64_t count = uses.offsets.back();
  return {parts[0]->topic.moments(words, count), parts[0]->order.moments(words, count)};
}

}  // namespace muse
