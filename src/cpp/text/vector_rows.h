// Rows of vector files: a key and numbers, as word2vec and its like write them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace muse {

// What is wrong with a row, as the end of a sentence that starts with the name of the file.
struct RowError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RowFormat {
  bool binary = false;  // little-endian float32 behind "key ", in place of decimal numbers and a line end
  bool keyed = true;    // text: the line starts with a key, which ends at the first space or tab
  bool final = true;    // no text follows; else what may go on is left for the next call
};

struct RowsRead {
  std::int64_t bytes = 0;  // read, and not to be given again
  std::int64_t rows = 0;
  std::int64_t lines = 0;  // line ends among them, of text
};

// Reads rows from `text` into those of `out`, from the first one, until either is used up; `keys`, views into `text`,
// get one entry a row. Empty lines are skipped. `first` is the number, from 1, of the first line (of binary: row), for
// errors. Text is read on `workers` threads.
RowsRead read_rows(std::string_view text, const RowFormat& format, std::int64_t first, int workers, const Matrix& out,
                   std::vector<std::string_view>& keys);

// Puts row order[i] at i for all i, in place. Throws std::invalid_argument unless `order` holds each row number once.
void permute_rows(const Matrix& matrix, std::vector<std::int64_t> order);

}  // namespace muse
