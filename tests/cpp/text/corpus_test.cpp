#include "text/corpus.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "text/corpus_encoder.h"
#include "text/file.h"
#include "text/spill.h"
#include "text/text.h"
#include "text/text_block.h"
#include "text/word_table.h"

using namespace muse;
using namespace std::string_literals;

namespace {

/// What came out of an encoder, in a form that can be compared.
struct Result {
  std::vector<std::string> words;
  std::vector<std::int64_t> counts;
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
  bool operator==(const Result&) const = default;
};

Result result_of(CorpusEncoder& encoder) {
  Result result;
  for (const WordEntry& entry : encoder.words()) {
    result.words.emplace_back(entry.word());
    result.counts.push_back(entry.count);
  }
  std::vector<std::int32_t> identity(result.words.size());
  std::iota(identity.begin(), identity.end(), 0);
  const Corpus corpus = encoder.finish(identity);
  result.tokens.assign(corpus.tokens().begin(), corpus.tokens().end());
  result.offsets.assign(corpus.offsets().begin(), corpus.offsets().end());
  return result;
}

Result from_text(const std::string& text, std::size_t chunk = std::string::npos, CorpusEncoderOptions options = {}) {
  CorpusEncoder encoder(std::move(options));
  for (std::size_t i = 0; i < text.size(); i += std::min(chunk, text.size())) {
    encoder.add_text(std::string_view(text).substr(i, chunk), "text");
  }
  return result_of(encoder);
}

class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("muse_test_" + std::to_string(::getpid()) + ".txt")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Result from_file(const std::string& text, int workers, CorpusEncoderOptions options = {}) {
  const TextFile file(text);
  CorpusEncoder encoder(std::move(options));
  const bool complete = encoder.add_file(file.path(), workers, {});
  CHECK(complete);
  return result_of(encoder);
}

/// Lines of varied length over words of all byte lengths, a few of them blank or ending in CR.
std::string varied_text(std::size_t bytes) {
  const std::vector<std::string> letters = {"a", "b", "é", "ж", "日", "😀"};
  std::string text;
  std::uint64_t state = 1;
  const auto below = [&state](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  while (text.size() < bytes) {
    for (auto words = below(30); words > 0; --words) {
      for (auto length = 1 + below(4); length > 0; --length) text += letters[below(letters.size())];
      text += below(9) == 0 ? "\t " : " ";
    }
    text += below(5) == 0 ? "\r\n" : "\n";
  }
  return text;
}

template <class Error, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a corpus checks the arrays that it is made of") {
  const Corpus corpus({4, 5, 6}, {0, 2, 3});
  CHECK(corpus.n_tokens() == 3);
  CHECK(corpus.n_sentences() == 2);
  CHECK(corpus.raw_tokens() == 3);
  CHECK(Corpus().n_sentences() == 0);
  CHECK_THROWS_AS(Corpus({1, 2}, {0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(Corpus({1, 2}, {1, 2}), std::invalid_argument);
  CHECK_THROWS_AS(Corpus({1, 2}, {0, 2, 1, 2}), std::invalid_argument);
  CHECK_THROWS_AS(Corpus({1, -2}, {0, 2}), std::invalid_argument);
  CHECK_THROWS_AS(Corpus({}, {}), std::invalid_argument);
}

TEST_CASE("a copy of a corpus keeps the memory alive") {
  Corpus copy;
  {
    const Corpus corpus({1, 2, 3}, {0, 3});
    copy = corpus;
  }
  CHECK(copy.tokens()[2] == 3);
}

TEST_CASE("UTF-8: what is valid and where it is not") {
  for (const std::string& valid : {""s, "plain ascii text"s, "\x00"s, "é"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s,
                                   "\xF4\x8F\xBF\xBF"s, "\xF0\x90\x80\x80"s, "e\xCC\x81"s, "👩‍👩‍👧"s}) {
    CHECK(find_invalid_utf8(valid) == std::string::npos);
    CHECK(find_invalid_utf8("eight---" + valid + "eight---") == std::string::npos);
  }
  for (const std::string& invalid :
       {"\x80"s, "\xC0\x80"s, "\xC1\xBF"s, "\xE0\x9F\xBF"s, "\xED\xA0\x80"s, "\xF0\x8F\xBF\xBF"s, "\xF4\x90\x80\x80"s,
        "\xF5\x80\x80\x80"s, "\xFF"s, "\xC3"s, "\xE6\x97"s, "\xF0\x9F\x98"s, "\xE6\x97 "s, "\xF0\x9F\x98q"s}) {
    for (std::size_t shift = 0; shift < 17; ++shift) {
      CHECK(find_invalid_utf8(std::string(shift, 'x') + invalid) == shift);
      CHECK(find_invalid_utf8(std::string(shift, 'x') + invalid + " and more text") == shift);
    }
  }
}

TEST_CASE("a word table finds what it was given, through growth and pruning") {
  WordTable table;
  const auto word = [](int i) { return std::string(static_cast<std::size_t>(i % 23), 'x') + std::to_string(i); };
  const auto position = [&table](const std::string& w) { return table.find(w, WordTable::hash(w)); };
  for (int i = 0; i < 20'000; ++i) {
    const std::string w = word(i);
    REQUIRE(table.find_or_add(w, WordTable::hash(w)) == i);
    table[i].count = i;
  }
  for (int i = 0; i < 20'000; ++i) REQUIRE(position(word(i)) == i);
  CHECK(position("absent") == -1);
  CHECK(position("") == -1);

  table.prune([](const WordEntry& entry) { return entry.count % 3 == 0; });
  CHECK(table.size() == 6667);
  CHECK(position(word(3)) == 1);
  CHECK(position(word(4)) == -1);
  CHECK(table[position(word(9))].id == 9);
  const std::string w = word(4);
  const std::int32_t again = table.find_or_add(w, WordTable::hash(w));
  CHECK(table[again].id == 20'000);  // ids are never given twice
  CHECK(table[again].count == 0);
}

TEST_CASE("a spill array is the same in memory and in a file") {
  for (const std::int64_t budget : {0, 1, 64, 40'000, 1 << 30}) {
    SpillArray<std::int32_t> array(budget, "");
    for (std::int32_t i = 0; i < 700'000; ++i) array.push_back(i);
    CHECK(array.spilled() == (budget > 0 && budget < 2'800'000));
    const auto old = array.contents();
    REQUIRE(old.size() == 700'000);
    array.rewind();
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < old.size(); ++i) {
      wrong += old[i] != static_cast<std::int32_t>(i);
      if (i % 2 == 1) array.push_back(old[i]);
    }
    CHECK(wrong == 0);
    const auto halved = array.contents();
    REQUIRE(halved.size() == 350'000);
    for (std::size_t i = 0; i < halved.size(); ++i) wrong += halved[i] != static_cast<std::int32_t>(2 * i + 1);
    CHECK(wrong == 0);
    array.rewind();
    CHECK(array.contents().empty());
  }
}

TEST_CASE("a spill directory that cannot be used is named") {
  const std::string message = message_of<FileError>([] {
    from_text("a b c", 1,
              {.vocabulary = {},
               .max_vocab_size = 0,
               .keep_rule = {},
               .max_ram = 1,
               .spill_directory = "/no/such/directory"});
  });
  CHECK(contains(message, "/no/such/directory"));
  CHECK(contains(message, "No such file"));
}

TEST_CASE("words, sentences and white space") {
  const Result result = from_text("a b\n\n \t\r\n b\va\f c \r\nlast line", 1);
  CHECK(result.words == std::vector<std::string>{"a", "b", "c", "last", "line"});
  CHECK(result.counts == std::vector<std::int64_t>{2, 2, 1, 1, 1});
  CHECK(result.tokens == std::vector<std::int32_t>{0, 1, 1, 0, 2, 3, 4});
  CHECK(result.offsets == std::vector<std::int64_t>{0, 2, 5, 7});
  CHECK(from_text("a\0b \xC2\xA0 c\x1F"s).words == std::vector<std::string>{"a\0b"s, "c"});
  CHECK(from_text("\xEF\xBB\xBF"
                  "a a",
                  1)
            .words == std::vector<std::string>{"a"});
  CHECK(from_file("\xEF\xBB\xBF"
                  "a a",
                  1)
            .words == std::vector<std::string>{"a"});
  for (const std::string& empty : {""s, "\n"s, " \n\r\n\t"s, "\xEF\xBB\xBF"s}) {
    CHECK(from_text(empty).offsets == std::vector<std::int64_t>{0});
    CHECK(from_file(empty, 2).offsets == std::vector<std::int64_t>{0});
  }
}

TEST_CASE("white space is what str.split() knows, and byte order marks begin no word") {
  const std::vector<std::string> spaces = {
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x8A", "\xE2\x80\xA8",
      "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80", "\x1C",         "\x1F",
  };
  for (const std::string& space : spaces) {
    for (const std::string& pad : {""s, "12345678"s}) {
      const std::string text = pad + "a" + space + space + "b" + pad + space + "\n" + space + "c";
      const std::vector<std::string> words = {pad + "a", "b" + pad, "c"};
      CHECK(from_text(text).words == words);
      CHECK(from_text(text, 1).words == words);
      CHECK(from_file(text, 2).words == words);
      CHECK(from_text(text).offsets == std::vector<std::int64_t>{0, 2, 3});
    }
  }
  // Next to white space in the table of Unicode, and none: U+0084, U+00A1, U+1681, U+200B, U+202A, U+2060, U+3001.
  for (const std::string& letter : {"\xC2\x84"s, "\xC2\xA1"s, "\xE1\x9A\x81"s, "\xE2\x80\x8B"s, "\xE2\x80\xAA"s,
                                    "\xE2\x81\xA0"s, "\xE3\x80\x81"s}) {
    CHECK(from_text("a" + letter + "b").words == std::vector<std::string>{"a" + letter + "b"});
  }
  const std::string mark(kByteOrderMark);
  CHECK(from_text(mark + mark + "a\n" + mark + "a " + mark + "\n" + mark + " a\n").words ==
        std::vector<std::string>{"a"});
  CHECK(from_text(mark + mark + "a", 1).words == std::vector<std::string>{"a"});
  CHECK(from_text("a" + mark).words == std::vector<std::string>{"a" + mark});
}

TEST_CASE("chunks of any size, files and any number of workers give the same") {
  const std::string text = varied_text(5'000'000);  // three blocks
  const Result expected = from_text(text);
  CHECK(expected.tokens.size() > 500'000);
  CHECK(from_text(text, 4093) == expected);
  CHECK(from_text(varied_text(20'000), 1) == from_text(varied_text(20'000)));
  for (const int workers : {1, 2, 3, 4}) CHECK(from_file(text, workers) == expected);
  CHECK(from_file(text, 2,
                  {.vocabulary = {}, .max_vocab_size = 0, .keep_rule = {}, .max_ram = 1000, .spill_directory = ""}) ==
        expected);
}

TEST_CASE("words, white space and newlines at the border of two blocks") {
  const std::string around[] = {"one two", "one\ntwo", "\n\n\n", "   ", "longwordacrosstheborder", "日本語日本語"};
  for (const std::string& piece : around) {
    for (std::size_t shift = 0; shift <= piece.size(); ++shift) {
      std::string text(static_cast<std::size_t>(TextBlock::kBytes) - shift, ' ');
      for (std::size_t i = 0; i + 1 < text.size(); i += 1000) text[i] = 'x';
      text += piece + " end\nof text";
      REQUIRE(from_file(text, 2) == from_text(text));
    }
  }
}

TEST_CASE("a word longer than blocks, and one line of many blocks") {
  const std::string giant(static_cast<std::size_t>(TextBlock::kBytes) * 2 + 77, 'w');
  const Result result = from_file("a " + giant + " b\nc", 3);
  CHECK(result.words == std::vector<std::string>{"a", giant, "b", "c"});
  CHECK(result.offsets == std::vector<std::int64_t>{0, 3, 4});

  std::string line;
  while (line.size() < static_cast<std::size_t>(TextBlock::kBytes) * 3) line += "so many words ";
  CHECK(from_file(line, 3).offsets.size() == 2);
  CHECK(from_file(line, 3) == from_text(line, 100'000));
}

TEST_CASE("invalid UTF-8 names the source and the line, wherever it is") {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::string::npos}) {
    const auto broken = [chunk] { from_text("fine\nfine too\n\nb\xE6\x97 d\nfine", chunk); };
    CHECK(contains(message_of<InvalidText>(broken), "text, line 4: invalid UTF-8 (byte 0xe6)"));
    const auto cut = [chunk] { from_text("fine\ncut \xF0\x9F\x98", chunk); };
    CHECK(contains(message_of<InvalidText>(cut), "text, line 2: invalid UTF-8 (byte 0xf0)"));
  }
  std::string text(static_cast<std::size_t>(TextBlock::kBytes) * 2, 'x');
  for (std::size_t i = 99; i < text.size(); i += 100) text[i] = '\n';
  const std::size_t line = text.size() / 100 * 3 / 4;
  for (const std::size_t later : {std::size_t{0}, text.size() / 100 - line - 1}) {  // the first of two errors counts
    std::string broken = text;
    broken[line * 100 + 5] = '\xFF';
    broken[(line + later) * 100 + 7] = '\xFE';
    for (const int workers : {1, 3}) {
      const std::string message = message_of<InvalidText>([&] { from_file(broken, workers); });
      CHECK(contains(message, ".txt, line " + std::to_string(line + 1) + ": invalid UTF-8 (byte 0xff)"));
    }
  }
}

TEST_CASE("a fixed vocabulary drops other words and sentences that are left empty") {
  const CorpusEncoderOptions options{
      .vocabulary = {{"b", "a", "never"}}, .max_vocab_size = 0, .keep_rule = {}, .max_ram = 0, .spill_directory = ""};
  for (const Result& result : {from_text("a x b\ny z\nb", 2, options), from_file("a x b\ny z\nb", 2, options)}) {
    CHECK(result.words == std::vector<std::string>{"b", "a", "never"});
    CHECK(result.counts == std::vector<std::int64_t>{2, 1, 0});
    CHECK(result.tokens == std::vector<std::int32_t>{1, 0, 0});
    CHECK(result.offsets == std::vector<std::int64_t>{0, 2, 3});
  }
  CorpusEncoderOptions twice;
  twice.vocabulary = {"a", "b", "a"};
  CHECK_THROWS_AS(CorpusEncoder(std::move(twice)), std::invalid_argument);
}

TEST_CASE("a limit on the vocabulary forgets rare words and their occurrences") {
  CorpusEncoderOptions options;
  options.max_vocab_size = 2;
  // After "b c": three words, those with count < 1 go: none. After "a": still three, those with count < 2 go: b and c.
  for (const Result& result : {from_text("a\nb c\na\nc a", 1, options), from_file("a\nb c\na\nc a", 2, options)}) {
    CHECK(result.words == std::vector<std::string>{"a", "c"});
    CHECK(result.counts == std::vector<std::int64_t>{3, 1});
    CHECK(result.tokens == std::vector<std::int32_t>{0, 0, 1, 0});
    CHECK(result.offsets == std::vector<std::int64_t>{0, 1, 2, 4});
  }
  options.max_vocab_size = 300;
  const std::string text = varied_text(5'000'000);
  const Result expected = from_text(text, 1 << 16, options);
  CHECK(expected.words.size() <= 600);
  for (const int workers : {1, 3}) CHECK(from_file(text, workers, options) == expected);
}

TEST_CASE("finish renames, drops and counts what was there before") {
  CorpusEncoder encoder({});
  const std::vector<std::string_view> first = {"a", "b", "a"}, second = {"b"}, third = {"c", ""};
  for (const auto& sentence : {first, second, {}, third}) encoder.add_sentence(sentence);
  CHECK_THROWS_AS(encoder.finish(std::vector<std::int32_t>{0}), std::invalid_argument);
  const Corpus corpus = encoder.finish(std::vector<std::int32_t>{1, -1, -1, 0});
  CHECK(std::vector(corpus.tokens().begin(), corpus.tokens().end()) == std::vector<std::int32_t>{1, 1, 0});
  CHECK(std::vector(corpus.offsets().begin(), corpus.offsets().end()) == std::vector<std::int64_t>{0, 2, 3});
  CHECK(corpus.raw_tokens() == 6);
  CHECK(corpus.raw_sentences() == 3);
  CHECK_THROWS_AS(encoder.add_sentence(first), std::logic_error);
}

TEST_CASE("a scan can be stopped from its progress callable") {
  CorpusEncoderOptions options;
  options.max_vocab_size = 1;
  options.keep_rule = [](std::string_view, std::int64_t, std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return true;
  };
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "a b\n";  // two calls of the rule each: half a second
  const TextFile file(lines + std::string(static_cast<std::size_t>(TextBlock::kBytes), ' ') + lines);
  CorpusEncoder encoder(std::move(options));
  int calls = 0;
  CHECK_FALSE(encoder.add_file(file.path(), 2, [&calls](std::int64_t) { return ++calls < 2; }));
  CHECK(calls == 2);
}

TEST_CASE("files that cannot be read") {
  CHECK(contains(message_of<FileError>([] { InputFile("/no/such/file"); }), "/no/such/file"));
  CHECK_THROWS_AS(InputFile("/"), FileError);
  const TextFile file("some text");
  const InputFile input(file.path());
  std::filesystem::resize_file(file.path(), 4);
  std::vector<char> bytes(9);
  CHECK(contains(message_of<FileError>([&] { input.read(0, bytes); }), "became shorter"));
}
