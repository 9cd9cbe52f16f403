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

/// The ASCII part of what Python's str.split() splits at; wide_space_at() is the rest. A text may be cut at these
/// bytes.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

/// Bytes of the white space beyond ASCII that begins at `p`, of which Python's str.split() knows 19; 0: there is none.
inline std::size_t wide_space_at(const char* p, const char* end) {
  const auto byte = [p](int i) { return static_cast<unsigned char>(p[i]); };
  if (end - p >= 2 && byte(0) == 0xC2) return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
  if (end - p < 3) return 0;
  if (byte(0) == 0xE1) return byte(1) == 0x9A && byte(2) == 0x80 ? 3 : 0;
  if (byte(0) == 0xE3) return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;
  if (byte(0) != 0xE2) return 0;
  if (byte(1) == 0x81) return byte(2) == 0x9F ? 3 : 0;
  const unsigned char last = byte(2);
  return byte(1) == 0x80 && (last <= 0x8A || last == 0xA8 || last == 0xA9 || last == 0xAF) ? 3 : 0;
}

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
  const char* p = text.data();
  const char* const end = p + text.size();
  const char* start = p;
  const auto give = [&start, &on_word](const char* stop) {
    std::string_view word(start, static_cast<std::size_t>(stop - start));
    while (word.starts_with(kByteOrderMark)) word.remove_prefix(kByteOrderMark.size());
    if (!word.empty()) on_word(word);
  };
  while (p != end) {
    const std::size_t space = (*p & 0x80) != 0 ? wide_space_at(p, end) : 0;
    if (space == 0) {
      ++p;
      continue;
    }
    give(p);
    p += space;
    start = p;
  }
  give(end);
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
