// Many threads over one file, with a result that does not depend on their number.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>

#include "text/corpus_encoder.h"
#include "text/file.h"

namespace muse {

/// Workers take the blocks of the file in order, tokenise them side by side, and add them to the encoder in order.
class FileScan {
 public:
  FileScan(InputFile file, CorpusEncoder& encoder);

  /// False when `progress` stopped it. The first error in file order is thrown, whatever happened first in time.
  bool run(int workers, const ByteProgress& progress);

 private:
  void work();
  bool take(std::int64_t& index);
  bool add_in_turn(std::int64_t index, const TextBlock& block, std::exception_ptr error);
  bool watch(const ByteProgress& progress);
  void stop();

  InputFile file_;
  CorpusEncoder& encoder_;
  std::int64_t n_blocks_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::int64_t next_ = 0;   // the block that the next free worker takes
  std::int64_t added_ = 0;  // blocks in the encoder
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace muse
