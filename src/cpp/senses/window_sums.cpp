#include "senses/window_sums.h"

#include <algorithm>

#include "math/panel.h"
#include "math/prefetch.h"

namespace muse {

namespace {

constexpr int kFreshEvery = 32;  // windows between two fresh sums
constexpr int kTile = 4;         // windows: what the kernels take at once

// Whether a window shares enough rows with those over [low, high] to be summed together with them.
bool joins(const Window& window, int low, int high) {
  return window.low >= low && window.high >= high && window.low - low + window.high - high < window.high - window.low;
}

}  // namespace

WindowSums::WindowSums(const Kernels& kernels, const SelectionOptions& options, int dim)
    : kernels_(kernels), options_(options), dim_(dim), stride_(padded(dim)) {
  if (options.distance.empty()) return;
  reach_ = static_cast<int>(options.distance.size()) - 1;
  nearness_.assign(options.distance.rbegin(), options.distance.rend());
  nearness_.insert(nearness_.end(), options.distance.begin() + 1, options.distance.end());
}

void WindowSums::run(const ContextStream& stream, std::span<const Window> windows, float* out, float* totals,
                     const Ready& ready, const Ahead& ahead) {
  if (options_.distance.empty())
    slide(stream, windows, out, totals, ready, ahead);
  else
    sum_bands(stream, windows, out, totals, ready, ahead);
}

// Each window slides from the one before where that is cheaper than a fresh sum.
void WindowSums::slide(const ContextStream& stream, std::span<const Window> windows, float* out, float* totals,
                       const Ready& ready, const Ahead& ahead) {
  for (std::size_t begin = 0; begin < windows.size(); begin += kFreshEvery) {
    const std::size_t end = std::min(windows.size(), begin + kFreshEvery);
    for (std::size_t i = begin; i < end; ++i) {
      float* sum = out + i * at(stride_);
      const bool first = i == begin;
      collect_terms(stream, windows[i], first ? nullptr : &windows[i - 1], first ? nullptr : sum - stride_);
      blend(coefficients_.data(), 1, {terms_.data(), terms_.size()}, sum, ahead ? ahead(i + 1) : Rows{});
      totals[i] = 0.0f;
      for (int j = windows[i].low; j <= windows[i].high; ++j) totals[i] += stream.weight(j);
    }
    // Only now: a window slides from the undivided sum of the one before.
    if (options_.mean)
      for (std::size_t i = begin; i < end; ++i)
        for (int d = 0; d < dim_; ++d) out[i * at(stride_) + at(d)] *= scale(totals[i]);
    if (ready) ready(end);
  }
}

// What a window is the sum of: its rows, or the sum of the window before and what they do not share.
void WindowSums::collect_terms(const ContextStream& stream, const Window& w, const Window* before,
                               const float* sum_before) {
  terms_.clear();
  coefficients_.clear();
  const auto add = [&](const float* row, float coefficient) {
    terms_.push_back(row);
    coefficients_.push_back(coefficient);
  };
  const bool slides = before != nullptr && w.low >= before->low && w.high >= before->high && w.low <= before->high &&
                      (w.low - before->low) + (w.high - before->high) + 1 < w.high - w.low + 1;
  if (slides) {
    add(sum_before, 1.0f);
    for (int j = before->low; j < w.low; ++j) add(stream.rows[j], -stream.weight(j));
  }
  for (int j = slides ? before->high + 1 : w.low; j <= w.high; ++j) add(stream.rows[j], stream.weight(j));
}

// Rows of out by the kernel, while the memory is asked for `next`.
void WindowSums::blend(const float* weights, std::size_t count, Rows rows, float* out, Rows next) const {
  const std::size_t asked = std::min(next.size(), rows.size() / 2);
  for (const float* row : next.subspan(asked)) prefetch_row(row, dim_);
  kernels_.blend(weights, static_cast<int>(count), static_cast<int>(rows.size()), rows.data(), dim_, out, stride_,
                 next.data(), static_cast<int>(asked));
  if (stride_ > dim_)
    for (std::size_t i = 0; i < count; ++i) std::fill_n(out + i * at(stride_) + dim_, stride_ - dim_, 0.0f);
}

void WindowSums::sum_bands(const ContextStream& stream, std::span<const Window> windows, float* out, float* totals,
                           const Ready& ready, const Ahead& ahead) {
  for (std::size_t first = 0, last = 0; first < windows.size(); first = last) {
    const int low = windows[first].low;
    int high = windows[first].high;
    last = first + 1;
    while (last < windows.size() && last < first + kTile && joins(windows[last], low, high))
      high = windows[last++].high;
    const int span = high - low + 1;
    weigh(stream, windows.subspan(first, last - first), low, span, totals + first);
    blend(band_.data(), last - first, {stream.rows + low, at(span)}, out + first * at(stride_),
          ahead ? ahead(last) : Rows{});
    if (ready) ready(last);
  }
}

// The band of some windows' weights of the rows [low, low + span), and the weights' sums.
void WindowSums::weigh(const ContextStream& stream, std::span<const Window> windows, int low, int span, float* totals) {
  band_.assign(windows.size() * at(span), 0.0f);
  float* band = band_.data();
  for (const Window& window : windows) {
    const int count = window.high - window.low + 1;
    const float* near = nearness_.data() + (window.low - window.centre + reach_);
    float* to = band + (window.low - low);
    float total = 0.0f;
    if (stream.weights == nullptr) {
      for (int j = 0; j < count; ++j) total += to[j] = near[j];
    } else {
      const float* weights = stream.weights + window.low;
      for (int j = 0; j < count; ++j) to[j] = weights[j] * near[j];
      total = kernels_.dot(weights, near, count);
    }
    if (options_.mean)
      for (int j = 0; j < count; ++j) to[j] *= scale(total);
    *totals++ = total;
    band += span;
  }
}

}  // namespace muse
