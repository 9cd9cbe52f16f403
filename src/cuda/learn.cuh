// The selection step of a wave: P and Q (and the state values) move by the gradients of its batches.
#pragma once

#include "represent.cuh"

namespace muse::cuda {

// The learning rate of a position's gradient: a batch's loss is the sum over its targets, or the mean.
__device__ inline float selection_rate(const Work& work, int position) {
  const int batch = batch_of(work, position);
  const unsigned long long targets = work.slice.stats[batch].targets;
  if (targets == 0) return 0.0f;
  const float alpha = work.slice.batches[batch].selection_alpha;
  return work.knobs.selection_mean ? alpha / static_cast<float>(targets) : alpha;
}

// For each slot whether it has a gradient, and d loss / d context, while nothing has moved yet; a warp a slot.
__global__ void read_gradients(const __grid_constant__ Work work) {
  const Wave& wave = work.wave;
  const DeviceModel& model = work.model;
  const Range slots = slots_of(work.slice, scored_positions(work));
  const int slot = warp_in_grid();
  if (slot >= slots.size()) return;
  const int position = work.slice.chooser[slots.first + slot];
  const float* g = wave.gradient + work.slice.score_before[position] - origin_of(work).score;
  const std::int32_t word = work.slice.word[position];
  const int senses = model.senses_of(word), dim = model.context.dim;
  bool any = false;
  for (int k = 0; k < senses; ++k) any = any || g[k] != 0.0f;
  const float forward = wave.forward == nullptr ? 0.0f : wave.forward_gradient[slot];
  const float backward = wave.forward == nullptr ? 0.0f : wave.backward_gradient[slot];
  any = (any || forward != 0.0f || backward != 0.0f) && work.slice.stats[batch_of(work, position)].diverged == 0;
  if (lane() == 0) wave.moves[slot] = any;
  if (!any || wave.input_gradient == nullptr) return;
  for (int d = 4 * lane(); d < dim; d += 4 * kWarp) {
    float4 h = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const auto add = [&](float scale, const float* row) { h += scale * *reinterpret_cast<const float4*>(row + d); };
    for (int k = 0; k < senses; ++k) add(g[k], model.selection.row(model.sense_offset[word] + k));
    if (wave.forward != nullptr) {
      add(forward, model.forward.row(word));
      add(backward, model.backward.row(word));
    }
    *reinterpret_cast<float4*>(wave.input_gradient + static_cast<std::int64_t>(slot) * dim + d) = h;
  }
}

// row -= rate * gradient * context.
__device__ inline void move_row(float* row, float step, const float* context, int dim) {
  if (step == 0.0f) return;
  for (int d = 4 * lane(); d < dim; d += 4 * kWarp)
    add_atomically(row + d, step * *reinterpret_cast<const float4*>(context + d));
}

// Q and the state values; a warp a slot.
__global__ void move_selection(const __grid_constant__ Work work) {
  const Wave& wave = work.wave;
  const DeviceModel& model = work.model;
  const Range slots = slots_of(work.slice, scored_positions(work));
  const int slot = warp_in_grid();
  if (slot >= slots.size() || wave.moves[slot] == 0) return;
  const int position = work.slice.chooser[slots.first + slot];
  const float rate = selection_rate(work, position);
  const float* g = wave.gradient + work.slice.score_before[position] - origin_of(work).score;
  const std::int32_t word = work.slice.word[position];
  const int dim = model.context.dim;
  const float* context = wave.context + static_cast<std::int64_t>(slot) * dim;
  for (int k = 0; k < model.senses_of(word); ++k) {
    const std::int64_t row = model.sense_offset[word] + k;
    move_row(model.selection.row(row), -rate * g[k], context, dim);
    if (wave.selection_moved != nullptr && lane() == 0) wave.selection_moved[row] = 1;
  }
  if (wave.forward == nullptr) return;
  move_row(model.forward.row(word), -rate * wave.forward_gradient[slot], context, dim);
  move_row(model.backward.row(word), -rate * wave.backward_gradient[slot], context, dim);
  if (wave.state_moved != nullptr && lane() == 0) wave.state_moved[word] = 1;
}

// The stream that the contexts of the wave are made of.
__device__ inline Range places_of(const Work& work, Range positions) {
  if (positions.size() <= 0) return {0, 0};
  const int reach = work.knobs.shrink_selection ? work.knobs.window : work.knobs.context.window;
  return {max(0, stream_place(work, positions.first) - reach),
          min(stream_size(work), stream_place(work, positions.last - 1) + reach + 1)};
}

// Positions whose context may hold a place.
__device__ inline Range near_place(const Work& work, Range positions, int place) {
  const int reach = work.knobs.shrink_selection ? work.knobs.window : work.knobs.context.window;
  Range near{place - reach, place + reach + 1};
  if (work.knobs.context.full_text)
    near = {work.slice.kept_before[max(0, near.first)], work.slice.kept_before[min(work.slice.num_tokens, near.last)]};
  return {max(positions.first, near.first), min(positions.last, near.last)};
}

// P; a warp takes a place of the stream and gathers what the contexts around it send there.
template <int Quads>
__global__ void move_context(const __grid_constant__ Work work) {
  const Wave& wave = work.wave;
  const Rows& p = work.model.context;
  const Range positions = scored_positions(work), places = places_of(work, positions);
  const int place = places.first + warp_in_grid();
  if (place >= places.last) return;
  const Range near = near_place(work, positions, place);
  const int first_slot = work.slice.slot_before[positions.first];
  Row<Quads> sum = Row<Quads>::zero();
  bool moves = false;
  for (int first = near.first; first < near.last; first += kWarp) {
    const int position = first + lane();
    float scale = 0.0f;
    int slot = 0;
    if (position < near.last && has_choice(work, position)) {
      slot = work.slice.slot_before[position] - first_slot;
      if (wave.moves[slot] != 0 && context_of(work, position).holds(place)) {
        const float total = work.knobs.context.mean ? wave.total[slot] : 1.0f;
        moves = true;
        if (total > 0.0f)
          scale = -selection_rate(work, position) * context_weight(work, place, stream_place(work, position)) / total;
      }
    }
    for (unsigned active = __ballot_sync(kAllLanes, scale != 0.0f); active != 0; active &= active - 1) {
      const int from = __ffs(static_cast<int>(active)) - 1;
      const int row = __shfl_sync(kAllLanes, slot, from);
      const float factor = __shfl_sync(kAllLanes, scale, from);
      sum.add(factor, Row<Quads>::load(wave.input_gradient + static_cast<std::int64_t>(row) * p.dim, p.dim));
    }
  }
  if (__ballot_sync(kAllLanes, moves) == 0) return;
  const std::int32_t word = stream_word(work, place);
  sum.add_to(p.row(word), p.dim, 1.0f, Rounding{work.draws.round, 0, 0});
  if (wave.context_moved != nullptr && lane() == 0) wave.context_moved[word] = 1;
}

// --- max_norm ---

// Takes a mark away; true in the whole of the one warp that found it, which then brings the row within max_norm.
__device__ inline bool take_mark(int* mark) {
  int found = 0;
  if (lane() == 0) found = atomicExch(mark, 0);
  return __shfl_sync(kAllLanes, found, 0) != 0;
}

__device__ inline void cap_row(float* row, int dim, float max_norm) {
  float square = 0.0f;
  for (int d = lane(); d < dim; d += kWarp) square += row[d] * row[d];
  const float scale = cap_scale(warp_sum(square), max_norm);
  if (scale == 1.0f) return;
  for (int d = lane(); d < dim; d += kWarp) row[d] *= scale;
}

__global__ void cap_selection(const __grid_constant__ Work work) {
  const Wave& wave = work.wave;
  const DeviceModel& model = work.model;
  const Range slots = slots_of(work.slice, scored_positions(work));
  const int slot = warp_in_grid();
  if (slot >= slots.size() || wave.moves[slot] == 0) return;
  const std::int32_t word = work.slice.word[work.slice.chooser[slots.first + slot]];
  const float bound = work.knobs.max_norm;
  for (auto row = model.sense_offset[word]; row < model.sense_offset[word + 1]; ++row)
    if (take_mark(wave.selection_moved + row)) cap_row(model.selection.row(row), model.selection.dim, bound);
  if (wave.forward == nullptr || !take_mark(wave.state_moved + word)) return;
  cap_row(model.forward.row(word), model.forward.dim, bound);
  cap_row(model.backward.row(word), model.backward.dim, bound);
}

__global__ void cap_context(const __grid_constant__ Work work) {
  const Range places = places_of(work, scored_positions(work));
  const int place = places.first + warp_in_grid();
  if (place >= places.last) return;
  const std::int32_t word = stream_word(work, place);
  if (take_mark(work.wave.context_moved + word))
    cap_row(work.model.context.row(word), work.model.context.dim, work.knobs.max_norm);
}

}  // namespace muse::cuda
