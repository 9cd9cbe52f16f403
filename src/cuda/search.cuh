// The rows of a matrix that score highest against each of some queries: scores, a panel at a time, and the best of
// them.
#pragma once

#include <climits>

#include "warp.cuh"

namespace muse::cuda {

constexpr int kFewQueries =
    4;  // up to this many, a warp reads a row once and holds it; beyond, tiles share the reading

// --- scores: (queries, rows of the panel) ---

struct Panel {
  const float* queries;  // (num_queries, dim), padded as the matrix is
  int num_queries;
  Rows matrix;
  std::int64_t first_row;
  int num_rows;
  float* scores;
};

template <int Quads>
__global__ void score_rows(const __grid_constant__ Panel panel) {
  const int i = warp_in_grid(), dim = panel.matrix.dim;
  if (i >= panel.num_rows) return;
  const Row<Quads> row = Row<Quads>::load(panel.matrix.row(panel.first_row + i), dim);
  for (int q = 0; q < panel.num_queries; ++q) {
    const float score = dot(row, Row<Quads>::load(panel.queries + static_cast<std::int64_t>(q) * dim, dim));
    if (lane() == 0) panel.scores[static_cast<std::int64_t>(q) * panel.num_rows + i] = score;
  }
}

constexpr int kTile = 64;                            // queries, and rows, of a block
constexpr int kTileStep = 16;                        // columns at a time
constexpr int kTileStride = kTile + 4;               // floats between two columns in shared memory
constexpr int kTileThreads = kTile * kTileStep / 4;  // each reads four floats of both, and sums 4 × 4 products

// Copies columns [d, d + kTileStep) of kTile rows to `tile`, column by column; zeros stand for rows that are not there.
__device__ inline void read_tile(const float* rows, std::int64_t first, std::int64_t count, int dim, int d,
                                 float* tile) {
  const int row = static_cast<int>(threadIdx.x) / (kTileStep / 4),
            column = 4 * (static_cast<int>(threadIdx.x) % (kTileStep / 4));
  float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (first + row < count) four = read_four(rows + (first + row) * dim + d + column);
  float* to = tile + column * kTileStride + row;
  to[0] = four.x;
  to[kTileStride] = four.y;
  to[2 * kTileStride] = four.z;
  to[3 * kTileStride] = four.w;
}

// A product of matrices: a block takes kTile queries (y) and kTile rows (x).
__global__ void score_tiles(const __grid_constant__ Panel panel) {
  float* queries = reinterpret_cast<float*>(shared_memory);
  float* rows = queries + kTileStep * kTileStride;
  const int dim = panel.matrix.dim, thread = static_cast<int>(threadIdx.x);
  const int first_query = static_cast<int>(blockIdx.y) * kTile, first_row = static_cast<int>(blockIdx.x) * kTile;
  const int q = 4 * (thread / (kTile / 4)), r = 4 * (thread % (kTile / 4));
  float4 sums[4] = {};
  for (int d = 0; d < dim; d += kTileStep) {
    read_tile(panel.queries, first_query, panel.num_queries, dim, d, queries);
    read_tile(panel.matrix.row(panel.first_row), first_row, panel.num_rows, dim, d, rows);
    __syncthreads();
#pragma unroll
    for (int column = 0; column < kTileStep; ++column) {
      const float4 a = read_four(queries + column * kTileStride + q);
      const float4 b = read_four(rows + column * kTileStride + r);
      sums[0] += a.x * b;
      sums[1] += a.y * b;
      sums[2] += a.z * b;
      sums[3] += a.w * b;
    }
    __syncthreads();
  }
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const float four[4] = {sums[n].x, sums[n].y, sums[n].z, sums[n].w};
    const int query = first_query + q + n;
    for (int i = 0; i < 4; ++i)
      if (query < panel.num_queries && first_row + r + i < panel.num_rows)
        panel.scores[static_cast<std::int64_t>(query) * panel.num_rows + first_row + r + i] = four[i];
  }
}

inline std::size_t bytes_of_tiles() { return sizeof(float) * 2 * kTileStep * kTileStride; }

// --- the best ---

struct Hit {
  float score;
  int row;  // INT_MAX: none
};

// A total order, as in search.cpp, so that no order of threads decides among equal scores; false where a score is not a
// number.
__device__ inline bool better(const Hit& a, const Hit& b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

__device__ inline Hit no_hit() { return {-INFINITY, INT_MAX}; }

// Hits from the scores of a panel.
struct ScoredRows {
  const float* scores;  // (queries, num_rows)
  std::int64_t first_row;
  int num_rows;
  const float* scale;        // of each row of the matrix, or null
  const std::uint8_t* keep;  // likewise; zero leaves a row out

  __device__ Hit hit(int query, std::int64_t i) const {
    const std::int64_t row = first_row + i;
    if (keep != nullptr && keep[row] == 0) return no_hit();
    const float score = scores[query * static_cast<std::int64_t>(num_rows) + i];
    return {scale == nullptr ? score : score * scale[row], static_cast<int>(row)};
  }
};

// Hits from lists of the best of each part.
struct ListedHits {
  const Hit* hits;  // (queries, stride)
  std::int64_t stride;

  __device__ Hit hit(int query, std::int64_t i) const { return hits[query * stride + i]; }
};

// Sorts the block's first `count` hits, best first; a bitonic sort of the next power of two, which must have room.
__device__ inline void sort_hits(Hit* hits, int count) {
  int size = 2;
  while (size < count) size *= 2;
  const int first = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = count + first; i < size; i += threads) hits[i] = no_hit();
  __syncthreads();
  for (int width = 2; width <= size; width *= 2)
    for (int gap = width / 2; gap > 0; gap /= 2) {
      for (int i = first; i < size / 2; i += threads) {
        const int low = 2 * gap * (i / gap) + i % gap, high = low + gap;
        const Hit a = hits[low], b = hits[high];
        if (better(b, a) == ((low & width) == 0)) {
          hits[low] = b;
          hits[high] = a;
        }
      }
      __syncthreads();
    }
}

constexpr int kBestThreads = 256;

// The `top` best of each `segment` hits (x) of each query (y), sorted, to best[query * stride + x * top]. Hits gather
// in shared memory, with room for `capacity`, a power of two of at least top + kBestThreads; when it is full, all but
// the best are dropped, and what is no better than those is then passed over.
template <typename Hits>
__global__ void keep_best(const __grid_constant__ Hits source, std::int64_t count, std::int64_t segment, int capacity,
                          int top, Hit* best, std::int64_t stride) {
  Hit* hits = reinterpret_cast<Hit*>(shared_memory);
  int* found = reinterpret_cast<int*>(hits + capacity);
  const int query = static_cast<int>(blockIdx.y), thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = blockIdx.x * segment, last = count < first + segment ? count : first + segment;
  Hit bar = no_hit();
  int kept = 0;
  if (thread == 0) *found = 0;
  __syncthreads();
  for (std::int64_t begin = first; begin < last; begin += blockDim.x) {
    if (kept + static_cast<int>(blockDim.x) > capacity) {
      sort_hits(hits, kept);
      kept = min(kept, top);
      bar = hits[top - 1];
      if (thread == 0) *found = kept;
      __syncthreads();
    }
    if (begin + thread < last) {
      const Hit hit = source.hit(query, begin + thread);
      if (better(hit, bar)) hits[atomicAdd(found, 1)] = hit;
    }
    __syncthreads();
    kept = *found;
    __syncthreads();
  }
  sort_hits(hits, kept);
  for (int i = thread; i < top; i += static_cast<int>(blockDim.x))
    best[query * stride + static_cast<std::int64_t>(blockIdx.x) * top + i] = i < kept ? hits[i] : no_hit();
}

inline std::size_t bytes_of_hits(std::int64_t capacity) {
  return sizeof(Hit) * static_cast<std::size_t>(capacity) + 2 * sizeof(int);
}

}  // namespace muse::cuda
