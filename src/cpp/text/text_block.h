// A piece of a file, tokenised and counted by itself, so that many threads can work on one file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/file.h"
#include "text/word_table.h"

namespace muse {

/// Block `i` of a file holds the words that begin, and the newlines that are, in bytes [i, i + 1) * kBytes: a word that
/// crosses the border belongs to the block where it begins, and a line may go on over any number of blocks. So the
/// work is shared evenly whatever the lines are like, one line of gigabytes included.
class TextBlock {
 public:
  static constexpr std::int64_t kBytes = std::int64_t{1} << 21;
  static constexpr std::int32_t kNewline = -1;

  static std::int64_t count_in(const InputFile& file) { return (file.size() + kBytes - 1) / kBytes; }

  /// Throws InvalidText, FileError.
  void read(const InputFile& file, std::int64_t index);

  /// The words of the block with their counts, by order of first occurrence.
  const std::vector<WordEntry>& words() const { return table_.entries(); }
  /// Positions in words(), or kNewline.
  const std::vector<std::int32_t>& tokens() const { return tokens_; }

 private:
  std::string_view load(const InputFile& file, std::int64_t begin, std::int64_t end);

  std::vector<char> bytes_;
  WordTable table_;
  std::vector<std::int32_t> tokens_;
};

}  // namespace muse
