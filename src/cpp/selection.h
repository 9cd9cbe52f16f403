// The sense selection module: which sense a context means, and how its scores learn (paper, sections 3.1.1, 3.2, 3.3).
//
// For a word i with K senses and a context sum c, s_k = Q_ik · c; the Q-value is q_k = sigmoid(s_k) (eq. 2), the policy
// pi = softmax(s) (eq. 1). The functions in the first half are the whole of the paper's strategies and losses, written
// for host and device.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels.h"
#include "model.h"
#include "options.h"
#include "random.h"

namespace muse {

MUSE_HOST_DEVICE inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// log sigmoid(x) without overflow.
MUSE_HOST_DEVICE inline float log_sigmoid(float x) {
  return x < 0.0f ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}

// p = softmax(s / temperature).
MUSE_HOST_DEVICE inline void softmax(const float* s, int k, float temperature, float* p) {
  float top = s[0], total = 0.0f;
  for (int i = 1; i < k; ++i) top = s[i] > top ? s[i] : top;
  for (int i = 0; i < k; ++i) total += p[i] = std::exp((s[i] - top) / temperature);
  for (int i = 0; i < k; ++i) p[i] /= total;
}

// Index of the largest score; u in [0, 1) breaks ties at random. With Q = 0 every sense ties: a fixed rule would send
// every token to sense 0.
MUSE_HOST_DEVICE inline int argmax(const float* s, int k, float u) {
  float top = s[0];
  int ties = 1;
  for (int i = 1; i < k; ++i) {
    ties = s[i] > top ? 1 : ties + (s[i] == top);
    top = s[i] > top ? s[i] : top;
  }
  int skip = static_cast<int>(u * static_cast<float>(ties));
  for (int i = 0; i < k; ++i)
    if (s[i] == top && skip-- == 0) return i;
  return 0;  // only when a score is NaN
}

MUSE_HOST_DEVICE inline int sample_softmax(const float* s, int k, float temperature, float u) {
  float top = s[0], total = 0.0f;
  for (int i = 1; i < k; ++i) top = s[i] > top ? s[i] : top;
  for (int i = 0; i < k; ++i) total += std::exp((s[i] - top) / temperature);
  float left = u * total;
  for (int i = 0; i < k; ++i) {
    left -= std::exp((s[i] - top) / temperature);
    if (left < 0.0f) return i;
  }
  return k - 1;
}

// The sense that the strategy takes (paper, section 3.3). Greedy on q and on s are the same, q being monotone.
MUSE_HOST_DEVICE inline int choose_sense(const Options& options, const float* s, int k, float explore, float u) {
  switch (options.strategy) {
    case Strategy::kGreedy:
      return argmax(s, k, u);
    case Strategy::kEpsGreedy:
      return explore < options.epsilon ? static_cast<int>(u * static_cast<float>(k)) : argmax(s, k, u);
    default:
      return sample_softmax(s, k, options.temperature, u);
  }
}

// Adds weight * d loss / d s_k of the value loss H(reward, q_chosen) (eq. 9): q - reward, for the chosen sense only.
// `state` is the state value that the factorised formulation adds to the score; returns its gradient.
MUSE_HOST_DEVICE inline float value_gradient(const float* s, int chosen, float state, float reward, float weight,
                                             float* gradient) {
  const float g = weight * (sigmoid(s[chosen] + state) - reward);
  gradient[chosen] += g;
  return g;
}

// Adds weight * d loss / d s_k of the policy loss -reward * log pi_chosen (eq. 5 and appendix A).
MUSE_HOST_DEVICE inline void policy_gradient(const float* policy, int k, int chosen, float reward, float temperature,
                                             float weight, float* gradient) {
  for (int i = 0; i < k; ++i) gradient[i] += weight * reward * (policy[i] - (i == chosen ? 1.0f : 0.0f)) / temperature;
}

// Extension: adds d loss / d s_k of the cross-entropy between posterior = softmax(s + ll), held fixed, and pi, where
// ll_k is the window's log-likelihood ratio under sense k. `scratch` holds 2 k floats; the posterior is left in the
// first k.
MUSE_HOST_DEVICE inline void posterior_gradient(const float* s, const float* ll, int k, float* scratch,
                                                float* gradient) {
  float* posterior = scratch;
  float* policy = scratch + k;
  for (int i = 0; i < k; ++i) policy[i] = s[i] + ll[i];
  softmax(policy, k, 1.0f, posterior);
  softmax(s, k, 1.0f, policy);
  for (int i = 0; i < k; ++i) gradient[i] += policy[i] - posterior[i];
}

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

// Row i of out (stride floats apart) = Σ_{j in window i} weight_j distance_weight(|j - centre|) rows[j], `dim` floats;
// divided by the sum of the weights where options.mean. totals[i] is that sum. Windows without distances slide from one
// to the next, starting afresh often enough to keep float precision; those with distances are matrix products.
void window_sums(const Kernels& kernels, const SelectionOptions& options, const ContextStream& stream,
                 std::span<const Window> windows, int dim, int stride, float* out, float* totals);

// --- use of a trained selector ---

// Words in context: tokens of all contexts in one stream, context i being tokens[offsets[i], offsets[i + 1]).
struct Contexts {
  std::span<const std::int32_t> tokens;
  std::span<const std::int64_t> offsets;
};

// Scores of each senses of words[i] at position positions[i] of context i, written one word after another to `scores`;
// position -1: the word is not in the context, all of which counts, and so does the word itself.
// `weights` (V,) multiply each word's row of P: with keep probabilities the selector sees in full text what it saw in
// subsampled text.
void sense_scores(const Model& model, const SelectionOptions& options, std::span<const float> weights,
                  const Contexts& contexts, std::span<const std::int64_t> positions,
                  std::span<const std::int32_t> words, float* scores);

// What is selected for every token, in arrays of as many; `probability` and `margin` may be null.
struct Choices {
  std::int32_t* sense;           // local number; ties go to the lowest: use must not be random
  float* probability = nullptr;  // under pi
  float* margin = nullptr;       // by which it is more probable than the next best sense; 1 where there is no other
};

// The best sense of every token, on `workers` threads.
void select_senses(const Model& model, const SelectionOptions& options, std::span<const float> weights,
                   const Contexts& contexts, float temperature, int workers, const Choices& choices);

}  // namespace muse
