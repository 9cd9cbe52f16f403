// What both kernels of the representation step share: columns, evidence, and what a pair teaches.
#pragma once

#include "places.cuh"

namespace muse::cuda {

// Row of V of a position in its selected sense, and of a negative.
__device__ inline int collocate_row(const Work& work, int position) {
  return work.model.collocation_row(work.slice.word[position], work.slice.sense[position]);
}
__device__ inline int negative_row(const Work& work, std::uint64_t key, int index) {
  const auto n = static_cast<std::uint64_t>(index);
  const std::int32_t word = draw_word(work.tables.alias, work.tables.alias_size, work.draws.negative.bits(key, n));
  const int senses = work.model.word_collocation ? 1 : work.model.senses_of(word);
  return work.model.collocation_row(word, draw_negative_sense(work.draws.negative_sense, senses, key, n));
}

// The wave's first slot and score, from which its own arrays count.
struct Origin {
  int slot, score;
};
__device__ inline Origin origin_of(const Work& work) {
  const int first = scored_positions(work).first;
  return {work.slice.slot_before[first], work.slice.score_before[first]};
}

__device__ inline bool has_choice(const Work& work, int position) {
  return work.knobs.any_choice && work.slice.slot_before[position + 1] > work.slice.slot_before[position];
}

// Whether rewards teach the selector, as in the paper.
__device__ inline bool learns_rewards(const Work& work) {
  return work.knobs.any_choice && work.knobs.selection_update == SelectionUpdate::kPaper;
}
__device__ inline bool learns_posterior(const Work& work) {
  return work.knobs.any_choice && work.knobs.selection_update == SelectionUpdate::kPosterior;
}

// What a pair's reward teaches the selection of a target, or of its collocate.
__device__ inline void learn_side(const Work& work, Origin origin, int position, bool collocate, float reward,
                                  float weight) {
  if (!has_choice(work, position)) return;
  const Wave& wave = work.wave;
  const int scores = work.slice.score_before[position] - origin.score;
  const int slot = work.slice.slot_before[position] - origin.slot;
  const float* states = collocate ? wave.backward : wave.forward;
  const float state = states == nullptr ? 0.0f : states[slot];
  const float g = learn_pair(work.knobs, wave.scores + scores, work.model.senses_of(work.slice.word[position]),
                             work.slice.sense[position], state, reward, weight,
                             [&](int k, float d) { atomicAdd(wave.gradient + scores + k, d); });
  if (states != nullptr) atomicAdd((collocate ? wave.backward_gradient : wave.forward_gradient) + slot, g);
}

__device__ inline void learn_from_pair(const Work& work, Origin origin, int target, int collocate, int pairs,
                                       float reward) {
  const float weight = learning_weight(work.knobs.formulation, pairs);
  learn_side(work, origin, target, false, reward, weight);
  if (work.knobs.formulation != Formulation::kOneSided) learn_side(work, origin, collocate, true, reward, weight);
}

// The posterior update of a target's scores; a warp together. `sum` is that of its collocates' rows of V.
template <typename Number, int Quads>
__device__ inline void learn_posterior_of(const Work& work, Origin origin, int position, const Row<Quads>& sum) {
  const DeviceModel& model = work.model;
  const std::int32_t word = work.slice.word[position];
  const int senses = model.senses_of(word), scores = work.slice.score_before[position] - origin.score;
  float* evidence = work.wave.evidence + scores;
  for (int k = 0; k < senses; ++k) {
    const Number* row = model.sense.of<Number>().row(model.sense_offset[word] + k);
    const float product = dot(Row<Quads>::load(row, model.sense.dim), sum);
    if (lane() == 0) evidence[k] = work.knobs.posterior_weight * product;
  }
  if (lane() == 0) {
    const float* s = work.wave.scores + scores;
    float* scratch = work.wave.scratch + 2 * scores;
    posterior_gradient(s, evidence, senses, scratch, work.wave.gradient + scores);
  }
  __syncwarp();
}

// Whether a score of U and V may teach anything; where not, training has diverged.
__device__ inline bool within_bounds(float score, BatchStats* stats) {
  const bool within = score >= -kLargestDot && score <= kLargestDot;
  if (!within) stats->diverged = 1;
  return within;
}

// Adds a warp's sums to those of a batch.
__device__ inline void add_stats(BatchStats* stats, int targets, int pairs, float reward) {
  targets = warp_sum(targets);
  pairs = warp_sum(pairs);
  reward = warp_sum(reward);
  if (lane() != 0 || targets + pairs == 0) return;
  atomicAdd(&stats->targets, static_cast<unsigned long long>(targets));
  atomicAdd(&stats->pairs, static_cast<unsigned long long>(pairs));
  atomicAdd(&stats->reward, static_cast<double>(reward));
}
__device__ inline void add_loss(BatchStats* stats, int pairs, float loss) {
  pairs = warp_sum(pairs);
  loss = warp_sum(loss);
  if (lane() != 0) return;
  atomicAdd(&stats->loss_pairs, static_cast<unsigned long long>(pairs));
  atomicAdd(&stats->loss, static_cast<double>(loss));
}

}  // namespace muse::cuda
