// Compiled once per instruction set with MUSE_ISA naming it. Everything but the table has internal linkage and nothing
// of the standard library is used: a weak symbol compiled for AVX-512 must never be the one that the linker keeps.
// MUSE_ONLY names the architecture that an instruction set belongs to: a universal binary is compiled for two, and in
// the other one there is no such table. MUSE_NEON is defined for those of arm64 but its baseline, which is portable.
#if !defined(MUSE_ONLY) || MUSE_ONLY
#include "math/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(MUSE_NEON)
#include <arm_neon.h>
#endif

#define MUSE_JOIN_(a, b) a##b
#define MUSE_JOIN(a, b) MUSE_JOIN_(a, b)
#define MUSE_STRING_(a) #a
#define MUSE_STRING(a) MUSE_STRING_(a)

namespace muse {
namespace {

// A tile of kTileRows x kTileColumns sums stays in registers: enough of them to cover the latency of a multiply-add on
// every unit, and few enough loads for each.
#if defined(__AVX512F__)
constexpr int kLanes = 16;
constexpr int kTileColumns = 4;  // 16 sums of 32 registers
#elif defined(__AVX__)
constexpr int kLanes = 8;
constexpr int kTileColumns = 3;  // 12 of 16
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
#define MUSE_SVE_LANES
constexpr int kLanes = __ARM_FEATURE_SVE_BITS / 32;
constexpr int kTileColumns = 4;  // 16 of 32
#elif defined(__aarch64__)
constexpr int kLanes = 4;
constexpr int kTileColumns = 4;  // 16 of 32
#else
constexpr int kLanes = 4;
constexpr int kTileColumns = 2;  // 8 of 16: without fused multiply-add the product needs a register too
#endif
constexpr int kTileRows = 4;
constexpr int kRowTile = 8;    // rows of a score_rows tile
constexpr int kStepTile = 4;   // rows of a step_rows tile
constexpr int kManyRows = 24;  // of b: more do not stay in the first cache at full length
// Sums of a row in score_rows, and of a dot product. Processors of arm64 start up to four multiply-adds a cycle, each
// of which takes four: with fewer than sixteen sums the next one would wait.
#if defined(MUSE_NEON)
constexpr int kRowSums = 2;
constexpr int kDotSums = 8;
#else
constexpr int kRowSums = 1;
constexpr int kDotSums = 4;
#endif

#include "math/kernels_lanes.h"

void gather(const float* const* rows, int count, int dim, float* panel) {
  for (int i = 0; i < count; ++i) {
    const float* row = rows[i];
    for (int d = 0; d < dim; d += kLanes) store(panel + d, load(row + d));
    panel += dim;
  }
}

void scatter_add(float* const* rows, int count, int dim, const float* panel, float scale) {
  const Vector s = broadcast(scale);
  for (int i = 0; i < count; ++i) {
    float* row = rows[i];
    for (int d = 0; d < dim; d += kLanes) store(row + d, load(row + d) + s * load(panel + d));
    panel += dim;
  }
}

// One tile of scores: Rows x Columns dot products.
template <int Rows, int Columns>
inline void score_tile(const float* a, const float* b, int dim, float* out, int out_stride) {
  constexpr int kSums = Rows * Columns;
  constexpr int kGroups = (kSums + kLanes - 1) / kLanes;
  Vector sums[kGroups * kLanes] = {};
  for (int d = 0; d < dim; d += kLanes) {
    Vector y[Columns];
    for (int j = 0; j < Columns; ++j) y[j] = load(b + j * dim + d);
    for (int i = 0; i < Rows; ++i) {
      const Vector x = load(a + i * dim + d);
      for (int j = 0; j < Columns; ++j) sums[i * Columns + j] += x * y[j];
    }
  }
  float flat[kGroups * kLanes];
  for (int g = 0; g < kGroups; ++g) store_sums(flat + g * kLanes, sums + g * kLanes);
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j) out[i * out_stride + j] = flat[i * Columns + j];
}

// A tile of min(columns, Columns) columns.
template <int Rows, int Columns>
inline void score_some(const float* a, const float* b, int columns, int dim, float* out, int out_stride) {
  if (columns >= Columns)
    score_tile<Rows, Columns>(a, b, dim, out, out_stride);
  else if constexpr (Columns > 1)
    score_some<Rows, Columns - 1>(a, b, columns, dim, out, out_stride);
}

// Columns outside, so that a tile of b is read once and a stays in the first cache.
void scores(const float* a, int m, const float* b, int n, int dim, float* out, int out_stride) {
  for (int j = 0; j < n; j += kTileColumns) {
    int i = 0;
    for (; i + kTileRows <= m; i += kTileRows)
      score_some<kTileRows, kTileColumns>(a + i * dim, b + j * dim, n - j, dim, out + i * out_stride + j, out_stride);
    for (; i < m; ++i)
      score_some<1, kTileColumns>(a + i * dim, b + j * dim, n - j, dim, out + i * out_stride + j, out_stride);
  }
}

// The last kLanes floats before x + dim, zeros for those of them that whole vectors from x on cover.
inline Vector load_rest(const float* x, int dim) {
  IntVector lane;
  for (int l = 0; l < kLanes; ++l) lane[l] = l;
  const Vector last = load(x + dim - kLanes);
  return lane >= kLanes - dim % kLanes ? last : Vector{};
}

template <int Rows>
inline void score_row_tile(const float* x, const float* const* rows, int dim, float* out) {
  constexpr int kGroups = (Rows + kLanes - 1) / kLanes;
  Vector sums[kGroups * kLanes] = {};
  int d = 0;
  if constexpr (kRowSums == 2) {
    Vector more[Rows] = {};
    const float* row[Rows];  // each moves by itself: a pair of vectors is then one instruction
#pragma GCC unroll 8
    for (int j = 0; j < Rows; ++j) row[j] = rows[j];
    for (; d + 2 * kLanes <= dim; d += 2 * kLanes) {
      const Vector v = load(x + d), w = load(x + d + kLanes);
#pragma GCC unroll 8
      for (int j = 0; j < Rows; ++j) {
        sums[j] += v * load(row[j]);
        more[j] += w * load(row[j] + kLanes);
        row[j] += 2 * kLanes;
        asm("" : "+r"(row[j]));
      }
    }
#pragma GCC unroll 8
    for (int j = 0; j < Rows; ++j) sums[j] += more[j];
  }
  for (; d + kLanes <= dim; d += kLanes) {
    const Vector v = load(x + d);
    for (int j = 0; j < Rows; ++j) sums[j] += v * load(rows[j] + d);
  }
  if (d < dim) {
    const Vector v = load_rest(x, dim);
    for (int j = 0; j < Rows; ++j) sums[j] += v * load(rows[j] + dim - kLanes);
  }
  float flat[kGroups * kLanes];
  for (int g = 0; g < kGroups; ++g) store_sums(flat + g * kLanes, sums + g * kLanes);
  for (int j = 0; j < Rows; ++j) out[j] = flat[j];
}

void score_rows(const float* x, const float* const* rows, int count, int dim, float* out) {
  if (dim < kLanes) {
    for (int j = 0; j < count; ++j) {
      out[j] = 0.0f;
      for (int d = 0; d < dim; ++d) out[j] += x[d] * rows[j][d];
    }
    return;
  }
  int j = 0;
  for (; j + kRowTile <= count; j += kRowTile) score_row_tile<kRowTile>(x, rows + j, dim, out + j);
  for (; j + kRowTile / 2 <= count; j += kRowTile / 2) score_row_tile<kRowTile / 2>(x, rows + j, dim, out + j);
  switch (count - j) {
    case 3:
      return score_row_tile<3>(x, rows + j, dim, out + j);
    case 2:
      return score_row_tile<2>(x, rows + j, dim, out + j);
    case 1:
      return score_row_tile<1>(x, rows + j, dim, out + j);
  }
}

// A Rows x (Vectors * kLanes) block of a combination: added to rows[i] + d, or, without rows, written to the panel out.
template <int Rows, int Vectors>
inline void combine_tile(const float* e, int row_stride, int column_stride, int n, const float* b, int dim, float* out,
                         float* const* rows, int d) {
  Vector sums[Rows][Vectors] = {};
  b += d;
  for (int j = 0; j < n; ++j) {
    Vector y[Vectors];
    for (int v = 0; v < Vectors; ++v) y[v] = load(b + v * kLanes);
    for (int i = 0; i < Rows; ++i) {
      const Vector x = broadcast(e[i * row_stride]);
      for (int v = 0; v < Vectors; ++v) sums[i][v] += x * y[v];
    }
    e += column_stride;
    b += dim;
  }
// Unrolled, or the sums would go through memory.
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) {
    float* to = (rows != nullptr ? rows[i] : out + i * dim) + d;
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v)
      store(to + v * kLanes, rows != nullptr ? load(to + v * kLanes) + sums[i][v] : sums[i][v]);
  }
}

// A tile of min(vectors, Vectors) vectors.
template <int Rows, int Vectors>
inline void combine_some(const float* e, int row_stride, int column_stride, int n, const float* b, int dim, float* out,
                         float* const* rows, int d) {
  if ((dim - d) / kLanes >= Vectors)
    combine_tile<Rows, Vectors>(e, row_stride, column_stride, n, b, dim, out, rows, d);
  else if constexpr (Vectors > 1)
    combine_some<Rows, Vectors - 1>(e, row_stride, column_stride, n, b, dim, out, rows, d);
}

// Rows [i, m) of the result, at most kTileRows of them, at columns from d.
inline void combine_rows(const float* e, int row_stride, int column_stride, int i, int m, int n, const float* b,
                         int dim, float* out, float* const* rows, int d) {
  const auto panel = [&](int k) { return rows == nullptr ? out + k * dim : nullptr; };
  const auto added = [&](int k) { return rows == nullptr ? nullptr : rows + k; };
  if (i + kTileRows <= m) {
    combine_some<kTileRows, kTileColumns>(e + i * row_stride, row_stride, column_stride, n, b, dim, panel(i), added(i),
                                          d);
    return;
  }
  for (; i < m; ++i)
    combine_some<1, kTileColumns>(e + i * row_stride, row_stride, column_stride, n, b, dim, panel(i), added(i), d);
}

// With many rows of b a block of its columns stays in the first cache while all rows of the result pass; with few, all
// of b does, and rows of the result are finished one after the other, as memory likes it.
inline void combine_all(const float* e, int row_stride, int column_stride, int m, int n, const float* b, int dim,
                        float* out, float* const* rows) {
  constexpr int kStep = kTileColumns * kLanes;
  if (n > kManyRows) {
    for (int d = 0; d < dim; d += kStep)
      for (int i = 0; i < m; i += kTileRows) combine_rows(e, row_stride, column_stride, i, m, n, b, dim, out, rows, d);
  } else {
    for (int i = 0; i < m; i += kTileRows)
      for (int d = 0; d < dim; d += kStep) combine_rows(e, row_stride, column_stride, i, m, n, b, dim, out, rows, d);
  }
}

void combine(const float* e, int row_stride, int column_stride, int m, int n, const float* b, int dim, float* out) {
  combine_all(e, row_stride, column_stride, m, n, b, dim, out, nullptr);
}

void combine_add(const float* e, int row_stride, int column_stride, int m, int n, const float* b, int dim,
                 float* const* rows) {
  combine_all(e, row_stride, column_stride, m, n, b, dim, nullptr, rows);
}

// Rows to ask the memory for.
struct Next {
  const float* const* rows;
  int count;
};

// A Rows x (Vectors * kLanes) block of a blend, at columns from d. Every second row, and so evenly, another row is
// asked for: its lines at these columns, in two halves.
template <int Rows, int Vectors>
inline void blend_tile(const float* e, int n, const float* const* rows, int d, float* out, int out_stride, Next next) {
  constexpr int kLines = (Vectors * kLanes + kRowPad - 1) / kRowPad, kHalf = (kLines + 1) / 2;
  Vector sums[Rows][Vectors] = {};
  for (int j = 0; j < n; ++j) {
    if (j < 2 * next.count)
      for (int line = 0; line < kHalf; ++line)
        __builtin_prefetch(next.rows[j / 2] + d + (j % 2 * kHalf + line) * kRowPad, 0, kSecondCache);
    const float* row = rows[j] + d;
    Vector y[Vectors];
    for (int v = 0; v < Vectors; ++v) y[v] = load(row + v * kLanes);
    for (int i = 0; i < Rows; ++i) {
      const Vector x = broadcast(e[i * n + j]);
      for (int v = 0; v < Vectors; ++v) sums[i][v] += x * y[v];
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) store(out + i * out_stride + d + v * kLanes, sums[i][v]);
}

// Rows of the result: whole tiles of columns, whole vectors, and the last vector once more, ending where rows end.
template <int Rows>
inline void blend_rows(const float* e, int n, const float* const* rows, int dim, float* out, int out_stride,
                       Next next) {
  constexpr int kStep = kTileColumns * kLanes;
  int d = 0;
  for (; d + kStep <= dim; d += kStep) blend_tile<Rows, kTileColumns>(e, n, rows, d, out, out_stride, next);
  if (dim - d > kStep - kLanes && dim >= kStep)
    return blend_tile<Rows, kTileColumns>(e, n, rows, dim - kStep, out, out_stride, next);
  for (; d + kLanes <= dim; d += kLanes) blend_tile<Rows, 1>(e, n, rows, d, out, out_stride, next);
  if (d < dim) blend_tile<Rows, 1>(e, n, rows, dim - kLanes, out, out_stride, next);
}

void blend(const float* e, int m, int n, const float* const* rows, int dim, float* out, int out_stride,
           const float* const* next, int next_count) {
  if (dim < kLanes) {
    for (int i = 0; i < m; ++i)
      for (int d = 0; d < dim; ++d) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j) sum += e[i * n + j] * rows[j][d];
        out[i * out_stride + d] = sum;
      }
    return;
  }
  int i = 0;
  for (; i + kTileRows <= m; i += kTileRows)
    blend_rows<kTileRows>(e + i * n, n, rows, dim, out + i * out_stride, out_stride, {next, i == 0 ? next_count : 0});
  const Next rest{next, i == 0 ? next_count : 0};
  if (m - i == 3) blend_rows<3>(e + i * n, n, rows, dim, out + i * out_stride, out_stride, rest);
  if (m - i == 2) blend_rows<2>(e + i * n, n, rows, dim, out + i * out_stride, out_stride, rest);
  if (m - i == 1) blend_rows<1>(e + i * n, n, rows, dim, out + i * out_stride, out_stride, rest);
}

template <int Rows>
inline void step_row_tile(const float* x, const float* e, float* const* rows, const float* const* next, int dim,
                          float* sum) {
  Vector scale[Rows];  // and pointers: copied, or they would be read again behind each store
  float* row[Rows];
  const float* ahead[Rows];
  for (int j = 0; j < Rows; ++j) {
    scale[j] = broadcast(e[j]);
    row[j] = rows[j];
    ahead[j] = next[j];
  }
  for (int line = 0; line < dim; line += kRowPad) {
    for (int j = 0; j < Rows; ++j) __builtin_prefetch(ahead[j] + line, 0, kSecondCache);
    for (int d = line; d < line + kRowPad; d += kLanes) {
      const Vector v = load(x + d);
      Vector total = load(sum + d);
      for (int j = 0; j < Rows; ++j) {
        Vector old = load_once(row[j] + d);
        total += scale[j] * old;
        settle(total, old);
        store(row[j] + d, old + scale[j] * v);
      }
      store(sum + d, total);
    }
  }
}

void step_rows(const float* x, const float* e, float* const* rows, const float* const* next, int count, int dim,
               float* sum) {
  int j = 0;
  for (; j + kStepTile <= count; j += kStepTile) step_row_tile<kStepTile>(x, e + j, rows + j, next + j, dim, sum);
  switch (count - j) {
    case 3:
      return step_row_tile<3>(x, e + j, rows + j, next + j, dim, sum);
    case 2:
      return step_row_tile<2>(x, e + j, rows + j, next + j, dim, sum);
    case 1:
      return step_row_tile<1>(x, e + j, rows + j, next + j, dim, sum);
  }
}

// exp for x in [-87, 87]: 2^n * exp(r), |r| <= ln2 / 2, by a degree-6 polynomial; relative error below 3e-7.
inline Vector exp_bounded(Vector x) {
  const Vector t = x * 1.44269504f + 128.5f;  // positive, so truncation rounds to nearest
  const IntVector n = __builtin_convertvector(t, IntVector);
  const Vector fn = __builtin_convertvector(n, Vector) - 128.0f;
  Vector r = x - fn * 0.693359375f;
  r = r + fn * 2.12194440e-4f;
  Vector p = broadcast(1.3888889e-3f);
  p = p * r + 8.3333333e-3f;
  p = p * r + 4.1666667e-2f;
  p = p * r + 1.6666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const auto scale = ((UnsignedVector)n - 1u) << 23;  // exponent n - 128 + 127; unsigned: NaN must not overflow
  Vector factor;
  __builtin_memcpy(&factor, &scale, sizeof(factor));
  return p * factor;
}

void sigmoid(const float* x, int count, float* out) {
  const Vector low = broadcast(-30.0f), high = broadcast(30.0f);
  for (int i = 0; i < count; i += kLanes) {
    Vector v = -load(x + i);
    v = v < low ? low : v;
    v = v > high ? high : v;
    store(out + i, 1.0f / (1.0f + exp_bounded(v)));
  }
}

// The products of Count vectors from x and y on, each added to a sum of its own.
template <int Count>
inline void add_products(const float* x, const float* y, Vector* sums) {
#pragma GCC unroll 8
  for (int k = 0; k < Count; ++k) sums[k] += load(x + k * kLanes) * load(y + k * kLanes);
}

float dot(const float* x, const float* y, int dim) {
  Vector sums[kDotSums] = {};
  int i = 0;
  for (; i + kDotSums * kLanes <= dim; i += kDotSums * kLanes) add_products<kDotSums>(x + i, y + i, sums);
  if constexpr (kDotSums > 4)
    for (; i + 4 * kLanes <= dim; i += 4 * kLanes) add_products<4>(x + i, y + i, sums);
  for (; i + kLanes <= dim; i += kLanes) add_products<1>(x + i, y + i, sums);
  for (int step = 1; step < kDotSums; step *= 2)
    for (int k = 0; k < kDotSums; k += 2 * step) sums[k] += sums[k + step];
  Quad q{};
  for (; i + 4 <= dim; i += 4) q += load_quad(x + i) * load_quad(y + i);
  float total = horizontal_sum<kLanes / 2>(sums[0]) + ((q[0] + q[1]) + (q[2] + q[3]));
  for (; i < dim; ++i) total += x[i] * y[i];
  return total;
}

void axpy(float a, const float* x, float* y, int dim) {
  const Vector s = broadcast(a);
  int i = 0;
#pragma GCC unroll 4
  for (; i + kLanes <= dim; i += kLanes) store(y + i, load(y + i) + s * load(x + i));
  for (; i + 4 <= dim; i += 4)
    *reinterpret_cast<UnalignedQuad*>(y + i) = load_quad(y + i) + (a - Quad{}) * load_quad(x + i);
  for (; i < dim; ++i) y[i] += a * x[i];
}

void add_row(float a, const float* x, float* y, const float* next, int dim) {
  const Vector s = broadcast(a);
  for (int line = 0; line < dim; line += kRowPad) {
    __builtin_prefetch(next + line, 0, kSecondCache);
    for (int d = line; d < line + kRowPad; d += kLanes) store(y + d, load(y + d) + s * load(x + d));
  }
}

#include "math/kernels_bytes.h"
#include "math/kernels_short.h"
#include "math/kernels_slide.h"

}  // namespace

extern const Kernels MUSE_JOIN(kKernels_, MUSE_ISA);
constinit const Kernels MUSE_JOIN(kKernels_, MUSE_ISA) = {
    MUSE_STRING(MUSE_ISA), gather,    scatter_add, scores,   score_rows,  combine, blend,
    combine_add,           step_rows, sigmoid,     dot,      axpy,        add_row, slide,
    slide_gradient,        adagrad,   shorten,     lengthen, likely_rows,
};

}  // namespace muse
#endif
