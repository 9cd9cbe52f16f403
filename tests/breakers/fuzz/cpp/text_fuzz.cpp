// Text through every reader of a corpus: in chunks, and as a file on several threads. They must agree in everything, in
// errors too, whatever the bytes, the memory budget, the vocabulary and the number of threads.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/corpus_encoder.h"
#include "text/text.h"
#include "text/text_block.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// What a reader made of the text: an error, or the words with their counts and the encoded corpus.
struct Reading {
  std::string error;
  std::vector<std::string> words;
  std::vector<std::int64_t> counts;
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
  std::int64_t raw_tokens = 0;
  std::int64_t raw_sentences = 0;
  bool operator==(const Reading&) const = default;
};

template <class Read>
Reading read_with(const muse::CorpusEncoderOptions& options, Read&& read) {
  Reading result;
  muse::CorpusEncoder encoder(options);
  try {
    read(encoder);
  } catch (const muse::InvalidText& error) {
    result.error = error.what();
    return result;
  }
  std::vector<std::int32_t> mapping;
  for (const muse::WordEntry& entry : encoder.words()) {
    result.words.emplace_back(entry.word());
    result.counts.push_back(entry.count);
    mapping.push_back(mapping.size() % 3 == 2 ? -1 : static_cast<std::int32_t>(mapping.size()));
  }
  const muse::Corpus corpus = encoder.finish(mapping);
  result.tokens.assign(corpus.tokens().begin(), corpus.tokens().end());
  result.offsets.assign(corpus.offsets().begin(), corpus.offsets().end());
  result.raw_tokens = corpus.raw_tokens();
  result.raw_sentences = corpus.raw_sentences();
  return result;
}

void check(const Reading& reading) {
  if (!reading.error.empty()) return;
  require(reading.offsets.front() == 0);
  require(reading.offsets.back() == static_cast<std::int64_t>(reading.tokens.size()));
  require(std::is_sorted(reading.offsets.begin(), reading.offsets.end()));
  for (const std::int32_t token : reading.tokens)
    require(token >= 0 && token < static_cast<std::int32_t>(reading.words.size()));
}

// A nameless file of these bytes that can be opened by a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(file_ >= 0);
    for (std::size_t put = 0; put < text.size();) {
      const ssize_t count = ::write(file_, text.data() + put, text.size() - put);
      require(count > 0);
      put += static_cast<std::size_t>(count);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

// Words of a text, for a vocabulary that holds some of them.
std::vector<std::string> some_words(std::string_view text) {
  std::vector<std::string> words;
  muse::split_words(
      text,
      [&](std::string_view word) {
        if (words.size() < 20 && std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
      },
      [] {});
  return words;
}

}  // namespace

// Five bytes of knobs, then the text. With the fifth knob odd, the text lies across the border of two blocks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kKnobs = 5;
  if (size < kKnobs) return 0;
  muse::CorpusEncoderOptions options;
  options.max_ram = data[0] * 16;
  options.max_vocab_size = data[1] % 8;
  const std::size_t chunk = data[2] + std::size_t{1};
  const int workers = 1 + data[3] % 3;
  std::string text(reinterpret_cast<const char*>(data) + kKnobs, size - kKnobs);
  if (data[4] % 64 == 63) {  // seldom: two megabytes to read
    const std::size_t before = std::min<std::size_t>(text.size(), data[4] / 2);
    std::string filler(static_cast<std::size_t>(muse::TextBlock::kBytes) - before, 'x');
    for (std::size_t i = 0; i < filler.size(); i += 4096) filler[i] = i % 8192 == 0 ? '\n' : ' ';
    text = filler + text;
  }
  if (data[4] % 2 == 1) options.vocabulary = some_words(text);

  const MemoryFile file(text);
  const std::string path = file.path();
  const Reading whole = read_with(options, [&](muse::CorpusEncoder& encoder) {
    encoder.add_text(text, path);
    encoder.end_text();
  });
  check(whole);
  const Reading pieces = read_with(options, [&](muse::CorpusEncoder& encoder) {
    const std::size_t step = text.size() > (1 << 16) ? chunk * 1000 : chunk;
    for (std::size_t at = 0; at < text.size(); at += step)
      encoder.add_text(std::string_view(text).substr(at, step), path);
    encoder.end_text();
  });
  require(pieces == whole);
  const Reading threads =
      read_with(options, [&](muse::CorpusEncoder& encoder) { encoder.add_file(path, workers, {}); });
  require(threads == whole);
  return 0;
}
