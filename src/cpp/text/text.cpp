#include "text/text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace muse {
namespace {

std::string describe(const std::string& source, std::int64_t line, unsigned char byte) {
  char hex[8];
  std::snprintf(hex, sizeof hex, "0x%02x", byte);
  const std::string from = line == 1 && byte >= 0xFE ? "utf-16" : "cp1252";  // UTF-16 begins with one of these
  return source + ", line " + std::to_string(line) + ": invalid UTF-8 (byte " + hex +
         "); convert the text to UTF-8 first, for example with `iconv -f " + from +
         " -t utf-8`, or read it with muse.LineSentence(path, encoding='" + from + "')";
}

/// Length of the valid multi-byte character at `p`, or 0. The second byte carries all the special cases: its allowed
/// range excludes overlong forms (after E0, F0), surrogates (after ED) and what lies above U+10FFFF (after F4).
std::size_t multibyte_length(const unsigned char* p, std::size_t available) {
  const unsigned char lead = p[0];
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (available < length) return 0;
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (p[1] < low || p[1] > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((p[i] & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

InvalidText::InvalidText(const std::string& source, std::int64_t line, unsigned char byte)
    : std::invalid_argument(describe(source, line, byte)) {}

std::size_t find_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t size = text.size();
  std::size_t i = 0;
  while (i < size) {
    if (i + 8 <= size) {  // most text is ASCII: eight bytes at a time
      std::uint64_t word;
      std::memcpy(&word, bytes + i, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        i += 8;
        continue;
      }
    }
    if (bytes[i] < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = multibyte_length(bytes + i, size - i);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::size_t any_space(std::string_view text) {
  const char first = text.front();
  if (is_space(first)) return 1;
  if (text.starts_with("\xC2\x85") || text.starts_with("\xC2\xA0")) return 2;  // U+0085, U+00A0
  if (text.starts_with("\xE2\x80") && text.size() > 2) {
    const auto last = static_cast<unsigned char>(text[2]);  // U+2000 to U+200A, U+2028, U+2029, U+202F
    return last <= 0x8A || last == 0xA8 || last == 0xA9 || last == 0xAF ? 3 : 0;
  }
  for (const char* other : {"\xE1\x9A\x80", "\xE2\x81\x9F", "\xE3\x80\x80"})  // U+1680, U+205F, U+3000
    if (text.starts_with(other)) return 3;
  return 0;
}

std::int64_t count_newlines(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace muse
