// The kernels of the encoder of contexts: part of kernels.cpp, which includes this within its namespaces, once for each
// instruction set. See kernels.h.

// A Rows x (Vectors * kLanes) block of a slide, at columns from d.
template <int Rows, int Vectors>
inline void slide_tile(const float* a, int positions, const float* const* rows, const int* starts, int d, int dim,
                       float* out) {
  Vector sums[Rows][Vectors] = {};
  const float* const* from[Rows];
  for (int i = 0; i < Rows; ++i) from[i] = rows + starts[i];
  a += d;
  for (int p = 0; p < positions; ++p, a += dim) {
    if (p == positions / 2) continue;
    Vector y[Vectors];
    for (int v = 0; v < Vectors; ++v) y[v] = load(a + v * kLanes);
    for (int i = 0; i < Rows; ++i) {
      const float* row = from[i][p] + d;
      for (int v = 0; v < Vectors; ++v) sums[i][v] += y[v] * load(row + v * kLanes);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) store(out + i * dim + d + v * kLanes, sums[i][v]);
}

// A tile of min(vectors, Vectors) vectors; returns how many.
template <int Rows, int Vectors>
inline int slide_some(const float* a, int positions, const float* const* rows, const int* starts, int d, int dim,
                      float* out) {
  if constexpr (Vectors > 1)
    if ((dim - d) / kLanes < Vectors) return slide_some<Rows, Vectors - 1>(a, positions, rows, starts, d, dim, out);
  slide_tile<Rows, Vectors>(a, positions, rows, starts, d, dim, out);
  return Vectors;
}

template <int Rows>
inline void slide_rows(const float* a, int positions, const float* const* rows, const int* starts, int dim,
                       float* out) {
  int d = 0;
  while (d + kLanes <= dim) d += kLanes * slide_some<Rows, kTileColumns>(a, positions, rows, starts, d, dim, out);
  if (d < dim) slide_tile<Rows, 1>(a, positions, rows, starts, dim - kLanes, dim, out);
}

void slide(const float* a, int positions, const float* const* rows, const int* starts, int n, int dim, float* out) {
  if (dim < kLanes) {
    for (int i = 0; i < n; ++i)
      for (int d = 0; d < dim; ++d) {
        float sum = 0.0f;
        for (int p = 0; p < positions; ++p)
          if (p != positions / 2) sum += a[p * dim + d] * rows[starts[i] + p][d];
        out[i * dim + d] = sum;
      }
    return;
  }
  int i = 0;
  for (; i + kTileRows <= n; i += kTileRows) slide_rows<kTileRows>(a, positions, rows, starts + i, dim, out + i * dim);
  for (; i < n; ++i) slide_rows<1>(a, positions, rows, starts + i, dim, out + i * dim);
}

// Positions x (Vectors * kLanes) of a gradient, at columns from d.
template <int Positions, int Vectors>
inline void slide_gradient_tile(const float* g, const float* const* rows, const int* starts, int n, const int* places,
                                int d, int dim, float* out) {
  Vector sums[Positions][Vectors] = {};
  for (int i = 0; i < n; ++i) {
    Vector y[Vectors];
    for (int v = 0; v < Vectors; ++v) y[v] = load(g + i * dim + d + v * kLanes);
    const float* const* from = rows + starts[i];
    for (int p = 0; p < Positions; ++p) {
      const float* row = from[places[p]] + d;
      for (int v = 0; v < Vectors; ++v) sums[p][v] += y[v] * load(row + v * kLanes);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < Positions; ++p)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      float* to = out + places[p] * dim + d + v * kLanes;
      store(to, load(to) + sums[p][v]);
    }
}

// A tile of min(vectors, Vectors) vectors; returns how many.
template <int Positions, int Vectors>
inline int slide_gradient_some(const float* g, const float* const* rows, const int* starts, int n, const int* places,
                               int d, int dim, float* out) {
  if constexpr (Vectors > 1)
    if ((dim - d) / kLanes < Vectors)
      return slide_gradient_some<Positions, Vectors - 1>(g, rows, starts, n, places, d, dim, out);
  slide_gradient_tile<Positions, Vectors>(g, rows, starts, n, places, d, dim, out);
  return Vectors;
}

template <int Positions>
inline void slide_gradient_rows(const float* g, const float* const* rows, const int* starts, int n, const int* places,
                                int dim, float* out) {
  int d = 0;
  while (d + kLanes <= dim)
    d += kLanes * slide_gradient_some<Positions, kTileColumns>(g, rows, starts, n, places, d, dim, out);
  for (; d < dim; ++d)
    for (int p = 0; p < Positions; ++p)
      for (int i = 0; i < n; ++i) out[places[p] * dim + d] += g[i * dim + d] * rows[starts[i] + places[p]][d];
}

void slide_gradient(const float* g, const float* const* rows, const int* starts, int n, int positions, int dim,
                    float* out) {
  int places[kTileRows], count = 0;
  for (int p = 0; p < positions; ++p) {
    if (p != positions / 2) places[count++] = p;
    if (count == kTileRows) {
      slide_gradient_rows<kTileRows>(g, rows, starts, n, places, dim, out);
      count = 0;
    }
  }
  if (count == 3) slide_gradient_rows<3>(g, rows, starts, n, places, dim, out);
  if (count == 2) slide_gradient_rows<2>(g, rows, starts, n, places, dim, out);
  if (count == 1) slide_gradient_rows<1>(g, rows, starts, n, places, dim, out);
}

void adagrad(const float* gradient, float rate, int count, float* squares, float* values) {
  for (int i = 0; i < count; i += kLanes) {
    const Vector g = load(gradient + i);
    const Vector s = load(squares + i) + g * g;
    Vector root;
    for (int l = 0; l < kLanes; ++l) root[l] = __builtin_sqrtf(s[l]);
    store(squares + i, s);
    store(values + i, load(values + i) + (s > 0.0f ? rate * g / root : Vector{}));
  }
}
