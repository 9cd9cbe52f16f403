// Sense selection: contexts, scores, and the strategy's choice; a warp takes one position with a choice.
#pragma once

#include "places.cuh"

namespace muse::cuda {

// Σ weight · P row over a window; every lane returns its part of the row. *total is the sum of the weights.
template <int Quads>
__device__ inline Row<Quads> sum_context(const Work& work, Range window, int centre, float* total) {
  Row<Quads> sum = Row<Quads>::zero();
  float weights = 0.0f;
  for (int first = window.first; first < window.last; first += kWarp) {
    const int place = first + lane();
    const bool inside = place < window.last;
    const float mine = inside ? context_weight(work, place, centre) : 0.0f;
    const int word = inside ? stream_word(work, place) : 0;
    weights += mine;
    const int count = min(kWarp, window.last - first);
    for (int n = 0; n < count; ++n) {
      const float weight = __shfl_sync(kAllLanes, mine, n);
      const int row = __shfl_sync(kAllLanes, word, n);
      if (weight != 0.0f) sum.add(weight, Row<Quads>::load(work.model.context.row(row), work.model.context.dim));
    }
  }
  *total = warp_sum(weights);
  if (work.knobs.context.mean) {
    const float scale = *total > 0.0f ? 1.0f / *total : 0.0f;
    Row<Quads> mean = Row<Quads>::zero();
    mean.add(scale, sum);
    return mean;
  }
  return sum;
}

__device__ inline void count_entropy(const Work& work, int position, const float* s, int senses) {
  const int batch = batch_of(work, position);
  if (work.slice.key(position) % 8 != 0 || !targets_of_batch(work.slice, batch).holds(position)) return;
  const float top = largest(s, senses);
  float total = 0.0f, entropy = 0.0f;
  for (int k = 0; k < senses; ++k) total += expf(s[k] - top);
  for (int k = 0; k < senses; ++k) {
    const float p = expf(s[k] - top) / total;
    if (p > 0.0f) entropy -= p * logf(p);
  }
  atomicAdd(&work.slice.stats[batch].entropy, static_cast<double>(entropy));
  atomicAdd(&work.slice.stats[batch].entropy_targets, 1ull);
}

template <int Quads>
__global__ void select_senses(const __grid_constant__ Work work) {
  const Slice& slice = work.slice;
  const Wave& wave = work.wave;
  const DeviceModel& model = work.model;
  const Range scored = scored_positions(work), slots = slots_of(slice, scored);
  const int slot = warp_in_grid();
  if (slot >= slots.size()) return;
  const int position = slice.chooser[slots.first + slot];
  const int scores = slice.score_before[position] - slice.score_before[scored.first];
  const std::int32_t word = slice.word[position];
  const int senses = model.senses_of(word), dim = model.context.dim;

  float total;
  const Row<Quads> context = sum_context<Quads>(work, context_of(work, position), stream_place(work, position), &total);
  context.store(wave.context + static_cast<std::int64_t>(slot) * dim, dim);
  float* s = wave.scores + scores;
  for (int k = 0; k < senses; ++k) {
    const float score = dot(context, Row<Quads>::load(model.selection.row(model.sense_offset[word] + k), dim));
    if (lane() == 0) {
      s[k] = score;
      wave.gradient[scores + k] = 0.0f;
    }
  }
  if (wave.forward != nullptr) {
    const float forward = dot(context, Row<Quads>::load(model.forward.row(word), dim));
    const float backward = dot(context, Row<Quads>::load(model.backward.row(word), dim));
    if (lane() == 0) {
      wave.forward[slot] = forward;
      wave.backward[slot] = backward;
      wave.forward_gradient[slot] = wave.backward_gradient[slot] = 0.0f;
    }
  }
  if (lane() != 0) return;
  for (int k = 0; k < senses; ++k)
    if (!(s[k] >= -kLargestScore && s[k] <= kLargestScore)) slice.stats[batch_of(work, position)].diverged = 1;
  wave.total[slot] = total;
  const std::uint64_t key = slice.key(position);
  slice.sense[position] =
      choose_sense(work.knobs, s, senses, work.draws.explore.uniform(key), work.draws.sense.uniform(key));
  count_entropy(work, position, s, senses);
}

}  // namespace muse::cuda
