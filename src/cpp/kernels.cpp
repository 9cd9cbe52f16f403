// Compiled once per instruction set with MUSE_ISA naming it. Everything but the table has internal linkage and nothing
// of the standard library is used: a weak symbol compiled for AVX-512 must never be the one that the linker keeps.
#include "kernels.h"

#define MUSE_JOIN_(a, b) a##b
#define MUSE_JOIN(a, b) MUSE_JOIN_(a, b)
#define MUSE_STRING_(a) #a
#define MUSE_STRING(a) MUSE_STRING_(a)

namespace muse {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
constexpr int kTileColumns = 4;  // 4 x 4 accumulators of 32 registers
#elif defined(__AVX__)
constexpr int kLanes = 8;
constexpr int kTileColumns = 2;  // 4 x 2 accumulators of 16 registers
#else
constexpr int kLanes = 4;
constexpr int kTileColumns = 2;
#endif
constexpr int kTileRows = 4;

typedef float Vector __attribute__((vector_size(kLanes * 4)));
typedef int IntVector __attribute__((vector_size(kLanes * 4)));
typedef unsigned UnsignedVector __attribute__((vector_size(kLanes * 4)));
typedef float Unaligned __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

inline Vector load(const float* p) { return *reinterpret_cast<const Unaligned*>(p); }
inline void store(float* p, Vector v) { *reinterpret_cast<Unaligned*>(p) = v; }
inline Vector broadcast(float x) { return Vector{} + x; }

// Sums the lanes of kLanes vectors at once: out[i] = Σ lanes of v[i], in log2(kLanes) rounds of shuffle and add.
// In a round, each lane pair (p, p + half) of a and b is folded; a's sums land in the low half, b's in the high half.

template <int... Lane>
struct Lanes {};
template <int N, int... Lane>
struct MakeLanes : MakeLanes<N - 1, N - 1, Lane...> {};
template <int... Lane>
struct MakeLanes<0, Lane...> {
  using type = Lanes<Lane...>;
};

// Lane l of the result of folding blocks of width 2 * Half: the low half of each block comes from a, the high from b.
template <int Half, int... Lane>
inline Vector fold(Vector a, Vector b, Lanes<Lane...>) {
  return __builtin_shufflevector(a, b, ((Lane / Half) % 2 == 0 ? Lane : Lane - Half + kLanes)...) +
         __builtin_shufflevector(a, b, ((Lane / Half) % 2 == 0 ? Lane + Half : Lane + kLanes)...);
}

template <int Half>
inline void fold_all(Vector* v) {
  if constexpr (Half >= 1) {
    for (int i = 0; i < Half; ++i) v[i] = fold<Half>(v[i], v[i + Half], typename MakeLanes<kLanes>::type{});
    fold_all<Half / 2>(v);
  }
}

inline Vector horizontal_sums(Vector* v) {
  fold_all<kLanes / 2>(v);
  return v[0];
}

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
  for (int g = 0; g < kGroups; ++g) store(flat + g * kLanes, horizontal_sums(sums + g * kLanes));
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j) out[i * out_stride + j] = flat[i * Columns + j];
}

template <int Rows>
inline void score_rows(const float* a, const float* b, int n, int dim, float* out, int out_stride) {
  int j = 0;
  for (; j + kTileColumns <= n; j += kTileColumns)
    score_tile<Rows, kTileColumns>(a, b + j * dim, dim, out + j, out_stride);
  for (; j + 2 <= n; j += 2) score_tile<Rows, 2>(a, b + j * dim, dim, out + j, out_stride);
  if (j < n) score_tile<Rows, 1>(a, b + j * dim, dim, out + j, out_stride);
}

void scores(const float* a, int m, const float* b, int n, int dim, float* out) {
  int i = 0;
  for (; i + kTileRows <= m; i += kTileRows) score_rows<kTileRows>(a + i * dim, b, n, dim, out + i * n, n);
  for (; i < m; ++i) score_rows<1>(a + i * dim, b, n, dim, out + i * n, n);
}

// Rows x (Vectors * kLanes) block of combine.
template <int Rows, int Vectors>
inline void combine_tile(const float* e, int row_stride, int column_stride, int n, const float* b, int dim,
                         float* out) {
  Vector sums[Rows][Vectors] = {};
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
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < Vectors; ++v) store(out + i * dim + v * kLanes, sums[i][v]);
}

template <int Rows>
inline void combine_rows(const float* e, int row_stride, int column_stride, int n, const float* b, int dim,
                         float* out) {
  int d = 0;
  for (; d + kTileColumns * kLanes <= dim; d += kTileColumns * kLanes)
    combine_tile<Rows, kTileColumns>(e, row_stride, column_stride, n, b + d, dim, out + d);
  for (; d < dim; d += kLanes) combine_tile<Rows, 1>(e, row_stride, column_stride, n, b + d, dim, out + d);
}

void combine(const float* e, int row_stride, int column_stride, int m, int n, const float* b, int dim, float* out) {
  int i = 0;
  for (; i + kTileRows <= m; i += kTileRows)
    combine_rows<kTileRows>(e + i * row_stride, row_stride, column_stride, n, b, dim, out + i * dim);
  for (; i < m; ++i) combine_rows<1>(e + i * row_stride, row_stride, column_stride, n, b, dim, out + i * dim);
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

float dot(const float* x, const float* y, int dim) {
  Vector a{}, b{}, c{}, d{};
  int i = 0;
  for (; i + 4 * kLanes <= dim; i += 4 * kLanes) {
    a += load(x + i) * load(y + i);
    b += load(x + i + kLanes) * load(y + i + kLanes);
    c += load(x + i + 2 * kLanes) * load(y + i + 2 * kLanes);
    d += load(x + i + 3 * kLanes) * load(y + i + 3 * kLanes);
  }
  for (; i + kLanes <= dim; i += kLanes) a += load(x + i) * load(y + i);
  const Vector sum = (a + b) + (c + d);
  float total = 0.0f;
  for (int lane = 0; lane < kLanes; ++lane) total += sum[lane];
  for (; i < dim; ++i) total += x[i] * y[i];
  return total;
}

void axpy(float a, const float* x, float* y, int dim) {
  const Vector s = broadcast(a);
  int i = 0;
  for (; i + kLanes <= dim; i += kLanes) store(y + i, load(y + i) + s * load(x + i));
  for (; i < dim; ++i) y[i] += a * x[i];
}

}  // namespace

extern const Kernels MUSE_JOIN(kKernels_, MUSE_ISA);
constinit const Kernels MUSE_JOIN(kKernels_, MUSE_ISA) = {
    MUSE_STRING(MUSE_ISA), gather, scatter_add, scores, combine, sigmoid, dot, axpy,
};

}  // namespace muse
