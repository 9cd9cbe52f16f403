// Sums of context rows over the windows of a text: the c_t of every token that has senses to choose from.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "math/kernels.h"
#include "model/options.h"

namespace muse {

// The window of one word in a stream of tokens: [low, high], the word itself at centre.
struct Window {
  int low;
  int high;
  int centre;
};

// What a window is summed over: rows of P, one a token of the stream, and each token's weight (null: all one).
struct ContextStream {
  const float* const* rows;
  const float* weights;

  float weight(int j) const { return weights == nullptr ? 1.0f : weights[j]; }
};

// Row i of out = Σ_{j in window i} weight_j distance_weight(|j - centre|) rows[j], divided by the sum of the weights
// where options.mean. Rows of P hold `dim` floats, those of out as many and zeros up to a multiple of kRowPad.
//
// Windows without distances slide from one to the next, starting afresh often enough to keep float precision. Those
// with distances are products of a band of weights with rows of P, a few windows at a time. One thread's work and
// memory.
class WindowSums {
 public:
  // Called as sums become ready, with the number of windows that are: what follows can use them while they are near.
  using Ready = std::function<void(std::size_t count)>;
  // Called before windows up to some number are summed: rows to ask the memory for meanwhile.
  using Rows = std::span<const float* const>;
  using Ahead = std::function<Rows(std::size_t count)>;

  // `options` must stay where they are.
  WindowSums(const Kernels& kernels, const SelectionOptions& options, int dim);

  // totals[i] is the sum of the weights of window i.
  void run(const ContextStream& stream, std::span<const Window> windows, float* out, float* totals,
           const Ready& ready = nullptr, const Ahead& ahead = nullptr);

 private:
  void slide(const ContextStream& stream, std::span<const Window> windows, float* out, float* totals,
             const Ready& ready, const Ahead& ahead);
  void sum_bands(const ContextStream& stream, std::span<const Window> windows, float* out, float* totals,
                 const Ready& ready, const Ahead& ahead);
  void collect_terms(const ContextStream& stream, const Window& w, const Window* before, const float* sum_before);
  void blend(const float* weights, std::size_t count, Rows rows, float* out, Rows next) const;
  void weigh(const ContextStream& stream, std::span<const Window> windows, int low, int span, float* totals);
  float scale(float total) const { return !options_.mean ? 1.0f : total > 0.0f ? 1.0f / total : 0.0f; }

  const Kernels& kernels_;
  const SelectionOptions& options_;
  int dim_, stride_;
  int reach_ = 0;                    // of the distance weights
  std::vector<float> nearness_;      // (2 reach + 1,) weight of a row by its place before, at or behind the word
  std::vector<float> band_;          // (windows, rows)
  std::vector<const float*> terms_;  // of a window, and what multiplies them
  std::vector<float> coefficients_;
};

}  // namespace muse
