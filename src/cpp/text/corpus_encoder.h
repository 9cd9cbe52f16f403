// Text in, Corpus out, in one pass: the vocabulary is counted and the tokens are encoded at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/corpus.h"
#include "text/spill.h"
#include "text/word_table.h"

namespace muse {

class TextBlock;

/// Told the bytes read so far, about ten times a second, on the calling thread. Returns false to stop.
using ByteProgress = std::function<bool(std::int64_t)>;

/// Whether a word that occurred `count` times survives a pruning that asks for `min_count`.
using KeepRule = std::function<bool(std::string_view word, std::int64_t count, std::int64_t min_count)>;

struct CorpusEncoderOptions {
  /// Encode with exactly these words, in this order, and drop all others. Unset: every word is given an id.
  std::optional<std::vector<std::string>> vocabulary;
  /// When there are more distinct words than this at the end of a sentence, those that occurred less than n times are
  /// forgotten, with n = 1, 2, 3, ... for each time that this happens. 0 means no limit.
  std::int64_t max_vocab_size = 0;
  /// Overrules `count >= min_count` in that.
  KeepRule keep_rule;
  /// Bytes of encoded corpus held in memory; what exceeds it goes to a temporary file. 0 means no limit.
  std::int64_t max_ram = 0;
  /// Where that file goes; "" means the system's directory for temporary files.
  std::string spill_directory;
};

/// Words get provisional ids as they come. When all text is in, the caller looks at words() and decides what becomes of
/// each; finish() then rewrites the ids in place.
///
/// The result depends on the text alone: not on the number of workers, on how the text is cut into chunks, or on where
/// the ids are kept. Sentences without words are skipped and not counted. After an exception the encoder may hold a
/// part of its last input; throw it away.
class CorpusEncoder {
 public:
  explicit CorpusEncoder(CorpusEncoderOptions options);

  void add_sentence(std::span<const std::string_view> words);

  /// The next piece of a text (see text.h), cut anywhere, even inside a character. `source` is for messages.
  void add_text(std::string_view chunk, const std::string& source);
  /// The text that add_text got ends here; a last line needs no newline. Any other call but add_text implies it.
  void end_text();

  /// A whole file of text, on `workers` threads. False when `progress` stopped it.
  bool add_file(const std::string& path, int workers, const ByteProgress& progress);

  /// What the workers of add_file made of the next piece of the file.
  void add_block(const TextBlock& block);

  /// The words in order of first occurrence (or of the given vocabulary), each with its count.
  const std::vector<WordEntry>& words();

  std::int64_t raw_tokens() const { return raw_tokens_; }
  std::int64_t raw_sentences() const { return raw_sentences_; }

  /// Replaces word i of words() by `mapping[i]`, or drops it where that is negative, and drops sentences that are left
  /// empty. Ends the life of this encoder.
  Corpus finish(std::span<const std::int32_t> mapping);

 private:
  void add_word(std::string_view word);
  void add_text_piece(std::string_view text);
  void add_whole_block(const TextBlock& block);
  void add_block_by_sentence(const TextBlock& block);
  void end_sentence();
  void prune_if_full();
  std::int32_t look_up(std::string_view word, std::uint32_t hash);
  std::vector<std::int32_t> by_provisional_id(std::span<const std::int32_t> mapping) const;
  void require_unfinished() const;

  CorpusEncoderOptions options_;
  WordTable table_;
  SpillArray<std::int32_t> tokens_;   // provisional ids
  SpillArray<std::int64_t> offsets_;  // (sentences + 1,)
  std::int64_t raw_tokens_ = 0;
  std::int64_t raw_sentences_ = 0;
  std::int64_t raw_sentence_begin_ = 0;  // raw_tokens_ when the open sentence began
  std::int64_t sentence_begin_ = 0;      // tokens_.size() when the open sentence began
  std::int64_t prune_below_ = 1;
  std::string cut_word_;     // what add_text has of a word that may go on in the next chunk
  std::string text_source_;  // for messages
  std::int64_t text_line_ = 1;
  bool finished_ = false;
  std::vector<std::int32_t> block_words_;  // by word of a block: its id, or its position in table_
};

}  // namespace muse
