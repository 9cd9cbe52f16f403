// The text format of a corpus: UTF-8, one sentence a line, words between ASCII white space.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muse {

/// Text that is not UTF-8. The message names the source, the line and the byte, and says what to do.
class InvalidText : public std::invalid_argument {
 public:
  InvalidText(const std::string& source, std::int64_t line, unsigned char byte);
};

/// Where `text` stops being UTF-8 (overlong forms, surrogates and code points above U+10FFFF are invalid, and so is a
/// character cut off at the end), or npos.
std::size_t find_invalid_utf8(std::string_view text);

/// How many newlines `text` holds.
std::int64_t count_newlines(std::string_view text);

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// What Python's bytes.split() splits at. Everything else belongs to a word, NUL and U+00A0 included: which of those
/// separate words is for the user's own tokeniser to say.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The first white space in [p, end), or `end`.
inline const char* find_space(const char* p, const char* end) {
  if constexpr (std::endian::native == std::endian::little) {
    // Eight bytes at a time: a loop over single bytes costs a mispredicted branch at the end of every word.
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    while (end - p >= 8) {
      std::uint64_t bytes;
      std::memcpy(&bytes, p, sizeof bytes);
      const std::uint64_t low = (bytes - kOnes * (' ' + 1)) & ~bytes & (kOnes << 7);  // marks the first byte <= ' '
      if (low == 0) {
        p += 8;
        continue;
      }
      p += std::countr_zero(low) / 8;
      if (is_space(*p)) return p;
      ++p;  // another control character
    }
  }
  while (p != end && !is_space(*p)) ++p;
  return p;
}

/// Calls `on_word(std::string_view)` for each word of `text` and `on_newline()` for each '\n', in their order.
template <class OnWord, class OnNewline>
void split_words(std::string_view text, OnWord&& on_word, OnNewline&& on_newline) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    if (is_space(*p)) {
      if (*p == '\n') on_newline();
      ++p;
      continue;
    }
    const char* const start = p;
    p = find_space(p, end);
    on_word(std::string_view(start, static_cast<std::size_t>(p - start)));
  }
}

/// How many bytes the white space at the start of `text`, which is UTF-8, takes: 0 where another character stands
/// there. White space is what Python's str.split() splits at, beyond ASCII too.
std::size_t any_space(std::string_view text);

/// Calls `on_word(std::string_view)` for each word of `text` between such white space.
template <class OnWord>
void split_at_any_space(std::string_view text, OnWord&& on_word) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size();) {
    const std::size_t space = i < text.size() ? any_space(text.substr(i)) : 1;
    if (space > 0 && i > begin) on_word(text.substr(begin, i - begin));
    i += space > 0 ? space : 1;
    if (space > 0) begin = i;
  }
}

}  // namespace muse
