#include "text/text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

std::string utf8(unsigned point) {  // below U+10000
  const auto byte = [](unsigned x) { return static_cast<char>(x); };
  const char last = byte(0x80 | (point & 0x3F));
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | point >> 6), last};
  return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)), last};
}

}  // namespace

TEST_CASE("text: white space is what Python's str.isspace says, and nothing else") {
  std::vector<unsigned> found;
  for (unsigned point = 0; point < 0x10000; ++point) {
    if (point >= 0xD800 && point < 0xE000) continue;
    const std::string character = utf8(point);
    REQUIRE(muse::find_invalid_utf8(character) == std::string_view::npos);
    const std::size_t length = muse::any_space(character);
    CHECK((length == 0 || length == character.size()));
    if (length > 0) found.push_back(point);
  }
  CHECK(found == std::vector<unsigned>{0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
                                       0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
                                       0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000});
}

TEST_CASE("text: words between any white space") {
  const auto split = [](std::string_view text) {
    std::vector<std::string> words;
    muse::split_words(
        text, [&](std::string_view word) { words.emplace_back(word); }, [] {});
    return words;
  };
  using Words = std::vector<std::string>;
  CHECK(split("") == Words{});
  CHECK(split("\xe3\x80\x80") == Words{});
  CHECK(split("a") == Words{"a"});
  CHECK(split("\xc2\xa0"
              "a\xe2\x80\x89\x1f"
              "bc\xc2\x85") == Words{"a", "bc"});
  CHECK(split("\xc3\xa0\xc2") == Words{"\xc3\xa0\xc2"});  // cut off: no white space, and nothing beyond is read
  CHECK(split("a\xe2\x80") == Words{"a\xe2\x80"});
}
