// The kernels that touch rows of the model, for rows of bfloat16: part of half.cpp, within the namespaces of
// kernels.cpp.
//
// A row's next 2 * kLanes columns lie in kLanes words, the first half of them in the lower 16 bits, so that reading
// them is a shift and a mask; where a last vector has no partner, its columns lie one after another. Whoever writes
// adds random bits below the last that is kept, and cuts: right on average. The draws are a linear congruential
// generator a lane, a multiplication and an addition for two vectors, of which the upper half is used for both columns
// of a word. Pointers to rows are those of the table: a row of dim columns begins there and is dim / 2 floats long.

typedef unsigned UnalignedWords __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));
typedef unsigned short HalfVector __attribute__((vector_size(kLanes * 2)));
typedef unsigned short UnalignedHalves __attribute__((vector_size(kLanes * 2), aligned(2), may_alias));
constexpr int kPair = 2 * kLanes;
constexpr int kHalfColumns = kTileColumns / 2 * 2;  // of a tile of combine_add: whole pairs

inline Vector as_floats(UnsignedVector bits) {
  Vector floats;
  __builtin_memcpy(&floats, &bits, sizeof(floats));
  return floats;
}
inline UnsignedVector as_bits(Vector floats) {
  UnsignedVector bits;
  __builtin_memcpy(&bits, &floats, sizeof(bits));
  return bits;
}

struct Both {
  Vector low, high;
};

inline Both read_pair(const float* p) {
  const UnsignedVector words = *reinterpret_cast<const UnalignedWords*>(p);
  return {as_floats(words << 16), as_floats(words & 0xffff0000u)};
}
inline Vector read_one(const float* p) {
  const HalfVector halves = *reinterpret_cast<const UnalignedHalves*>(p);
  return as_floats(__builtin_convertvector(halves, UnsignedVector) << 16);
}
inline void write_pair(float* p, Both x, UnsignedVector below) {
  *reinterpret_cast<UnalignedWords*>(p) = ((as_bits(x.low) + below) >> 16) | ((as_bits(x.high) + below) & 0xffff0000u);
}
inline void write_one(float* p, Vector x, UnsignedVector below) {
  *reinterpret_cast<UnalignedHalves*>(p) = __builtin_convertvector((as_bits(x) + below) >> 16, HalfVector);
}

thread_local unsigned generators[16] = {0x9e3779b9u, 0x7f4a7c15u, 0xbf58476du, 0x1ce4e5b9u, 0x94d049bbu, 0x133111ebu,
                                        0xd6e8feb8u, 0x6659fd93u, 0xa5a5a5a7u, 0xc2b2ae3du, 0x27d4eb2fu, 0x165667b1u,
                                        0x85ebca6bu, 0x61c88647u, 0x2545f491u, 0x4f6cdd1du};

// 16 random bits a lane.
struct Draws {
  UnsignedVector state = *reinterpret_cast<const UnalignedWords*>(generators);
  Draws() = default;
  Draws(const Draws&) = delete;
  ~Draws() { *reinterpret_cast<UnalignedWords*>(generators) = state; }
  UnsignedVector next() {
    state = state * 747796405u + 2891336453u;
    return state >> 16;
  }
};

void half_gather(const float* const* rows, int count, int dim, float* panel) {
  for (int i = 0; i < count; ++i) {
    const float* row = rows[i];
    int d = 0;
    for (; d + kPair <= dim; d += kPair) {
      const Both x = read_pair(row + d / 2);
      store(panel + d, x.low);
      store(panel + d + kLanes, x.high);
    }
    if (d < dim) store(panel + d, read_one(row + d / 2));
    panel += dim;
  }
}

void half_scatter_add(float* const* rows, int count, int dim, const float* panel, float scale) {
  Draws draws;
  const Vector s = broadcast(scale);
  for (int i = 0; i < count; ++i) {
    float* row = rows[i];
    int d = 0;
    for (; d + kPair <= dim; d += kPair) {
      const Both x = read_pair(row + d / 2);
      write_pair(row + d / 2, {x.low + s * load(panel + d), x.high + s * load(panel + d + kLanes)}, draws.next());
    }
    if (d < dim) write_one(row + d / 2, read_one(row + d / 2) + s * load(panel + d), draws.next());
    panel += dim;
  }
}

template <int Rows>
inline void half_score_tile(const float* x, const float* const* rows, int dim, float* out) {
  constexpr int kGroups = (Rows + kLanes - 1) / kLanes;
  Vector sums[kGroups * kLanes] = {};
  int d = 0;
  for (; d + kPair <= dim; d += kPair) {
    const Vector v = load(x + d), w = load(x + d + kLanes);
    for (int j = 0; j < Rows; ++j) {
      const Both y = read_pair(rows[j] + d / 2);
      sums[j] += v * y.low;
      sums[j] += w * y.high;
    }
  }
  if (d < dim) {
    const Vector v = load(x + d);
    for (int j = 0; j < Rows; ++j) sums[j] += v * read_one(rows[j] + d / 2);
  }
  float flat[kGroups * kLanes];
  for (int g = 0; g < kGroups; ++g) store_sums(flat + g * kLanes, sums + g * kLanes);
  for (int j = 0; j < Rows; ++j) out[j] = flat[j];
}

void half_score_rows(const float* x, const float* const* rows, int count, int dim, float* out) {
  int j = 0;
  for (; j + kRowTile <= count; j += kRowTile) half_score_tile<kRowTile>(x, rows + j, dim, out + j);
  for (; j + kRowTile / 2 <= count; j += kRowTile / 2) half_score_tile<kRowTile / 2>(x, rows + j, dim, out + j);
  for (; j < count; ++j) half_score_tile<1>(x, rows + j, dim, out + j);
}

template <int Rows>
inline void half_step_tile(const float* x, const float* e, float* const* rows, const float* const* next, int dim,
                           float* sum, Draws& draws) {
  Vector scale[Rows];
  float* row[Rows];
  const float* ahead[Rows];
  for (int j = 0; j < Rows; ++j) {
    scale[j] = broadcast(e[j]);
    row[j] = rows[j];
    ahead[j] = next[j];
  }
  int d = 0;
  for (; d + kPair <= dim; d += kPair) {
    if (d % (2 * kRowPad) == 0)
      for (int j = 0; j < Rows; ++j) __builtin_prefetch(ahead[j] + d / 2, 0, kSecondCache);
    const Vector v = load(x + d), w = load(x + d + kLanes);
    Vector low = load(sum + d), high = load(sum + d + kLanes);
    const UnsignedVector below = draws.next();
    for (int j = 0; j < Rows; ++j) {
      const Both old = read_pair(row[j] + d / 2);
      low += scale[j] * old.low;
      high += scale[j] * old.high;
      write_pair(row[j] + d / 2, {old.low + scale[j] * v, old.high + scale[j] * w}, below);
    }
    store(sum + d, low);
    store(sum + d + kLanes, high);
  }
  if (d == dim) return;
  for (int j = 0; j < Rows; ++j) __builtin_prefetch(ahead[j] + d / 2, 0, kSecondCache);
  const Vector v = load(x + d);
  Vector total = load(sum + d);
  const UnsignedVector below = draws.next();
  for (int j = 0; j < Rows; ++j) {
    const Vector old = read_one(row[j] + d / 2);
    total += scale[j] * old;
    write_one(row[j] + d / 2, old + scale[j] * v, below);
  }
  store(sum + d, total);
}

void half_step_rows(const float* x, const float* e, float* const* rows, const float* const* next, int count, int dim,
                    float* sum) {
  Draws draws;
  int j = 0;
  for (; j + kStepTile <= count; j += kStepTile)
    half_step_tile<kStepTile>(x, e + j, rows + j, next + j, dim, sum, draws);
  for (; j < count; ++j) half_step_tile<1>(x, e + j, rows + j, next + j, dim, sum, draws);
}

// What combine_tile does, but for where it ends: rows of bfloat16 move.
template <int Rows, int Vectors>
inline void half_combine_tile(const float* e, int row_stride, int column_stride, int n, const float* b, int dim,
                              float* const* rows, int d, Draws& draws) {
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
#pragma GCC unroll 4
  for (int v = 0; v + 1 < Vectors; v += 2) {
    const UnsignedVector below = draws.next();
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      float* to = rows[i] + (d + v * kLanes) / 2;
      const Both old = read_pair(to);
      write_pair(to, {old.low + sums[i][v], old.high + sums[i][v + 1]}, below);
    }
  }
  if constexpr (Vectors % 2 == 1) {
    const UnsignedVector below = draws.next();
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      float* to = rows[i] + (d + (Vectors - 1) * kLanes) / 2;
      write_one(to, read_one(to) + sums[i][Vectors - 1], below);
    }
  }
}

template <int Rows, int Vectors>
inline void half_combine_some(const float* e, int row_stride, int column_stride, int n, const float* b, int dim,
                              float* const* rows, int d, Draws& draws) {
  if ((dim - d) / kLanes >= Vectors)
    half_combine_tile<Rows, Vectors>(e, row_stride, column_stride, n, b, dim, rows, d, draws);
  else if constexpr (Vectors > 1)
    half_combine_some<Rows, Vectors - 1>(e, row_stride, column_stride, n, b, dim, rows, d, draws);
}

void half_combine_add(const float* e, int row_stride, int column_stride, int m, int n, const float* b, int dim,
                      float* const* rows) {
  Draws draws;
  for (int i = 0; i < m;) {
    const bool whole = i + kTileRows <= m;
    for (int d = 0; d < dim; d += kHalfColumns * kLanes) {
      if (whole)
        half_combine_some<kTileRows, kHalfColumns>(e + i * row_stride, row_stride, column_stride, n, b, dim, rows + i,
                                                   d, draws);
      else
        half_combine_some<1, kHalfColumns>(e + i * row_stride, row_stride, column_stride, n, b, dim, rows + i, d,
                                           draws);
    }
    i += whole ? kTileRows : 1;
  }
}
