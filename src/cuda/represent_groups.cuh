// The representation step where a group of targets shares its negatives: a block takes a group. As in step.h,
//   scores = A Bᵀ;   E = alpha * (label - weight * sigmoid(scores));   U += E B;   V += Eᵀ A,
// with A, the targets' rows of U, in shared memory, and the rows of V read where they lie, twice, the second time from
// the cache. Targets without a collocate keep a row of A, with weights of zero.
#pragma once

#include "represent.cuh"

namespace muse::cuda {

constexpr int kGroupThreads = 512;  // of a block, at most
constexpr int kTargetTile = 16;     // targets that a thread sums up for at once

struct Target {
  int position;
  int first, last;  // positions of its collocates, itself left out; or [t, t + 1) with one collocate
  int pairs;
  int row;  // of U
};

// A group in shared memory. Columns are collocates, then negatives; scores lie column by column.
struct Group {
  float* a;       // (targets rounded up to 4, D)
  float* scores;  // (columns, stride), then the errors
  int* rows;      // (columns,) of V
  Target* targets;
  int count, stride;
  int base;        // position of column 0 where all positions of a window are collocates
  int collocates;  // columns
  int columns;
  int first;   // target with a collocate, -1: none
  int paired;  // targets with a collocate

  __device__ bool is_pair(int t, int c) const {
    const Target& target = targets[t];
    return target.pairs > 0 && c + base >= target.first && c + base < target.last && c + base != target.position;
  }
};

inline std::int64_t bytes_of_group(const Knobs& knobs, int dim) {
  const std::int64_t columns = most_columns(knobs);
  return 4 * static_cast<std::int64_t>(rounded_up(knobs.group_size, 4)) * dim +
         4 * columns * (rounded_up(knobs.group_size, kTargetTile) + 1) +
         static_cast<std::int64_t>(sizeof(Target)) * knobs.group_size;
}

// The group's targets and the size of its panel. With one collocate a target, column t is that of target t; positions
// are then left out of account by base = 0 and a position of -1.
__device__ inline Group find_targets(const Work& work, Range positions, int most, BatchStats* stats) {
  const Knobs& knobs = work.knobs;
  const bool all = knobs.collocates == Collocates::kAll;
  Group g;
  g.count = positions.size();
  g.stride = (knobs.group_size + kTargetTile - 1) / kTargetTile * kTargetTile;
  g.a = reinterpret_cast<float*>(shared_memory);
  g.scores = g.a + (knobs.group_size + 3) / 4 * 4 * work.model.sense.dim;
  g.rows = reinterpret_cast<int*>(g.scores + most * g.stride);
  g.targets = reinterpret_cast<Target*>(g.rows + most);
  for (int t = static_cast<int>(threadIdx.x); t < g.count; t += static_cast<int>(blockDim.x)) {
    const int position = positions.first + t;
    const Range near = collocates_of(work.slice, position);
    const int pairs = all ? near.size() - 1 : near.size() > 1;
    g.targets[t] = all ? Target{position, near.first, near.last, pairs, 0} : Target{-1, t, t + 1, pairs, 0};
  }
  __syncthreads();
  int low = positions.last, high = 0, pairs = 0;
  g.first = -1;
  g.paired = 0;
  for (int t = 0; t < g.count; ++t) {
    const Target& target = g.targets[t];
    if (target.pairs == 0) continue;
    if (g.first < 0) g.first = t;
    low = min(low, target.first);
    high = max(high, target.last);
    ++g.paired;
    pairs += target.pairs;
  }
  g.base = all ? low : 0;
  g.collocates = all ? high - low : g.count;
  g.columns = g.collocates + knobs.group_negatives;
  if (warp_in_block() == 0) add_stats(stats, lane() == 0 ? g.paired : 0, lane() == 0 ? pairs : 0, 0.0f);
  return g;
}

// The position of the collocate in a column.
__device__ inline int collocate_in(const Work& work, const Group& g, int positions_first, int c) {
  if (work.knobs.collocates == Collocates::kAll) return g.base + c;
  const int position = positions_first + c;
  const Range near = collocates_of(work.slice, position);
  return draw_collocate(work.draws.collocate, work.slice.key(position), near.first, near.last - 1, position);
}

__device__ inline void fill_columns(const Work& work, const Group& g, int positions_first) {
  const std::uint64_t key = work.slice.key(positions_first + g.first);
  for (int c = static_cast<int>(threadIdx.x); c < g.columns; c += static_cast<int>(blockDim.x)) {
    const bool unused = work.knobs.collocates == Collocates::kOne && c < g.count && g.targets[c].pairs == 0;
    g.rows[c] = unused             ? 0
                : c < g.collocates ? collocate_row(work, collocate_in(work, g, positions_first, c))
                                   : negative_row(work, key, c - g.collocates);
  }
  __syncthreads();
}

// Chooses the targets' senses where the posterior does, and copies their rows of U to A; a warp takes a target.
template <int Quads, typename Number>
__device__ inline void take_targets(const Work& work, const Group& g, int positions_first) {
  const auto u = work.model.sense.of<Number>(), v = work.model.collocation.of<Number>();
  const Origin origin = origin_of(work);
  for (int t = warp_in_block(); t < (g.count + 3) / 4 * 4; t += warps_in_block()) {
    Row<Quads> row = Row<Quads>::zero();
    if (t < g.count && g.targets[t].pairs > 0) {
      const int position = positions_first + t;
      if (learns_posterior(work) && has_choice(work, position)) {
        Row<Quads> sum = Row<Quads>::zero();
        for (int c = 0; c < g.collocates; ++c)
          if (g.is_pair(t, c)) sum.add(1.0f, Row<Quads>::load(v.row(g.rows[c]), v.dim));
        learn_posterior_of<Number>(work, origin, position, sum);
      }
      const std::int64_t own = work.model.sense_offset[work.slice.word[position]] + work.slice.sense[position];
      row = Row<Quads>::load(u.row(own), u.dim);
      if (lane() == 0) {
        g.targets[t].row = static_cast<int>(own);
        atomicAdd(work.slice.sense_use + own, 1ull);
      }
    }
    row.store(g.a + t * u.dim, u.dim);
  }
  __syncthreads();
}

// A warp scores a few columns, which it keeps in registers, against all targets.
template <int Quads, typename Number>
__device__ inline void score_panel(const Work& work, const Group& g) {
  constexpr int kColumns = Quads <= 3 ? 4 : 2;
  const auto v = work.model.collocation.of<Number>();
  for (int c = kColumns * warp_in_block(); c < g.columns; c += kColumns * warps_in_block()) {
    Row<Quads> columns[kColumns];
#pragma unroll
    for (int n = 0; n < kColumns; ++n)
      columns[n] = c + n < g.columns ? Row<Quads>::load(v.row(g.rows[c + n]), v.dim) : Row<Quads>::zero();
    for (int t = 0; t < g.count; ++t) {
      const Row<Quads> target = Row<Quads>::load(g.a + t * v.dim, v.dim);
      float sums[kColumns];
#pragma unroll
      for (int n = 0; n < kColumns; ++n) sums[n] = target.part_of_dot(columns[n]);
      int which;
      const float score = fold_sums(sums, &which);
      if (lane() % (kWarp / kColumns) == 0 && c + which < g.columns) g.scores[(c + which) * g.stride + t] = score;
    }
  }
  __syncthreads();
}

__device__ inline float weight_in(const Work& work, const Group& g, int t, int c) {
  if (c < g.collocates) return g.is_pair(t, c) ? 1.0f : 0.0f;
  return static_cast<float>(g.targets[t].pairs * work.knobs.negative) / static_cast<float>(work.knobs.group_negatives);
}

__device__ inline float reward_in(const Work& work, const Group& g, int t, int c) {
  if (work.knobs.reward == Reward::kLikelihood || !learns_rewards(work)) return sigmoid(g.scores[c * g.stride + t]);
  const float share = 1.0f / static_cast<float>(g.targets[t].pairs);  // negatives carry the weight of all its pairs
  return sampled_likelihood(
      g.scores[c * g.stride + t], g.collocates, g.columns, [&](int n) { return g.scores[n * g.stride + t]; },
      [&](int n) { return share * weight_in(work, g, t, n); });
}

// Rewards, what they teach, and a sample of the loss.
__device__ inline void learn_from_group(const Work& work, const Group& g, int positions_first, BatchStats* stats) {
  const Origin origin = origin_of(work);
  float reward = 0.0f, loss = 0.0f;
  const int threads = static_cast<int>(blockDim.x), first = static_cast<int>(threadIdx.x);
  for (int x = first; x < g.count * g.collocates; x += threads) {
    const int t = x / g.collocates, c = x % g.collocates;
    if (!g.is_pair(t, c)) continue;
    const float mine = reward_in(work, g, t, c);
    reward += mine;
    if (!learns_rewards(work)) continue;
    learn_from_pair(work, origin, positions_first + t, collocate_in(work, g, positions_first, c), g.targets[t].pairs,
                    mine);
  }
  reward = warp_sum(reward);
  if (lane() == 0) atomicAdd(&stats->reward, static_cast<double>(reward));
  if (work.slice.key(positions_first) % 16 == 0) {
    for (int x = first; x < g.count * g.columns; x += threads) {
      const int t = x / g.columns, c = x % g.columns;
      const float weight = weight_in(work, g, t, c);
      if (weight != 0.0f) loss += skip_gram_loss(c < g.collocates ? 1.0f : 0.0f, weight, g.scores[c * g.stride + t]);
    }
    int pairs = 0;
    for (int t = first; t < g.count; t += threads) pairs += g.targets[t].pairs;
    add_loss(stats, pairs, loss);
  }
  __syncthreads();
}

// Whether no pair's score tells of steps that overshoot; the block together.
__device__ inline bool is_steady(const Work& work, const Group& g) {
  int overshot = 0;
  for (int x = static_cast<int>(threadIdx.x); x < g.columns * g.stride; x += static_cast<int>(blockDim.x)) {
    const int c = x / g.stride, t = x % g.stride;
    overshot |= t < g.count && std::fabs(g.scores[x]) > kSteadyDot && weight_in(work, g, t, c) != 0.0f;
  }
  return __syncthreads_or(overshot) == 0;
}

__device__ inline void turn_scores_into_errors(const Work& work, const Group& g, float alpha, BatchStats* stats) {
  alpha = group_alpha(alpha, is_steady(work, g), g.paired);
  for (int x = static_cast<int>(threadIdx.x); x < g.columns * g.stride; x += static_cast<int>(blockDim.x)) {
    const int c = x / g.stride, t = x % g.stride;
    float error = 0.0f;
    if (t < g.count && g.targets[t].pairs > 0 && within_bounds(g.scores[x], stats)) {
      const float weight = weight_in(work, g, t, c);
      if (weight != 0.0f) error = skip_gram_error(alpha, c < g.collocates ? 1.0f : 0.0f, weight, sigmoid(g.scores[x]));
    }
    g.scores[x] = error;
  }
  __syncthreads();
}

__device__ inline void add_scaled(float2& sum, float e, float2 v) {
  sum.x += e * v.x;
  sum.y += e * v.y;
}

// Of one of the rows that a group writes: of its targets, then of its columns.
__device__ inline Rounding rounding_of(const Work& work, int positions_first, int item) {
  return {work.draws.round, work.slice.key(positions_first), static_cast<std::uint64_t>(item)};
}

// U += E B, two floats of the rows, for up to kTargetTile targets.
template <typename Number>
__device__ inline void move_targets(const Work& work, const Group& g, int positions_first, int tile, int d) {
  const auto u = work.model.sense.of<Number>(), v = work.model.collocation.of<Number>();
  float2 sums[kTargetTile] = {};
  for (int c = 0; c < g.columns; ++c) {
    const float2 b = read_two(v.row(g.rows[c]) + d);
    const float4* e = reinterpret_cast<const float4*>(g.scores + c * g.stride + tile);
#pragma unroll
    for (int n = 0; n < kTargetTile / 4; ++n) {
      const float4 four = e[n];
      add_scaled(sums[4 * n], four.x, b);
      add_scaled(sums[4 * n + 1], four.y, b);
      add_scaled(sums[4 * n + 2], four.z, b);
      add_scaled(sums[4 * n + 3], four.w, b);
    }
  }
  const float share = work.knobs.sibling_share;
#pragma unroll
  for (int n = 0; n < kTargetTile; ++n) {
    const int t = tile + n;
    if (t >= g.count || g.targets[t].pairs == 0) continue;
    const int own = g.targets[t].row;
    const Rounding rounding = rounding_of(work, positions_first, t);
    add_atomically(u.row(own) + d, sums[n], rounding, d);
    if (share <= 0.0f) continue;
    const std::int64_t* senses = work.model.sense_offset + work.slice.word[positions_first + t];
    for (auto z = senses[0]; z < senses[1]; ++z)
      if (z != own) add_atomically(u.row(z) + d, make_float2(share * sums[n].x, share * sums[n].y), rounding, d);
  }
}

// V += Eᵀ A, two floats of the rows, for four columns.
template <typename Number>
__device__ inline void move_columns(const Work& work, const Group& g, int positions_first, int c, int d) {
  const auto v = work.model.collocation.of<Number>();
  float2 sums[4] = {};
  const int columns = min(4, g.columns - c);
  for (int t = 0; t < g.count; t += 4) {
    float2 a[4];
#pragma unroll
    for (int n = 0; n < 4; ++n) a[n] = *reinterpret_cast<const float2*>(g.a + (t + n) * work.model.sense.dim + d);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      if (n >= columns) continue;
      const float4 e = *reinterpret_cast<const float4*>(g.scores + (c + n) * g.stride + t);
      add_scaled(sums[n], e.x, a[0]);
      add_scaled(sums[n], e.y, a[1]);
      add_scaled(sums[n], e.z, a[2]);
      add_scaled(sums[n], e.w, a[3]);
    }
  }
#pragma unroll
  for (int n = 0; n < 4; ++n)
    if (n < columns)
      add_atomically(v.row(g.rows[c + n]) + d, sums[n], rounding_of(work, positions_first, g.count + c + n), d);
}

template <int Quads, typename Number>
__global__ void __launch_bounds__(kGroupThreads) represent_groups(const __grid_constant__ Work work, int most) {
  const int batch = work.wave.first_batch + static_cast<int>(blockIdx.y);
  const Range targets = targets_of_batch(work.slice, batch);
  const int first = targets.first + static_cast<int>(blockIdx.x) * work.knobs.group_size;
  if (first >= targets.last) return;
  BatchStats* stats = work.slice.stats + batch;
  const Group g = find_targets(work, {first, min(targets.last, first + work.knobs.group_size)}, most, stats);
  if (g.first < 0) return;
  fill_columns(work, g, first);
  take_targets<Quads, Number>(work, g, first);
  score_panel<Quads, Number>(work, g);
  learn_from_group(work, g, first, stats);
  turn_scores_into_errors(work, g, work.slice.batches[batch].alpha, stats);
  // A thread moves the same floats of all rows: those of V are read for U before they change.
  for (int d = 2 * static_cast<int>(threadIdx.x); d < work.model.sense.dim; d += 2 * static_cast<int>(blockDim.x)) {
    for (int tile = 0; tile < g.count; tile += kTargetTile) move_targets<Number>(work, g, first, tile, d);
    for (int c = 0; c < g.columns; c += 4) move_columns<Number>(work, g, first, c, d);
  }
}

}  // namespace muse::cuda
