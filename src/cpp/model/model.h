// The model's matrices, as views over memory that somebody else owns (in Python: numpy arrays).
//
// V words, Z senses in all, S selection size, D vector size. Senses of word i are rows sense_offset[i] to
// sense_offset[i + 1]. The paper's symbols: P, Q select senses; U, V represent them.
#pragma once

#include <cstdint>
#include <span>

#include "math/padding.h"

namespace muse {

// A row-major float matrix whose rows may be padded. Training needs rows padded to kRowPad; reading does not.
struct Matrix {
  float* data = nullptr;
  std::int64_t rows = 0;
  int dim = 0;              // columns that mean something
  std::int64_t stride = 0;  // floats from one row to the next

  float* row(std::int64_t i) const { return data + i * stride; }
  bool empty() const { return data == nullptr; }
  int padded_dim() const { return padded(dim); }
};

struct Model {
  Matrix context;                              // P (V, S): word-level input of the selection module
  Matrix selection;                            // Q (Z, S): sense-level output of the selection module
  Matrix sense;                                // U (Z, D): input sense vectors, what users want
  Matrix collocation;                          // V (Z, D), or (V, D) when collocates are words (extension)
  Matrix forward;                              // (V, S) state values of the factorised formulation, else empty
  Matrix backward;                             // (V, S)
  const std::int64_t* sense_offset = nullptr;  // (V + 1,)
  std::int64_t num_words = 0;

  std::int64_t num_senses() const { return sense_offset[num_words]; }
  int senses_of(std::int64_t word) const { return static_cast<int>(sense_offset[word + 1] - sense_offset[word]); }
  bool word_collocation() const { return collocation.rows == num_words; }
  // The row of V for a word in one of its senses (local number).
  float* collocation_row(std::int64_t word, int sense) const {
    return collocation.row(word_collocation() ? word : sense_offset[word] + sense);
  }
};

// Whether `sense_offset` says of each of `num_words` words which senses it has: throws std::invalid_argument if it does
// not begin at 0, has not one number more than there are words, or leaves a word without a sense.
void check_senses(std::span<const std::int64_t> sense_offset, std::int64_t num_words);

}  // namespace muse
