// The rows of a matrix that score highest against a query: the exact search behind most_similar.
#pragma once

#include <cstdint>

#include "model/model.h"
#include "senses/byte_rows.h"

namespace muse {

struct SearchOptions {
  std::int64_t top = 10;         // rows wanted for each query, >= 1
  const float* scale = nullptr;  // (rows,) factor on each row's score, or null: 1. One over its length gives cosines
  const std::uint8_t* keep = nullptr;  // (rows,) zero leaves the row out, or null: all rows take part
  int workers = 0;                     // threads; 0 means as many as there are cores
  const ByteRows* bytes = nullptr;     // of the matrix, or of one that begins with it, with the same scale: faster
};

// For each query the `top` rows with the largest inner product times scale, best first, into `rows` and `scores`,
// both (queries.rows, top). Equal scores go by row number, so the answer is the same for any number of threads. A row
// whose score is not a number never appears, and a row's score does not depend on whether there are bytes (then it is
// that of a single query); where fewer rows than `top` qualify, -1 and minus infinity fill the rest.
// Rows may be padded or not, and are only read. queries.dim must equal matrix.dim.
void top_k(const Matrix& matrix, const Matrix& queries, const SearchOptions& options, std::int64_t* rows,
           float* scores);

}  // namespace muse
