#include "text/corpus_encoder.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "text/file_scan.h"
#include "text/text.h"
#include "text/text_block.h"

namespace muse {
namespace {

/// Two thirds of the memory go to the tokens and one third to the sentence offsets.
std::int64_t share(std::int64_t max_ram, std::int64_t thirds) {
  return max_ram <= 0 ? 0 : std::max<std::int64_t>(1, max_ram / 3 * thirds);
}

struct Storage {
  SpillArray<std::int32_t> tokens;
  SpillArray<std::int64_t> offsets;
};

/// Rewrites tokens and offsets in place: the writing never overtakes the reading, since words only disappear.
void remap(Storage& storage, std::span<const std::int32_t> new_id) {
  const auto old_tokens = storage.tokens.contents();
  const auto old_offsets = storage.offsets.contents();
  storage.tokens.rewind();
  storage.offsets.rewind();
  storage.offsets.push_back(0);
  std::int64_t written = 0;
  std::size_t read = 0;
  for (std::size_t sentence = 1; sentence < old_offsets.size(); ++sentence) {
    const auto end = static_cast<std::size_t>(old_offsets[sentence]);
    for (; read < end; ++read) {
      const std::int32_t id = new_id[static_cast<std::size_t>(old_tokens[read])];
      if (id >= 0) storage.tokens.push_back(id);
    }
    if (storage.tokens.size() == written) continue;
    written = storage.tokens.size();
    storage.offsets.push_back(written);
  }
}

}  // namespace

CorpusEncoder::CorpusEncoder(CorpusEncoderOptions options)
    : options_(std::move(options)),
      tokens_(share(options_.max_ram, 2), options_.spill_directory),
      offsets_(share(options_.max_ram, 1), options_.spill_directory) {
  offsets_.push_back(0);
  if (!options_.vocabulary) return;
  for (const std::string& word : *options_.vocabulary) {
    const std::size_t size = table_.size();
    table_.find_or_add(word, WordTable::hash(word));
    if (table_.size() == size) throw std::invalid_argument("the vocabulary holds the word '" + word + "' twice");
  }
}

std::int32_t CorpusEncoder::look_up(std::string_view word, std::uint32_t hash) {
  return options_.vocabulary ? table_.find(word, hash) : table_.find_or_add(word, hash);
}

void CorpusEncoder::add_word(std::string_view word) {
  ++raw_tokens_;
  const std::int32_t position = look_up(word, WordTable::hash(word));
  if (position < 0) return;
  WordEntry& entry = table_[position];
  ++entry.count;
  tokens_.push_back(entry.id);
}

void CorpusEncoder::end_sentence() {
  if (raw_tokens_ == raw_sentence_begin_) return;
  ++raw_sentences_;
  raw_sentence_begin_ = raw_tokens_;
  if (tokens_.size() > sentence_begin_) {
    sentence_begin_ = tokens_.size();
    offsets_.push_back(sentence_begin_);
  }
  prune_if_full();
}

void CorpusEncoder::prune_if_full() {
  if (options_.vocabulary || options_.max_vocab_size <= 0) return;
  if (static_cast<std::int64_t>(table_.size()) <= options_.max_vocab_size) return;
  const std::int64_t min_count = prune_below_++;
  table_.prune([&](const WordEntry& entry) {
    return options_.keep_rule ? options_.keep_rule(entry.word(), entry.count, min_count) : entry.count >= min_count;
  });
}

void CorpusEncoder::add_sentence(std::span<const std::string_view> words) {
  end_text();
  for (const std::string_view word : words) add_word(word);
  end_sentence();
}

void CorpusEncoder::add_text(std::string_view chunk, const std::string& source) {
  require_unfinished();
  text_source_ = source;
  if (!cut_word_.empty()) {  // white space is ASCII: a character is never cut where a word is not
    const auto end = static_cast<std::size_t>(std::find_if(chunk.begin(), chunk.end(), is_space) - chunk.begin());
    cut_word_ += chunk.substr(0, end);
    if (end == chunk.size()) return;
    add_text_piece(cut_word_);
    cut_word_.clear();
    chunk.remove_prefix(end);
  }
  const auto tail = static_cast<std::size_t>(std::find_if(chunk.rbegin(), chunk.rend(), is_space) - chunk.rbegin());
  add_text_piece(chunk.substr(0, chunk.size() - tail));
  cut_word_ = chunk.substr(chunk.size() - tail);
}

void CorpusEncoder::add_text_piece(std::string_view text) {
  if (text.empty()) return;
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    const std::int64_t line = text_line_ + count_newlines(text.substr(0, bad));
    throw InvalidText(text_source_, line, static_cast<unsigned char>(text[bad]));
  }
  split_words(
      text, [this](std::string_view word) { add_word(word); },
      [this] {
        ++text_line_;
        end_sentence();
      });
}

void CorpusEncoder::end_text() {
  require_unfinished();
  add_text_piece(cut_word_);
  cut_word_.clear();
  end_sentence();
  text_line_ = 1;
}

bool CorpusEncoder::add_file(const std::string& path, int workers, const ByteProgress& progress) {
  end_text();
  const bool complete = FileScan(InputFile(path), *this).run(workers, progress);
  end_sentence();
  return complete;
}

void CorpusEncoder::add_block(const TextBlock& block) {
  if (options_.vocabulary || options_.max_vocab_size <= 0) {
    add_whole_block(block);
  } else {
    add_block_by_sentence(block);
  }
}

/// First the words, then the tokens: no look-up for a token.
void CorpusEncoder::add_whole_block(const TextBlock& block) {
  auto& ids = block_words_;
  ids.clear();
  for (const WordEntry& local : block.words()) {
    const std::int32_t position = look_up(local.word(), local.hash);
    if (position >= 0) table_[position].count += local.count;
    ids.push_back(position >= 0 ? table_[position].id : -1);
  }
  for (const std::int32_t token : block.tokens()) {
    if (token == TextBlock::kNewline) {
      end_sentence();
      continue;
    }
    ++raw_tokens_;
    const std::int32_t id = ids[static_cast<std::size_t>(token)];
    if (id >= 0) tokens_.push_back(id);
  }
}

/// The same with a limit on the vocabulary, which counts at the end of each sentence: words are added as they come.
void CorpusEncoder::add_block_by_sentence(const TextBlock& block) {
  auto& positions = block_words_;
  positions.assign(block.words().size(), -1);
  for (const std::int32_t token : block.tokens()) {
    if (token == TextBlock::kNewline) {
      const std::int64_t before = prune_below_;
      end_sentence();
      if (prune_below_ != before) std::fill(positions.begin(), positions.end(), -1);
      continue;
    }
    ++raw_tokens_;
    std::int32_t& position = positions[static_cast<std::size_t>(token)];
    if (position < 0) {
      const WordEntry& local = block.words()[static_cast<std::size_t>(token)];
      position = table_.find_or_add(local.word(), local.hash);
    }
    WordEntry& entry = table_[position];
    ++entry.count;
    tokens_.push_back(entry.id);
  }
}

const std::vector<WordEntry>& CorpusEncoder::words() {
  end_text();
  return table_.entries();
}

std::vector<std::int32_t> CorpusEncoder::by_provisional_id(std::span<const std::int32_t> mapping) const {
  if (mapping.size() != table_.size()) {
    throw std::invalid_argument("the mapping has " + std::to_string(mapping.size()) + " entries, but there are " +
                                std::to_string(table_.size()) + " words");
  }
  std::vector<std::int32_t> new_id(static_cast<std::size_t>(table_.next_id()), -1);
  for (std::size_t i = 0; i < mapping.size(); ++i) {
    new_id[static_cast<std::size_t>(table_.entries()[i].id)] = mapping[i];
  }
  return new_id;
}

Corpus CorpusEncoder::finish(std::span<const std::int32_t> mapping) {
  end_text();
  const std::vector<std::int32_t> new_id = by_provisional_id(mapping);
  finished_ = true;
  table_ = WordTable();
  auto storage = std::make_shared<Storage>(Storage{std::move(tokens_), std::move(offsets_)});
  remap(*storage, new_id);
  const bool spilled = storage->tokens.spilled() || storage->offsets.spilled();
  const auto tokens = storage->tokens.contents();
  const auto offsets = storage->offsets.contents();
  return Corpus(std::move(storage), tokens, offsets, raw_tokens_, raw_sentences_, spilled);
}

void CorpusEncoder::require_unfinished() const {
  if (finished_) throw std::logic_error("this encoder is finished; make a new one");
}

}  // namespace muse
