// The dense arithmetic under a training step, as a table of functions that is compiled once per instruction set
// (kernels.cpp) and chosen at run time (dispatch.cpp).
//
// Conventions: `dim` is a multiple of kRowPad and rows hold zeros beyond the model's dimension; scratch panels are
// row-major with stride dim and 64-byte aligned; model rows come as pointers. No function allocates.
#pragma once

#include <cstdint>

#include "math/padding.h"

namespace muse {

inline constexpr int kSecondCache = 2;  // where a row is asked to that is read soon, but not at once

inline constexpr int kLargestByteQuery = 127 * 256 + 127;  // two bytes with signs

// A vector that is compared with rows of bytes, and what its products stand for.
struct ByteQuery {
  // (dim,), zeros behind its end, none beyond ±kLargestByteQuery; |numbers · row| stays below 2^31 for any row
  const std::int16_t* numbers;
  float unit;    // of a product
  float length;  // of the vector itself
};

struct Kernels {
  const char* name;

  // Copies `count` rows into the panel.
  void (*gather)(const float* const* rows, int count, int dim, float* panel);
  // rows[i] += scale * panel[i]. Rows may repeat. Hogwild: the only writes to shared model rows (see train.h).
  void (*scatter_add)(float* const* rows, int count, int dim, const float* panel, float scale);
  // out(i, j) = a_i · b_j for a (m, dim), b (n, dim); rows of out are out_stride floats apart.
  void (*scores)(const float* a, int m, const float* b, int n, int dim, float* out, int out_stride);
  // out[j] = x · rows[j]: scores against rows where they lie, for any dim.
  void (*score_rows)(const float* x, const float* const* rows, int count, int dim, float* out);
  // out (m, dim) = Σ_j e(i, j) b_j, with e(i, j) = e[i * row_stride + j * column_stride], b (n, dim).
  void (*combine)(const float* e, int row_stride, int column_stride, int m, int n, const float* b, int dim, float* out);
  // The same with b_j = rows[j] where they lie, for any dim; rows of e are n apart, those of out out_stride. Meanwhile
  // the memory is asked for up to n / 2 other rows, next[j].
  void (*blend)(const float* e, int m, int n, const float* const* rows, int dim, float* out, int out_stride,
                const float* const* next, int next_count);
  // rows[i] += Σ_j e(i, j) b_j. Rows may repeat. Hogwild.
  void (*combine_add)(const float* e, int row_stride, int column_stride, int m, int n, const float* b, int dim,
                      float* const* rows);
  // sum += Σ_j e[j] rows[j], then rows[j] += e[j] x: both sides of one target's step in one pass over its rows, which
  // must be different ones. Meanwhile the memory is asked for as many other rows, next[j]. Hogwild.
  void (*step_rows)(const float* x, const float* e, float* const* rows, const float* const* next, int count, int dim,
                    float* sum);
  // out_i = 1 / (1 + exp(-x_i)), absolute error below 1e-6; in place allowed. Reads and writes up to a multiple of 16.
  void (*sigmoid)(const float* x, int count, float* out);
  // x · y and y += a x, for any dim: reading works on unpadded rows, such as those of a memory-mapped file.
  float (*dot)(const float* x, const float* y, int dim);
  void (*axpy)(float a, const float* x, float* y, int dim);
  // y += a x for rows. Meanwhile the memory is asked for another one, next. Hogwild.
  void (*add_row)(float a, const float* x, float* y, const float* next, int dim);
  // out_i = Σ_p a_p ∘ rows[starts[i] + p] over the `positions` rows of the panel a, for any dim (a and out with stride
  // dim): each target is the sum of the rows around it, weighted column by column by where they stand. The middle one
  // of an odd number of positions is that of the target itself, which takes no part.
  void (*slide)(const float* a, int positions, const float* const* rows, const int* starts, int n, int dim, float* out);
  // out_p += Σ_i g_i ∘ rows[starts[i] + p], the gradient of that sum with respect to a; g (n, dim), out (positions,
  // dim).
  void (*slide_gradient)(const float* g, const float* const* rows, const int* starts, int n, int positions, int dim,
                         float* out);
  // squares += gradient², then values += rate gradient / sqrt(squares), for `count` numbers, a multiple of kRowPad.
  // Where squares stay 0 values stay too. Hogwild.
  void (*adagrad)(const float* gradient, float rate, int count, float* squares, float* values);
  // Numbers between -1 and 1 in 16 bits each, at most 2^-16 off, and back.
  void (*shorten)(const float* x, int count, std::int16_t* out);
  void (*lengthen)(const std::int16_t* x, int count, float* out);
  // Which of `count` rows of bytes, dim apart, a multiple of kBytePad, have (x · row) x.unit scale[j] + x.length
  // slack[j] not below `least`, as where that is no number: their numbers rise in found (count,), whose length is
  // returned.
  int (*likely_rows)(const ByteQuery& x, const std::int8_t* rows, const float* scale, const float* slack, int count,
                     int dim, float least, int* found);
};

// All there are, on any processor; those of one processor from the least to the best. What the arm64 ones need beside
// what every such processor has: the dot products of Armv8.2, and vectors of so many bits by SVE.
inline constexpr const char* kKernelNames[] = {"baseline", "avx2", "avx512", "neon", "dotprod", "sve256", "sve512"};

// The best table that this processor can run, or the one that the environment variable MUSE_ISA names
// (one of kKernelNames); throws std::runtime_error when that one is unknown or cannot run here.
const Kernels& kernels();

// A table by name, or nullptr when it is not in this build or cannot run here.
const Kernels* find_kernels(const char* name);

}  // namespace muse
