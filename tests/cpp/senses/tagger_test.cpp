#include "senses/tagger.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
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

TEST_CASE("tagger: each word has one number, also one that no text can hold") {
  const Fixture fixture;
  muse::Tagger tagger = fixture.tagger();
  CHECK(tagger.num_words() == 3);
  CHECK_THROWS_WITH_AS(tagger.add_word("river"), "a word stands twice", std::invalid_argument);
  tagger.add_no_word();
  tagger.add_no_word();
  CHECK(tagger.num_words() == 5);
  tagger.add_word("last");
  CHECK(tagger.id("last") == 5);
}

TEST_CASE("tagger: words of a sentence lie between white space, of a known word too") {
  const Fixture fixture;
  muse::Tagger tagger = fixture.tagger();
  tagger.add_word(
      "the\xc2\xa0"
      "bank");  // U+00A0 inside a known word
  const auto read = [&](std::string_view sentence) {
    std::vector<std::int32_t> ids;
    tagger.read(sentence, ids);
    return ids;
  };
  using Ids = std::vector<std::int32_t>;
  CHECK(read("") == Ids{});
  CHECK(read(" the\t bank \n") == Ids{2, 0});
  CHECK(read("the\xc2\xa0"
             "bank") == Ids{2, 0});
  CHECK(read("the\xc2\xa0river xyzzy") == Ids{2, 1, -1});
  CHECK(read("\xe3\x80\x80river\xe2\x80\xa8\x1f"
             "bank\x1c") == Ids{1, 0});
  CHECK(read("\xc2\xa0") == Ids{});
  CHECK(read("xyzzy\xed\xb2\x80") == Ids{-1});
}

TEST_CASE("tagger: senses of tokens, each in the context of the known ones") {
  const Fixture fixture;
  const muse::Tagger tagger = fixture.tagger();
  const std::vector<std::int32_t> ids = {0, -1, 1, -1, -1, 2, 0};
  const std::vector<std::int64_t> offsets = {0, 4, 4, 7};
  const muse::TokenSenses found = tagger.select_tokens(ids, offsets, 2);
  CHECK(found.sense == std::vector<std::int32_t>{1, -1, 0, -1, -1, 0, 0});
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK((found.probability[i] > 0.0f) == (ids[i] >= 0));
  CHECK(found.margin[5] == 1.0f);
}

TEST_CASE("tag: text that is not UTF-8 is refused with its line") {
  const Fixture fixture;
  const muse::Tagger tagger = fixture.tagger();
  CHECK_THROWS_WITH_AS(tagger.tag("bank\nthe \xff\n", "#", 0.0f, 1, "text.txt", 41),
                       doctest::Contains("text.txt, line 42: invalid UTF-8 (byte 0xff)"), muse::InvalidText);
}
