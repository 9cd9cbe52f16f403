// The representation step where every pair draws negatives of its own (group_size 1): a warp takes a target, with its
// row of U in registers. All columns are read before any is written, so that a row that occurs twice counts twice.
#pragma once

#include "represent.cuh"

namespace muse::cuda {

// A target's columns, in shared memory: its collocates, then the negatives of each.
struct Columns {
  float* score;
  float* error;
  int* row;
  int pairs, negative;

  __device__ int count() const { return pairs * (1 + negative); }
  __device__ float label(int c) const { return c < pairs ? 1.0f : 0.0f; }
  // A negative that is the collocate itself does not count, as in word2vec.
  __device__ float weight(int c) const { return c < pairs || row[c] != row[(c - pairs) / negative] ? 1.0f : 0.0f; }
};

inline std::int64_t bytes_alone(const Knobs& knobs) { return 12 * static_cast<std::int64_t>(most_columns(knobs)); }

__device__ inline int collocate_of(const Work& work, int target, Range collocates, int pair) {
  if (work.knobs.collocates == Collocates::kOne)
    return draw_collocate(work.draws.collocate, work.slice.key(target), collocates.first, collocates.last - 1, target);
  return collocates.first + pair + (collocates.first + pair >= target ? 1 : 0);
}

__device__ inline float reward_alone(const Work& work, const Columns& columns, int pair) {
  if (work.knobs.reward == Reward::kLikelihood || !learns_rewards(work)) return sigmoid(columns.score[pair]);
  const int begin = columns.pairs + pair * columns.negative;
  return sampled_likelihood(
      columns.score[pair], begin, begin + columns.negative, [&](int c) { return columns.score[c]; },
      [&](int c) { return columns.weight(c); });
}

// Scores of all columns and their errors; returns what the target's row gains.
template <typename Number, int Quads>
__device__ inline Row<Quads> score_columns(const Work& work, const Columns& columns, const Row<Quads>& u, float alpha,
                                           BatchStats* stats) {
  const RowsOf<Number> v = work.model.collocation.of<Number>();
  Row<Quads> gain = Row<Quads>::zero(), next = Row<Quads>::load(v.row(columns.row[0]), v.dim);
  for (int c = 0; c < columns.count(); ++c) {
    const Row<Quads> row = next;
    if (c + 1 < columns.count()) next = Row<Quads>::load(v.row(columns.row[c + 1]), v.dim);
    const float score = dot(u, row);
    const bool within = within_bounds(score, stats);
    const float error = within ? skip_gram_error(alpha, columns.label(c), columns.weight(c), sigmoid(score)) : 0.0f;
    gain.add(error, row);
    if (lane() == 0) {
      columns.score[c] = score;
      columns.error[c] = error;
    }
  }
  __syncwarp();
  return gain;
}

__device__ inline void learn_alone(const Work& work, const Columns& columns, int target, Range collocates,
                                   BatchStats* stats) {
  const Origin origin = origin_of(work);
  float reward = 0.0f, loss = 0.0f;
  for (int pair = lane(); pair < columns.pairs; pair += kWarp) {
    const float mine = reward_alone(work, columns, pair);
    reward += mine;
    if (learns_rewards(work))
      learn_from_pair(work, origin, target, collocate_of(work, target, collocates, pair), columns.pairs, mine);
  }
  add_stats(stats, lane() == 0, lane() == 0 ? columns.pairs : 0, reward);
  if (work.slice.key(target) % 16 != 0) return;
  for (int c = lane(); c < columns.count(); c += kWarp)
    loss += skip_gram_loss(columns.label(c), columns.weight(c), columns.score[c]);
  add_loss(stats, lane() == 0 ? columns.pairs : 0, loss);
}

template <int Quads, typename Number>
__global__ void represent_alone(const __grid_constant__ Work work, int most) {
  const int batch = work.wave.first_batch + static_cast<int>(blockIdx.y);
  const Range targets = targets_of_batch(work.slice, batch);
  const int target = targets.first + warp_in_grid();
  if (target >= targets.last) return;
  const Range collocates = collocates_of(work.slice, target);
  if (collocates.size() <= 1) return;

  float* shared = reinterpret_cast<float*>(shared_memory) + 3 * most * warp_in_block();
  const bool all = work.knobs.collocates == Collocates::kAll;
  const Columns columns{shared, shared + most, reinterpret_cast<int*>(shared + 2 * most),
                        all ? collocates.size() - 1 : 1, work.knobs.negative};
  const std::uint64_t key = work.slice.key(target);
  for (int c = lane(); c < columns.count(); c += kWarp)
    columns.row[c] = c < columns.pairs ? collocate_row(work, collocate_of(work, target, collocates, c))
                                       : negative_row(work, key, c - columns.pairs);
  __syncwarp();

  const auto u_rows = work.model.sense.of<Number>(), v_rows = work.model.collocation.of<Number>();
  if (learns_posterior(work) && has_choice(work, target)) {
    Row<Quads> sum = Row<Quads>::zero();
    for (int c = 0; c < columns.pairs; ++c) sum.add(1.0f, Row<Quads>::load(v_rows.row(columns.row[c]), v_rows.dim));
    learn_posterior_of<Number>(work, origin_of(work), target, sum);
  }
  const std::int32_t word = work.slice.word[target];
  const std::int64_t first = work.model.sense_offset[word], own = first + work.slice.sense[target];
  const Row<Quads> u = Row<Quads>::load(u_rows.row(own), u_rows.dim);
  const Row<Quads> gain =
      score_columns<Number>(work, columns, u, work.slice.batches[batch].alpha, work.slice.stats + batch);
  learn_alone(work, columns, target, collocates, work.slice.stats + batch);
  if (lane() == 0) atomicAdd(work.slice.sense_use + own, 1ull);

  const float share = work.knobs.sibling_share;
  const int senses = work.model.senses_of(word);
  Rounding rounding{work.draws.round, key, 0};
  for (int k = 0; k < senses; ++k, ++rounding.item)
    if (first + k == own || share > 0.0f)
      gain.add_to(u_rows.row(first + k), u_rows.dim, first + k == own ? 1.0f : share, rounding);
  for (int c = 0; c < columns.count(); ++c, ++rounding.item)
    if (columns.error[c] != 0.0f) u.add_to(v_rows.row(columns.row[c]), v_rows.dim, columns.error[c], rounding);
}

}  // namespace muse::cuda
