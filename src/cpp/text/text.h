// The text format of a corpus: UTF-8, one sentence a line, words between white space, as str.split() of Python has it.
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

/// The ASCII part of what Python's str.split() splits at; any_space() knows the rest. A text may be cut at these
/// bytes.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

/// How many bytes the white space at the start of `text`, which is UTF-8, takes: 0 where another character stands
/// there. White space is what Python's str.split() splits at, beyond ASCII too.
std::size_t any_space(std::string_view text);

/// The first white space of ASCII in [p, end), or `end`. Sets `ascii` to false if other characters may stand before it.
inline const char* find_space(const char* p, const char* end, bool& ascii) {
  if constexpr (std::endian::native == std::endian::little) {
    // Eight bytes at a time: a loop over single bytes costs a mispredicted branch at the end of every word.
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    while (end - p >= 8) {
      std::uint64_t bytes;
      std::memcpy(&bytes, p, sizeof bytes);
      const std::uint64_t low = (bytes - kOnes * (' ' + 1)) & ~bytes & (kOnes << 7);  // marks the first byte <= ' '
      if ((bytes & (kOnes << 7)) != 0) ascii = false;
      if (low == 0) {
        p += 8;
        continue;
      }
      p += std::countr_zero(low) / 8;
      if (is_space(*p)) return p;
      ++p;  // another control character
    }
  }
  for (; p != end && !is_space(*p); ++p) {
    if ((*p & 0x80) != 0) ascii = false;
  }
  return p;
}

/// Calls `on_word` for each word between white space beyond ASCII, without the byte order marks before it, which stand
/// where files were put one behind another.
template <class OnWord>
void split_wide(std::string_view text, OnWord&& on_word) {
  const auto give = [&on_word](std::string_view word) {
    while (word.starts_with(kByteOrderMark)) word.remove_prefix(kByteOrderMark.size());
    if (!word.empty()) on_word(word);
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t space = (text[i] & 0x80) != 0 ? any_space(text.substr(i)) : 0;
    if (space == 0) {
      ++i;
      continue;
    }
    give(text.substr(begin, i - begin));
    begin = i += space;
  }
  give(text.substr(begin));
}

/// Calls `on_word(std::string_view)` for each word of `text`, of those that str.split() gives in Python, and
/// `on_newline()` for each '\n', in their order.
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
    bool ascii = true;
    p = find_space(p, end, ascii);
    const std::string_view word(start, static_cast<std::size_t>(p - start));
    if (ascii)
      on_word(word);
    else
      split_wide(word, on_word);
  }
}

}  // namespace muse
