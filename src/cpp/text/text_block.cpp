#include "text/text_block.h"

#include <algorithm>

#include "text/text.h"

namespace muse {
namespace {

/// Bytes read at a time while the last word of a block has not ended.
constexpr std::int64_t kOverhang = std::int64_t{1} << 16;

[[noreturn]] void throw_invalid(const InputFile& file, std::int64_t position, char byte) {
  std::int64_t line = 1;
  std::vector<char> before(static_cast<std::size_t>(std::min(position, TextBlock::kBytes)));
  for (std::int64_t at = 0; at < position; at += TextBlock::kBytes) {
    const auto size = static_cast<std::size_t>(std::min(position - at, TextBlock::kBytes));
    file.read(at, std::span(before).first(size));
    line += count_newlines({before.data(), size});
  }
  throw InvalidText(file.path(), line, static_cast<unsigned char>(byte));
}

}  // namespace

/// The bytes of the words and newlines that belong to the block [begin, end).
std::string_view TextBlock::load(const InputFile& file, std::int64_t begin, std::int64_t end) {
  const std::int64_t from = begin > 0 ? begin - 1 : 0;  // one byte more tells whether a word goes on at `begin`
  bytes_.resize(static_cast<std::size_t>(end - from));
  file.read(from, bytes_);

  auto first = bytes_.begin();
  if (begin > 0) {
    first = std::find_if(bytes_.begin(), bytes_.end(), is_space);
    if (first == bytes_.end()) return {};  // in the middle of a word that began in an earlier block
  }
  // The white space before `begin` is not ours, that after the end of an earlier block's word is.
  const auto skipped = static_cast<std::size_t>(begin > 0 ? std::max<std::ptrdiff_t>(1, first - bytes_.begin()) : 0);

  std::int64_t at = end;
  auto last = is_space(bytes_.back()) ? bytes_.end() - 1 : bytes_.end();
  while (last == bytes_.end() && at < file.size()) {
    const std::size_t old_size = bytes_.size();
    bytes_.resize(old_size + static_cast<std::size_t>(std::min(kOverhang, file.size() - at)));
    file.read(at, std::span(bytes_).subspan(old_size));
    at += static_cast<std::int64_t>(bytes_.size() - old_size);
    last = std::find_if(bytes_.begin() + static_cast<std::ptrdiff_t>(old_size), bytes_.end(), is_space);
  }
  auto size = static_cast<std::size_t>(last - bytes_.begin());
  if (last != bytes_.end() && at == end) ++size;  // the white space at the end is ours; beyond `end` it is not
  return std::string_view(bytes_.data(), size).substr(skipped);
}

void TextBlock::read(const InputFile& file, std::int64_t index) {
  table_.clear();
  tokens_.clear();
  const std::int64_t begin = index * kBytes;
  const std::string_view text = load(file, begin, std::min(begin + kBytes, file.size()));

  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    const std::int64_t from = begin > 0 ? begin - 1 : 0;
    throw_invalid(file, from + (text.data() - bytes_.data()) + static_cast<std::int64_t>(bad), text[bad]);
  }
  split_words(
      text,
      [this](std::string_view word) {
        const std::int32_t position = table_.find_or_add(word, WordTable::hash(word));
        ++table_[position].count;
        tokens_.push_back(position);
      },
      [this] { tokens_.push_back(kNewline); });
}

}  // namespace muse
