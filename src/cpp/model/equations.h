// The arithmetic of one training step, written for host and device: the paper's equations, the extensions', and every
// draw that depends on no float. The CPU (the passes in train/) and the CUDA kernels (src/cuda/) are two ways of
// arranging these.
//
// For a word with K senses and a context sum c, s_k = Q_k · c; the Q-value is q_k = sigmoid(s_k) (eq. 2), the policy
// pi = softmax(s) (eq. 1).
#pragma once

#include <cmath>
#include <cstdint>

#include "math/random.h"
#include "model/options.h"

namespace muse {

MUSE_HOST_DEVICE inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// log sigmoid(x) without overflow.
MUSE_HOST_DEVICE inline float log_sigmoid(float x) {
  return x < 0.0f ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}

// Scores beyond these mean that training diverges. Sigmoid and softmax have long been flat there, and the largest float
// is still so far away that the values which gave such a score, and are left as they are, are finite.
inline constexpr float kLargestDot = 1e6f;     // of U and V
inline constexpr float kLargestScore = 1e12f;  // of the selector, whose context may be a sum over thousands of words

MUSE_HOST_DEVICE inline float largest(const float* s, int k) {
  float top = s[0];
  for (int i = 1; i < k; ++i) top = s[i] > top ? s[i] : top;
  return top;
}

// p = softmax(s / temperature).
MUSE_HOST_DEVICE inline void softmax(const float* s, int k, float temperature, float* p) {
  const float top = largest(s, k);
  float total = 0.0f;
  for (int i = 0; i < k; ++i) total += p[i] = std::exp((s[i] - top) / temperature);
  for (int i = 0; i < k; ++i) p[i] /= total;
}

// --- what a token draws ---

// Whether subsampling keeps a token, given its word's probability of being kept.
MUSE_HOST_DEVICE inline bool keeps_token(const RandomStream& draw, std::uint64_t token, float keep) {
  return keep >= 1.0f || draw.uniform(token) < keep;
}

// The window of a target, uniform in 1..widest.
MUSE_HOST_DEVICE inline int draw_window(const RandomStream& draw, std::uint64_t token, int widest) {
  return 1 + static_cast<int>(draw.below(static_cast<std::uint32_t>(widest), token));
}

// The collocate of the target at position i: uniform in [low, high], the target itself left out.
MUSE_HOST_DEVICE inline int draw_collocate(const RandomStream& draw, std::uint64_t token, int low, int high, int i) {
  const int pick = low + static_cast<int>(draw.below(static_cast<std::uint32_t>(high - low), token));
  return pick < i ? pick : pick + 1;
}

// A column of an alias table: its own word below the threshold (of 2^32), else the alias.
struct AliasColumn {
  std::uint32_t threshold;
  std::int32_t alias;
};

// A word from an alias table of `size` columns; `bits` are 64 random bits.
MUSE_HOST_DEVICE inline std::int32_t draw_word(const AliasColumn* table, std::uint64_t size, std::uint64_t bits) {
  const auto column = static_cast<std::uint32_t>(((bits >> 32) * size) >> 32);
  const AliasColumn found = table[column];
  // Without a branch, which would be guessed wrong every other time.
  const auto mask = static_cast<std::uint32_t>(bits) < found.threshold ? ~0u : 0u;
  return static_cast<std::int32_t>((column & mask) | (static_cast<std::uint32_t>(found.alias) & ~mask));
}

// The sense (local number) of negative `index`, uniform among the word's.
MUSE_HOST_DEVICE inline int draw_negative_sense(const RandomStream& draw, int senses, std::uint64_t key,
                                                std::uint64_t index) {
  return senses == 1 ? 0 : static_cast<int>(draw.below(static_cast<std::uint32_t>(senses), key, index));
}

// --- which sense (paper, section 3.3) ---

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

// Whether an occurrence has no context: among `known` known words it is the only one (`inside`), or there are none.
// Then its senses have their prior, whatever the word itself scores: the only place that says so.
MUSE_HOST_DEVICE inline bool has_no_context(std::int64_t known, bool inside) { return known <= (inside ? 1 : 0); }

// The best of a word's senses in use, as their scores come: ties go to the first, since use must not be random.
struct BestSense {
  int sense = 0;
  float score = 0.0f;
  float total = 0.0f;  // the sum of exp((s_k - score) / temperature)
  float next = 0.0f;   // its second largest term

  MUSE_HOST_DEVICE void offer(int k, float s, float temperature) {
    if (k == 0) {
      score = s;
      total = 1.0f;
    } else if (s > score) {
      next = std::exp((score - s) / temperature);
      total = total * next + 1.0f;
      score = s;
      sense = k;
    } else {
      const float share = std::exp((s - score) / temperature);
      total += share;
      next = share > next ? share : next;
    }
  }
  // What the shares of the senses alone say; they add up to one.
  MUSE_HOST_DEVICE void take_prior(const float* shares, int count) {
    float second = 0.0f;
    score = shares[0];
    sense = 0;
    for (int k = 1; k < count; ++k) {
      second = shares[k] > score ? score : shares[k] > second ? shares[k] : second;
      sense = shares[k] > score ? k : sense;
      score = shares[k] > score ? shares[k] : score;
    }
    total = 1.0f / score;
    next = second / score;
  }
  MUSE_HOST_DEVICE float probability() const { return 1.0f / total; }
  MUSE_HOST_DEVICE float margin() const { return (1.0f - next) / total; }
};

MUSE_HOST_DEVICE inline int sample_softmax(const float* s, int k, float temperature, float u) {
  const float top = largest(s, k);
  float total = 0.0f;
  for (int i = 0; i < k; ++i) total += std::exp((s[i] - top) / temperature);
  float left = u * total;
  for (int i = 0; i < k; ++i) {
    left -= std::exp((s[i] - top) / temperature);
    if (left < 0.0f) return i;
  }
  return k - 1;
}

// The sense that the strategy takes. Greedy on q and on s are the same, q being monotone.
MUSE_HOST_DEVICE inline int choose_sense(const StepOptions& options, const float* s, int k, float explore, float u) {
  switch (options.strategy) {
    case Strategy::kGreedy:
      return argmax(s, k, u);
    case Strategy::kEpsGreedy:
      return explore < options.epsilon ? static_cast<int>(u * static_cast<float>(k)) : argmax(s, k, u);
    default:
      return sample_softmax(s, k, options.temperature, u);
  }
}

// --- the representation step ---

// What multiplies a row: alpha * (label - weight * sigmoid(score)). The label is 1 at a collocate; the weight is 1
// there, and at a negative the number of pairs that it stands for.
MUSE_HOST_DEVICE inline float skip_gram_error(float alpha, float label, float weight, float probability) {
  return alpha * (label - weight * probability);
}

// A group of targets steps from the values at its start. Where one word fills the group, as in a line that repeats a
// word thousands of times, its rows take as many times the step, which can overshoot further each time. Scores tell: in
// a training that goes well they stay below 20, and beyond this bound the sigmoid is 0 or 1 to thirteen digits. A group
// that has such a score steps by the mean of its targets instead of their sum.
inline constexpr float kSteadyDot = 32.0f;
MUSE_HOST_DEVICE inline float group_alpha(float alpha, bool steady, int targets) {
  return steady ? alpha : alpha / static_cast<float>(targets);
}

// A term of the skip-gram loss (eq. 4).
MUSE_HOST_DEVICE inline float skip_gram_loss(float label, float weight, float score) {
  return label > 0.0f ? -log_sigmoid(score) : -weight * log_sigmoid(-score);
}

// The sampled likelihood (eq. 4) of a pair with the score `score`, of whose negatives [begin, end) score(n) is the
// score and weight(n) how much it counts.
template <typename Score, typename Weight>
MUSE_HOST_DEVICE inline float sampled_likelihood(float score, int begin, int end, const Score& negative_score,
                                                 const Weight& weight) {
  float log_likelihood = log_sigmoid(score);
  for (int n = begin; n < end; ++n) log_likelihood += weight(n) * log_sigmoid(-negative_score(n));
  return std::exp(log_likelihood);
}

// --- how the selector learns (paper, section 3.2 and appendix A) ---

// d loss / d s_chosen, times weight, of the value loss H(reward, q_chosen) (eq. 9): q - reward. `state` is the state
// value that the factorised formulation adds to the score; it has the same gradient.
MUSE_HOST_DEVICE inline float value_gradient(float score, float state, float reward, float weight) {
  return weight * (sigmoid(score + state) - reward);
}

// Calls add(k, g) with g = weight * d loss / d s_k of the policy loss -reward * log pi_chosen (eq. 5).
template <typename Add>
MUSE_HOST_DEVICE inline void policy_gradient(const float* s, int k, int chosen, float reward, float temperature,
                                             float weight, const Add& add) {
  const float top = largest(s, k);
  float total = 0.0f;
  for (int i = 0; i < k; ++i) total += std::exp((s[i] - top) / temperature);
  for (int i = 0; i < k; ++i) {
    const float pi = std::exp((s[i] - top) / temperature) / total;
    add(i, weight * reward * (pi - (i == chosen ? 1.0f : 0.0f)) / temperature);
  }
}

// One pair teaches one side's selector: add(k, g) for the gradients on the scores; returns that on the state value.
template <typename Add>
MUSE_HOST_DEVICE inline float learn_pair(const StepOptions& options, const float* s, int k, int chosen, float state,
                                         float reward, float weight, const Add& add) {
  if (is_policy(options.strategy)) {
    if (options.strategy == Strategy::kPolicy) reward = std::log(reward > 1e-30f ? reward : 1e-30f);
    policy_gradient(s, k, chosen, reward, options.temperature, weight, add);
    return 0.0f;
  }
  const float g = value_gradient(s[chosen], state, reward, weight);
  add(chosen, g);
  return g;
}

// The weight of a pair in that: pairs of a target share its weight, and two sides share that.
MUSE_HOST_DEVICE inline float learning_weight(Formulation formulation, int pairs) {
  return (formulation == Formulation::kOneSided ? 1.0f : 0.5f) / static_cast<float>(pairs);
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

// What brings a row whose squared length is `square` within max_norm; 1 where it is, or there is no bound.
MUSE_HOST_DEVICE inline float cap_scale(float square, float max_norm) {
  if (max_norm <= 0.0f || square <= max_norm * max_norm) return 1.0f;
  return max_norm / std::sqrt(square);
}

}  // namespace muse
