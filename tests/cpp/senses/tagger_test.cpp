#include "senses/tagger.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "text/text.h"

namespace {

// Two words with two senses and one with one; the context of a word is its neighbours.
struct Fixture {
  std::vector<float> p = {1, 0, 0, 1, -1, -1}, q = {2, 0, 0, 2, 1, 0, -1, 0, 0, 0};
  std::vector<std::int64_t> offset = {0, 2, 4, 5};
  muse::SelectorParts parts;

  Fixture() {
    parts.model.context = {p.data(), 3, 2, 2};
    parts.model.selection = {q.data(), 5, 2, 2};
    parts.model.sense_offset = offset.data();
    parts.model.num_words = 3;
    parts.options.window = 2;
    parts.options.distance = {0.0f, 1.0f, 1.0f};  // a word is no context of its own
  }

  muse::Tagger tagger() const {
    muse::Tagger tagger(parts);
    for (const char* word : {"bank", "river", "the"}) tagger.add_word(word);
    return tagger;
  }
};

}  // namespace

TEST_CASE("tag: senses behind known words, and all else as it was") {
  const Fixture fixture;
  const muse::Tagger tagger = fixture.tagger();
  CHECK(tagger.id("river") == 1);
  CHECK(tagger.id("riven") == -1);
  const auto tag = [&](const std::string& text, float margin = 0.0f) {
    return tagger.tag(text, "#", margin, 2, "text", 1).text;
  };
  CHECK(tag("") == "");
  CHECK(tag("bank") == "bank#0");  // nothing around it: a tie, which goes to the first
  CHECK(tag("  bank\t river\r\n\nxyzzy bank\n") == "  bank#1\t river#0\r\n\nxyzzy bank#0\n");
  CHECK(tag("bank", 0.1f) == "bank");  // a tie has no margin
  CHECK(tag("the", 1.0f) == "the#0");  // one sense: nothing to be unsure of
  const muse::TaggedText counted = tagger.tag("bank xyzzy the\n", "#", 0.0f, 1, "text", 1);
  CHECK(counted.tokens == 3);
  CHECK(counted.tagged == 2);
}

TEST_CASE("tag: the same for any number of workers, over pieces and lines of any length") {
  const Fixture fixture;
  const muse::Tagger tagger = fixture.tagger();
  std::mt19937 generator(1);
  const std::vector<std::string> words = {"bank", "river", "the", "xyzzy", "\xc3\xa4"};
  std::string text;
  for (int i = 0; i < 200000; ++i) {
    text += words[generator() % words.size()];
    text += generator() % 12 == 0 && i > 100000 ? '\n' : ' ';  // the first line is longer than a piece
  }
  const std::string one = tagger.tag(text, "#", 0.0f, 1, "text", 1).text;
  CHECK(one == tagger.tag(text, "#", 0.0f, 3, "text", 1).text);
  std::string bare;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (one[i] == '#')
      ++i;
    else
      bare += one[i];
  CHECK(bare == text);
}

TEST_CASE("tag: text that is not UTF-8 is refused with its line") {
  const Fixture fixture;
  const muse::Tagger tagger = fixture.tagger();
  CHECK_THROWS_WITH_AS(tagger.tag("bank\nthe \xff\n", "#", 0.0f, 1, "text.txt", 41),
                       doctest::Contains("text.txt, line 42: invalid UTF-8 (byte 0xff)"), muse::InvalidText);
}
