#include "window_sums.h"

#include <algorithm>
#include <cstring>

#include "panel.h"
#include "prefetch.h"

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
  const auto bytes = sizeof(float) * at(stride_);
  for (std::size_t begin = 0; begin < windows.size(); begin += kFreshEvery) {
    const std::size_t end = std::min(windows.size(), begin + kFreshEvery);
    for (std::size_t i = begin; i < end; ++i) {
      float* sum = out + i * at(stride_);
      const Window& w = windows[i];
      const auto add = [&](int j, float weight) { kernels_.axpy(weight, stream.rows[j], sum, dim_); };
      const auto steps = [&](const Window& last) { return (w.low - last.low) + (w.high - last.high) + 1; };
      const bool slides = i > begin && w.low >= windows[i - 1].low && w.high >= windows[i - 1].high &&
                          w.low <= windows[i - 1].high && steps(windows[i - 1]) < w.high - w.low + 1;
      if (ahead)
        for (const float* row : ahead(i + 1)) prefetch_row(row, dim_);
      if (slides) {
        std::memcpy(sum, sum - stride_, bytes);
        for (int j = windows[i - 1].low; j < w.low; ++j) add(j, -stream.weight(j));
        for (int j = windows[i - 1].high + 1; j <= w.high; ++j) add(j, stream.weight(j));
      } else {
        std::memset(sum, 0, bytes);
        for (int j = w.low; j <= w.high; ++j) add(j, stream.weight(j));
      }
      totals[i] = 0.0f;
      for (int j = w.low; j <= w.high; ++j) totals[i] += stream.weight(j);
    }
    // Only now: a window slides from the undivided sum of the one before.
    if (options_.mean)
      for (std::size_t i = begin; i < end; ++i)
        for (int d = 0; d < dim_; ++d) out[i * at(stride_) + at(d)] *= scale(totals[i]);
    if (ready) ready(end);
  }
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
    std::span<const float* const> next;
    if (ahead) next = ahead(last);
    const std::size_t asked = std::min(next.size(), at(span / 2));
    for (const float* row : next.subspan(asked)) prefetch_row(row, dim_);
    kernels_.blend(band_.data(), static_cast<int>(last - first), span, stream.rows + low, dim_,
                   out + first * at(stride_), stride_, next.data(), static_cast<int>(asked));
    if (stride_ > dim_)
      for (std::size_t w = first; w < last; ++w) std::fill_n(out + w * at(stride_) + dim_, stride_ - dim_, 0.0f);
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
