// Senses of running text: words are looked up, senses selected, and numbers written behind the words.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "senses/selection.h"
#include "senses/use_selection.h"
#include "text/word_table.h"

namespace muse {

/// What selects senses; the memory belongs to somebody else.
struct SelectorParts {
  Model model;  // P, Q and sense_offset
  SelectionOptions options;
  std::span<const float> weights;  // of context words, (V,) or empty
  float temperature = 1.0f;
};

/// A text in which each known word carries the number of its sense.
struct TaggedText {
  std::string text;
  std::int64_t tokens = 0;
  std::int64_t tagged = 0;
};

/// What is selected for each of some tokens: -1, 0 and 0 for those that are no known word.
struct TokenSenses {
  std::vector<std::int32_t> sense;
  std::vector<float> probability, margin;
};

/// Tags text of one sentence a line. Safe to use from several threads at once.
class Tagger {
 public:
  /// Selects senses of known words, on so many threads.
  using Select = std::function<void(const Contexts& contexts, int workers, const Choices& choices)>;

  explicit Tagger(Select select) : select_(std::move(select)) {}
  /// Senses are selected by the `device`, if there is one; it must outlive the tagger.
  explicit Tagger(const SelectorParts& parts, const DeviceSelector* device = nullptr);
  /// Senses are selected by the contexts of uses.
  explicit Tagger(const UseSelector& selector);

  /// Word number 0, 1, 2, ... Throws std::invalid_argument if it was added before.
  void add_word(std::string_view word);
  /// Gives the next number to a word that no text can hold.
  void add_no_word();
  std::int64_t num_words() const { return static_cast<std::int64_t>(table_.size()); }

  /// The number of a word, or -1.
  std::int32_t id(std::string_view word) const { return table_.find(word, WordTable::hash(word)); }

  /// Adds the numbers of a sentence's words to `ids`, -1 for those that are not known.
  void read(std::string_view sentence, std::vector<std::int32_t>& ids) const;

  /// Senses of all tokens of sentences: of the known words, each in the context of the other known ones. Sentence i is
  /// ids[offsets[i], offsets[i + 1]).
  TokenSenses select_tokens(std::span<const std::int32_t> ids, std::span<const std::int64_t> offsets,
                            int workers) const;

  /// Writes `mark` and the number of its sense behind each known word whose margin is at least `min_margin`; all other
  /// bytes stay as they are, white space included. Lines are sentences, and the text holds whole lines. `line` is the
  /// number of the first one in `source`; both are for messages. Throws InvalidText.
  TaggedText tag(std::string_view text, std::string_view mark, float min_margin, int workers, const std::string& source,
                 std::int64_t line) const;

 private:
  Select select_;
  WordTable table_;
};

}  // namespace muse
