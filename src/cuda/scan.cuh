// From the tokens of a slice to its positions: subsampling, windows, sentences, and where scores will lie.
#pragma once

#include "places.cuh"

namespace muse::cuda {

// Running totals over the tokens of a slice.
struct Counts {
  int kept, choices, scores;

  __device__ void operator+=(const Counts& other) {
    kept += other.kept;
    choices += other.choices;
    scores += other.scores;
  }
};

constexpr int kScanThreads = 256;

__device__ inline Counts count_token(const Work& work, int token) {
  const Slice& slice = work.slice;
  if (token >= slice.num_tokens) return {0, 0, 0};
  const std::int32_t word = slice.tokens[token];
  const auto key = static_cast<std::uint64_t>(slice.first_token + token);
  if (!keeps_token(work.draws.subsample, key, work.tables.keep[word])) return {0, 0, 0};
  const int senses = work.model.senses_of(word);
  return {1, senses > 1, senses > 1 ? senses : 0};
}

// The sum of the threads before this one, and of all; `shared` holds one entry a warp.
__device__ inline Counts scan_block(Counts mine, Counts* shared, Counts* all) {
  Counts sum = mine;
  for (int offset = 1; offset < kWarp; offset *= 2) {
    const Counts before{__shfl_up_sync(kAllLanes, sum.kept, offset), __shfl_up_sync(kAllLanes, sum.choices, offset),
                        __shfl_up_sync(kAllLanes, sum.scores, offset)};
    if (lane() >= offset) sum += before;
  }
  if (lane() == kWarp - 1) shared[warp_in_block()] = sum;
  __syncthreads();
  Counts before{0, 0, 0};
  *all = before;
  for (int w = 0; w < warps_in_block(); ++w) {
    if (w < warp_in_block()) before += shared[w];
    *all += shared[w];
  }
  __syncthreads();
  before += sum;
  return {before.kept - mine.kept, before.choices - mine.choices, before.scores - mine.scores};
}

// sums[b]: of the tokens of block b.
__global__ void count_tokens(const __grid_constant__ Work work, Counts* sums) {
  Counts all;
  scan_block(count_token(work, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)),
             reinterpret_cast<Counts*>(shared_memory), &all);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// sums[b] becomes the sum of the blocks before b; one block.
__global__ void add_up_blocks(Counts* sums, int blocks) {
  Counts done{0, 0, 0};
  for (int first = 0; first < blocks; first += static_cast<int>(blockDim.x)) {
    const int b = first + static_cast<int>(threadIdx.x);
    Counts all,
        before = scan_block(b < blocks ? sums[b] : Counts{0, 0, 0}, reinterpret_cast<Counts*>(shared_memory), &all);
    before += done;
    if (b < blocks) sums[b] = before;
    done += all;
  }
}

__global__ void place_tokens(const __grid_constant__ Work work, const Counts* sums) {
  const Slice& slice = work.slice;
  const int token = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Counts mine = count_token(work, token);
  Counts all, at = scan_block(mine, reinterpret_cast<Counts*>(shared_memory), &all);
  at += sums[blockIdx.x];
  if (token > slice.num_tokens) return;
  slice.kept_before[token] = at.kept;
  if (token == slice.num_tokens) {
    slice.slot_before[at.kept] = at.choices;
    slice.score_before[at.kept] = at.scores;
  }
  if (mine.kept == 0) return;
  const int position = at.kept;
  slice.word[position] = slice.tokens[token];
  slice.token[position] = token;
  slice.window[position] = work.knobs.shrink_windows
                               ? draw_window(work.draws.window, slice.key(position), work.knobs.window)
                               : work.knobs.window;
  slice.sentence[position] = count_at_most(slice.sentences, slice.num_sentences + 1, token) - 1;
  slice.sense[position] = 0;
  slice.slot_before[position] = at.choices;
  slice.score_before[position] = at.scores;
  if (mine.choices > 0) slice.chooser[at.choices] = position;
}

}  // namespace muse::cuda
