#include "senses/use_context.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "math/panel.h"
#include "math/prefetch.h"

namespace muse {

namespace {

// Rows of the first words, which are the most frequent ones in a vocabulary that is sorted, lie near anyway.
constexpr std::int32_t kNear = 1000;

float length(const Kernels& kernels, const float* row, int dim) { return std::sqrt(kernels.dot(row, row, dim)); }

}  // namespace

UseContexts::UseContexts(const UseSpace& space)
    : space_(space),
      kernels_(kernels()),
      stride_(padded(space.dim())),
      topic_stride_(space.topic.padded_dim()),
      sums_(kernels_, space.topic_options, space.topic.dim) {
  if (!space.has_order()) return;
  encoder_dim_ = space.words.dim;
  order_dim_ = space.transform.padded_dim();
  zeros_.assign(at(std::max(encoder_dim_, order_dim_)) + kRowPad, 0.0f);
  pack_transform();
  positions_.resize(at(space.positions.rows * encoder_dim_));
  for (std::int64_t p = 0; p < space.positions.rows; ++p)
    std::copy_n(space.positions.row(p), encoder_dim_, positions_.data() + p * encoder_dim_);
}

void UseContexts::pack_transform() {
  constexpr int kColumns = 2 * kRowPad;
  const Matrix& transform = space_.transform;
  for (int first = 0; first < transform.dim; first += kColumns) {
    const int used = std::min(kColumns, transform.dim - first);
    Columns columns{first, padded(used), 0, {}, {}};
    const auto is_zero = [&](int d) {
      return std::all_of(transform.row(d) + first, transform.row(d) + first + used, [](float x) { return x == 0.0f; });
    };
    while (columns.first_row + 1 < encoder_dim_ && is_zero(columns.first_row)) ++columns.first_row;
    const int rows = encoder_dim_ - columns.first_row;
    columns.values.assign(at(std::int64_t{rows} * columns.count), 0.0f);
    for (int d = 0; d < rows; ++d)
      std::copy_n(transform.row(columns.first_row + d) + first, used,
                  columns.values.data() + std::int64_t{d} * columns.count);
    columns.shift.assign(at(columns.count), 0.0f);
    kernels_.combine(space_.mean.data() + columns.first_row, encoder_dim_, 1, 1, rows, columns.values.data(),
                     columns.count, columns.shift.data());
    columns_.push_back(std::move(columns));
  }
}

void UseContexts::clear() {
  rows_.clear();
  weights_.clear();
  words_.clear();
  order_rows_.clear();
  windows_.clear();
  starts_.clear();
  placed_.clear();
}

void UseContexts::add(std::span<const std::int32_t> sentence, std::span<const std::int64_t> places) {
  if (places.empty()) return;
  const auto length = static_cast<std::int64_t>(sentence.size());
  const int wide = space_.topic_options.window;
  const std::int64_t low = std::max(std::int64_t{0}, places.front() - wide);
  const std::int64_t high = std::min(length, places.back() + wide + 1);
  const auto base = static_cast<std::int64_t>(words_.size()) - low;
  add_words(sentence.subspan(at(low), at(high - low)));
  for (const std::int64_t place : places) {
    windows_.push_back({static_cast<int>(base + std::max(low, place - wide)),
                        static_cast<int>(base + std::min(high - 1, place + wide)), static_cast<int>(base + place)});
    placed_.push_back(true);
  }
  if (!space_.has_order()) return;
  const int reach = space_.order_window();
  const std::int64_t first = places.front() - reach;
  const auto start = static_cast<std::int64_t>(order_rows_.size()) - first;
  for (std::int64_t j = first; j <= places.back() + reach; ++j) {
    if (j < 0 || j >= length) {
      order_rows_.push_back(zeros_.data());
      continue;
    }
    order_rows_.push_back(space_.words.row(sentence[at(j)]));
    if (sentence[at(j)] >= kNear) prefetch_row(order_rows_.back(), encoder_dim_);
  }
  for (const std::int64_t place : places) starts_.push_back(static_cast<int>(start + place - reach));
}

void UseContexts::add_whole(std::span<const std::int32_t> sentence) {
  const int first = static_cast<int>(words_.size());
  add_words(sentence);
  windows_.push_back({first, static_cast<int>(words_.size()) - 1, first});
  placed_.push_back(false);
  if (!space_.has_order()) return;
  starts_.push_back(static_cast<int>(order_rows_.size()));
  order_rows_.insert(order_rows_.end(), at(space_.positions.rows), zeros_.data());
}

void UseContexts::add_words(std::span<const std::int32_t> words) {
  const std::size_t first = words_.size();
  words_.insert(words_.end(), words.begin(), words.end());
  rows_.resize(words_.size());
  weights_.resize(words_.size(), 1.0f);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::int32_t word = words[i];
    rows_[first + i] = space_.topic.row(word);
    if (!space_.weights.empty()) weights_[first + i] = space_.weights[at(word)];
    if (word >= kNear) prefetch_row(rows_[first + i], space_.topic.dim);
  }
}

// Sums (or means) of rows over `windows_` cut to the reach of `options`; one of a whole context weighs all of it as
// much as neighbours.
void UseContexts::sum(WindowSums& sums, const SelectionOptions& options, const std::vector<const float*>& rows, int dim,
                      float* out) {
  cut_.clear();
  const int last = static_cast<int>(rows.size()) - 1;  // an empty context may begin behind it
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const Window& w = windows_[i];
    if (placed_[i])
      cut_.push_back(
          {std::max(w.low, w.centre - options.window), std::min(w.high, w.centre + options.window), w.centre});
    else
      cut_.push_back({std::min(w.low, last), std::min(w.low, last), std::min(w.low, last)});  // the sum follows below
  }
  reserve(totals_, static_cast<std::int64_t>(cut_.size()));
  if (!cut_.empty() && !rows.empty()) sums.run({rows.data(), weights_.data()}, cut_, out, totals_.data());
  const int stride = padded(dim);
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    if (placed_[i]) continue;
    float* row = out + static_cast<std::int64_t>(i) * stride;
    std::fill_n(row, stride, 0.0f);
    float total = 0.0f;
    for (int j = windows_[i].low; j <= windows_[i].high; ++j) {
      kernels_.axpy(weights_[at(j)], rows[at(j)], row, dim);
      total += weights_[at(j)];
    }
    totals_[i] = total;
    if (options.mean && total > 0.0f)
      for (int d = 0; d < dim; ++d) row[d] /= total;
  }
}

void UseContexts::compute(float* out, float* scales) {
  reserve(topic_, std::int64_t{size()} * topic_stride_);
  sum(sums_, space_.topic_options, rows_, space_.topic.dim, topic_.data());
  if (space_.has_order() && size() > 0) {
    encode();
    transform();
  }
  join(out, scales);
}

void UseContexts::transform() {
  reserve(order_, std::int64_t{size()} * order_dim_);
  for (const Columns& columns : columns_)
    kernels_.combine(encoded_.data() + columns.first_row, encoder_dim_, 1, size(), encoder_dim_ - columns.first_row,
                     columns.values.data(), columns.count, order_.data() + std::int64_t{size()} * columns.first);
}

void UseContexts::encode() {
  reserve(encoded_, std::int64_t{size()} * encoder_dim_);
  kernels_.slide(positions_.data(), static_cast<int>(space_.positions.rows), order_rows_.data(), starts_.data(), size(),
                 encoder_dim_, encoded_.data());
}

void UseContexts::join(float* out, float* scales) const {
  const int dt = space_.topic.dim, d_order = space_.has_order() ? space_.transform.dim : 0;
  for (int i = 0; i < size(); ++i) {
    float* row = out + std::int64_t{i} * stride_;
    std::fill_n(row, stride_, 0.0f);
    const float* topic = topic_.data() + std::int64_t{i} * topic_stride_;
    const float topic_length = length(kernels_, topic, dt);
    float* order = nullptr;
    float order_length = 0.0f;
    if (d_order > 0 && has_neighbours(i)) {
      order = row + dt;
      for (const Columns& columns : columns_) {
        const float* from = order_.data() + std::int64_t{size()} * columns.first + std::int64_t{i} * columns.count;
        const int used = std::min(columns.count, d_order - columns.first);
        for (int d = 0; d < used; ++d) order[columns.first + d] = from[d] - columns.shift[at(d)];
      }
      order_length = length(kernels_, order, d_order);
    }
    const bool has_topic = topic_length > 0.0f, has_order = order_length > 0.0f;
    const float weight = space_.order_weight;
    const float whole = std::sqrt((has_topic ? 1.0f : 0.0f) + (has_order ? weight * weight : 0.0f));
    if (has_topic) kernels_.axpy(1.0f / (topic_length * whole), topic, row, dt);
    if (scales != nullptr) scales[i] = totals_[at(i)] > 0.0f ? topic_length * whole / totals_[at(i)] : 0.0f;
    if (order != nullptr) {
      const float scale = has_order ? weight / (order_length * whole) : 0.0f;
      for (int d = 0; d < d_order; ++d) order[d] *= scale;
    }
  }
}

bool UseContexts::has_neighbours(int use) const {
  const Window& window = windows_[at(use)];
  return placed_[at(use)] && window.high > window.low;
}

void UseContexts::compute_means(const Matrix& matrix, const SelectionOptions& options, float* out) {
  WindowSums sums(kernels_, options, matrix.dim);
  other_rows_.clear();
  for (const std::int32_t word : words_) other_rows_.push_back(matrix.row(word));
  sum(sums, options, other_rows_, matrix.dim, out);
}

void UseContexts::compute_encoded(float* out) {
  encode();
  std::memcpy(out, encoded_.data(), sizeof(float) * at(std::int64_t{size()} * encoder_dim_));
}

FoundSentence find_sentence(const Corpus& corpus, std::int64_t place) {
  const auto offsets = corpus.offsets();
  const std::int64_t* end = &*std::upper_bound(offsets.begin(), offsets.end(), place);
  return {corpus.tokens().subspan(at(end[-1]), at(end[0] - end[-1])), end[-1]};
}

}  // namespace muse
