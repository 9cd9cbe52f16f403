#include "selection.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "parallel.h"
#include "prefetch.h"

namespace muse {

namespace {

constexpr int kFreshEvery = 32;  // windows between two fresh sums
constexpr int kAhead = 4;        // windows

float weight_of(std::span<const float> weights, std::int32_t word) {
  return weights.empty() ? 1.0f : weights[static_cast<std::size_t>(word)];
}

}  // namespace

namespace {

// Sums of windows that weigh by distance: products of a band of weights with the rows of the stream, kTile windows at a
// time, over a panel of rows that the windows of a stretch share. The panel holds one block of columns after another:
// the part of a block that the tiles pass over stays in the first cache, which whole rows of a wide window would not.
class BandedSums {
 public:
  BandedSums(const Kernels& kernels, const SelectionOptions& options, const ContextStream& stream, int dim, int stride)
      : kernels_(kernels),
        options_(options),
        stream_(stream),
        dim_(dim),
        stride_(stride),
        padded_((dim + kRowPad - 1) / kRowPad * kRowPad),
        panel_(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(kPanelRows) *
                                                       static_cast<std::size_t>(padded_))) {}

  void run(std::span<const Window> windows, float* out, float* totals) {
    std::size_t first = 0;
    while (first < windows.size()) {
      std::size_t last = first + 1;
      low_ = windows[first].low;
      high_ = windows[first].high;
      if (high_ - low_ >= kPanelRows) {  // no second window will fit beside it, nor its rows into the panel
        sum_wide(windows[first], out + first * static_cast<std::size_t>(stride_), totals[first]);
        first = last;
        continue;
      }
      // A stretch: windows in order whose rows fit into the second cache.
      while (last < windows.size() && windows[last].low >= windows[last - 1].low &&
             windows[last].high >= windows[last - 1].high && windows[last].high - low_ < kPanelRows)
        high_ = windows[last++].high;
      read_rows();
      sum_stretch(windows.subspan(first, last - first), out + first * static_cast<std::size_t>(stride_),
                  totals + first);
      first = last;
    }
  }

 private:
  static constexpr int kTile = 4;         // windows: what the kernels take at once
  static constexpr int kPanelRows = 128;  // 150 KB at dimension 300
  static constexpr int kBlock = 64;       // columns
  static constexpr int kAhead = 6;        // rows

  // Some windows of a stretch, with their weights of the rows [low, low + span): count x span from band_[first_weight].
  struct Tile {
    int first, count, low, span;
    std::size_t first_weight;
  };

  int width(int column) const { return std::min(kBlock, padded_ - column); }  // of the block from this column
  float* block(int column) const { return panel_.get() + static_cast<std::ptrdiff_t>(column) * kPanelRows; }

  void read_rows() {
    const int count = high_ - low_ + 1;
    for (int j = 0; j < count; ++j) {
      if (j + kAhead < count) prefetch_row(stream_.rows[low_ + j + kAhead], dim_);
      for (int d = 0; d < dim_; d += kBlock) {
        float* to = block(d) + j * width(d);
        const int copied = std::min(kBlock, dim_ - d);
        std::copy_n(stream_.rows[low_ + j] + d, copied, to);
        std::fill(to + copied, to + width(d), 0.0f);
      }
    }
  }

  float weight(const Window& window, int j) const {
    return stream_.weight(j) * options_.distance_weight(std::abs(j - window.centre));
  }
  float scale(float total) const { return !options_.mean ? 1.0f : total > 0.0f ? 1.0f / total : 0.0f; }

  void sum_wide(const Window& window, float* out, float& total) {
    std::memset(out, 0, sizeof(float) * static_cast<std::size_t>(stride_));
    total = 0.0f;
    for (int j = window.low; j <= window.high; ++j) {
      kernels_.axpy(weight(window, j), stream_.rows[j], out, dim_);
      total += weight(window, j);
    }
    if (options_.mean)
      for (int d = 0; d < dim_; ++d) out[d] *= scale(total);
  }

  void sum_stretch(std::span<const Window> windows, float* out, float* totals) {
    tiles_.clear();
    band_.clear();
    for (std::size_t w = 0; w < windows.size(); w += kTile)
      weigh(windows.subspan(w, std::min<std::size_t>(kTile, windows.size() - w)), static_cast<int>(w), totals + w);
    float sums[kTile * kBlock];
    for (int d = 0; d < dim_; d += kBlock) {
      const int columns = width(d), kept = std::min(kBlock, dim_ - d);
      for (const Tile& tile : tiles_) {
        kernels_.combine(band_.data() + tile.first_weight, tile.span, 1, tile.count, tile.span,
                         block(d) + (tile.low - low_) * columns, columns, sums);
        for (int w = 0; w < tile.count; ++w)
          std::copy_n(sums + w * columns, kept, out + static_cast<std::ptrdiff_t>(tile.first + w) * stride_ + d);
      }
    }
    if (stride_ > dim_)
      for (std::size_t w = 0; w < windows.size(); ++w)
        std::fill_n(out + w * static_cast<std::size_t>(stride_) + dim_, stride_ - dim_, 0.0f);
  }

  // The weights of a tile of windows, and their sums.
  void weigh(std::span<const Window> windows, int first, float* totals) {
    const int low = windows.front().low, span = windows.back().high - low + 1;
    const int count = static_cast<int>(windows.size());
    tiles_.push_back({first, count, low, span, band_.size()});
    band_.resize(band_.size() + static_cast<std::size_t>(count * span), 0.0f);
    float* band = band_.data() + tiles_.back().first_weight - low;
    for (const Window& window : windows) {
      float total = 0.0f;
      for (int j = window.low; j <= window.high; ++j) {
        band[j] = weight(window, j);
        total += band[j];
      }
      *totals++ = total;
      if (options_.mean)
        for (int j = window.low; j <= window.high; ++j) band[j] *= scale(total);
      band += span;
    }
  }

  const Kernels& kernels_;
  const SelectionOptions& options_;
  const ContextStream& stream_;
  int dim_, stride_, padded_;
  int low_ = 0, high_ = 0;  // of the stretch
  std::unique_ptr<float[]> panel_;
  std::vector<Tile> tiles_;
  std::vector<float> band_;
};

// Windows without distances: each slides from the one before where that is cheaper than a fresh sum.
void sliding_sums(const Kernels& kernels, const SelectionOptions& options, const ContextStream& stream,
                  std::span<const Window> windows, int dim, int stride, float* out, float* totals) {
  const auto bytes = sizeof(float) * static_cast<std::size_t>(stride);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    float* sum = out + i * static_cast<std::size_t>(stride);
    const Window& w = windows[i];
    const auto add = [&](int j, float weight) { kernels.axpy(weight, stream.rows[j], sum, dim); };
    const auto steps = [&](const Window& last) { return (w.low - last.low) + (w.high - last.high) + 1; };
    const bool slides = i % kFreshEvery != 0 && w.low >= windows[i - 1].low && w.high >= windows[i - 1].high &&
                        w.low <= windows[i - 1].high && steps(windows[i - 1]) < w.high - w.low + 1;
    if (i + kAhead < windows.size()) prefetch_row(stream.rows[windows[i + kAhead].high], dim);
    if (slides) {
      std::memcpy(sum, sum - stride, bytes);
      for (int j = windows[i - 1].low; j < w.low; ++j) add(j, -stream.weight(j));
      for (int j = windows[i - 1].high + 1; j <= w.high; ++j) add(j, stream.weight(j));
    } else {
      std::memset(sum, 0, bytes);
      for (int j = w.low; j <= w.high; ++j) add(j, stream.weight(j));
    }
    totals[i] = 0.0f;
    for (int j = w.low; j <= w.high; ++j) totals[i] += stream.weight(j);
  }
  if (!options.mean) return;
  // Only now: a window slides from the undivided sum of the one before.
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const float scale = totals[i] > 0.0f ? 1.0f / totals[i] : 0.0f;
    float* sum = out + i * static_cast<std::size_t>(stride);
    for (int d = 0; d < dim; ++d) sum[d] *= scale;
  }
}

}  // namespace

void window_sums(const Kernels& kernels, const SelectionOptions& options, const ContextStream& stream,
                 std::span<const Window> windows, int dim, int stride, float* out, float* totals) {
  if (options.distance.empty())
    sliding_sums(kernels, options, stream, windows, dim, stride, out, totals);
  else
    BandedSums(kernels, options, stream, dim, stride).run(windows, out, totals);
}

void sense_scores(const Model& model, const SelectionOptions& options, std::span<const float> weights,
                  const Contexts& contexts, std::span<const std::int64_t> positions,
                  std::span<const std::int32_t> words, float* scores) {
  const Kernels& k = kernels();
  const int dim = model.context.dim;
  std::vector<float> sum(static_cast<std::size_t>(dim)), token_weights;
  std::vector<const float*> rows;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::int64_t begin = contexts.offsets[i], end = contexts.offsets[i + 1], at = positions[i];
    const std::int64_t low = at < 0 ? begin : std::max(begin, begin + at - options.window);
    const std::int64_t high = at < 0 ? end : std::min(end, begin + at + options.window + 1);
    rows.clear();
    token_weights.clear();
    const auto add = [&](std::int32_t word, float weight) {
      rows.push_back(model.context.row(word));
      token_weights.push_back(weight_of(weights, word) * weight);
    };
    // Without a place in the context the word's distance to its parts is unknown: all weigh as much as a neighbour.
    for (std::int64_t j = low; j < high; ++j)
      add(contexts.tokens[static_cast<std::size_t>(j)],
          options.distance_weight(at < 0 ? 1 : static_cast<int>(std::abs(j - begin - at))));
    if (at < 0) add(words[i], options.distance_weight(0));
    SelectionOptions summed;
    summed.mean = options.mean;
    const Window all{0, static_cast<int>(rows.size()) - 1, 0};
    float total = 0.0f;
    window_sums(k, summed, {rows.data(), token_weights.data()}, {&all, 1}, dim, dim, sum.data(), &total);
    for (std::int64_t z = model.sense_offset[words[i]]; z < model.sense_offset[words[i] + 1]; ++z)
      *scores++ = k.dot(model.selection.row(z), sum.data(), dim);
  }
}

namespace {

// Selects the senses of a run of whole contexts; one thread's work and memory.
class Selector {
 public:
  Selector(const Model& model, const SelectionOptions& options, std::span<const float> weights, float temperature)
      : model_(model), options_(options), weights_(weights), temperature_(temperature), kernels_(kernels()) {}

  void run(const Contexts& contexts, std::int64_t first, std::int64_t last, const Choices& out) {
    const std::int64_t begin = contexts.offsets[static_cast<std::size_t>(first)];
    const std::int64_t end = contexts.offsets[static_cast<std::size_t>(last)];
    const std::int64_t reach = options_.cross_sentences ? options_.window : 0;
    const std::int64_t low = std::max(contexts.offsets.front(), begin - reach);
    const std::int64_t high = std::min(contexts.offsets.back(), end + reach);
    for (std::int64_t at = begin; at < end; at += kChunk)
      select(contexts, first, last, at, std::min(end, at + kChunk), low, high, out);
  }

 private:
  static constexpr std::int64_t kChunk = 512;  // tokens whose sums are held at once, in the second cache

  void select(const Contexts& contexts, std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end,
              std::int64_t low, std::int64_t high, const Choices& out) {
    low = std::max(low, begin - options_.window);
    high = std::min(high, end + options_.window);
    const auto n = static_cast<std::size_t>(high - low);
    rows_.resize(n);
    token_weights_.resize(n);
    windows_.clear();
    const auto& offsets = contexts.offsets;
    auto context = std::upper_bound(offsets.begin() + first, offsets.begin() + last + 1, begin) - offsets.begin() - 1;
    for (std::size_t j = 0; j < n; ++j) {
      const std::int32_t word = contexts.tokens[static_cast<std::size_t>(low) + j];
      rows_[j] = model_.context.row(word);
      token_weights_[j] = weight_of(weights_, word);
    }
    for (std::int64_t at = begin; at < end; ++at) {
      if (model_.senses_of(contexts.tokens[static_cast<std::size_t>(at)]) == 1) continue;  // nothing to choose
      while (offsets[static_cast<std::size_t>(context) + 1] <= at) ++context;
      const std::int64_t left = options_.cross_sentences ? low : offsets[static_cast<std::size_t>(context)];
      const std::int64_t right = options_.cross_sentences ? high : offsets[static_cast<std::size_t>(context) + 1];
      windows_.push_back({static_cast<int>(std::max(left, at - options_.window) - low),
                          static_cast<int>(std::min(right - 1, at + options_.window) - low),
                          static_cast<int>(at - low)});
    }
    const int dim = model_.context.dim;
    sums_.resize(windows_.size() * static_cast<std::size_t>(dim));
    totals_.resize(windows_.size());
    window_sums(kernels_, options_, {rows_.data(), token_weights_.data()}, windows_, dim, dim, sums_.data(),
                totals_.data());
    const float* sum = sums_.data();
    for (std::int64_t at = begin; at < end; ++at) {
      if (at + kAhead < end) prefetch_selection(contexts.tokens[static_cast<std::size_t>(at + kAhead)]);
      out.sense[at] = 0;
      if (out.probability != nullptr) out.probability[at] = 1.0f;
      if (out.margin != nullptr) out.margin[at] = 1.0f;
      if (model_.senses_of(contexts.tokens[static_cast<std::size_t>(at)]) == 1) continue;
      choose(contexts.tokens[static_cast<std::size_t>(at)], sum, at, out);
      sum += dim;
    }
  }

  void prefetch_selection(std::int32_t word) const {
    if (model_.senses_of(word) == 1) return;
    for (std::int64_t z = model_.sense_offset[word]; z < model_.sense_offset[word + 1]; ++z)
      prefetch_row(model_.selection.row(z), model_.context.dim);
  }

  void choose(std::int32_t word, const float* context, std::int64_t at, const Choices& out) {
    const std::int64_t first = model_.sense_offset[word];
    BestSense best;
    for (int k = 0; k < model_.senses_of(word); ++k)
      best.offer(k, kernels_.dot(model_.selection.row(first + k), context, model_.context.dim), temperature_);
    out.sense[at] = best.sense;
    if (out.probability != nullptr) out.probability[at] = best.probability();
    if (out.margin != nullptr) out.margin[at] = best.margin();
  }

  const Model& model_;
  const SelectionOptions& options_;
  std::span<const float> weights_;
  float temperature_;
  const Kernels& kernels_;
  std::vector<const float*> rows_;
  std::vector<float> token_weights_, sums_, totals_;
  std::vector<Window> windows_;
};

}  // namespace

void select_senses(const Model& model, const SelectionOptions& options, std::span<const float> weights,
                   const Contexts& contexts, float temperature, int workers, const Choices& choices) {
  constexpr std::int64_t kContextsAtOnce = 256;
  const auto count = static_cast<std::int64_t>(contexts.offsets.size()) - 1;
  parallel_chunks(count, kContextsAtOnce, workers, [&] {
    return [&, selector = Selector(model, options, weights, temperature)](
               std::int64_t first, std::int64_t last) mutable { selector.run(contexts, first, last, choices); };
  });
}

}  // namespace muse
