// Senses of running text: words are looked up, senses selected, and numbers written behind the words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "senses/selection.h"
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

/// Tags text of one sentence a line. Safe to use from several threads at once.
class Tagger {
 public:
  /// Senses are selected by the `device`, if there is one; it must outlive the tagger.
  explicit Tagger(const SelectorParts& parts, const DeviceSelector* device = nullptr)
      : parts_(parts), device_(device) {}

  /// Word number 0, 1, 2, ...; each may be added once.
  void add_word(std::string_view word) { table_.find_or_add(word, WordTable::hash(word)); }

  /// The number of a word, or -1.
  std::int32_t id(std::string_view word) const { return table_.find(word, WordTable::hash(word)); }

  /// Senses of known words, on `workers` threads, or on the device.
  void select(const Contexts& contexts, int workers, const Choices& choices) const;

  /// Writes `mark` and the number of its sense behind each known word whose margin is at least `min_margin`; all other
  /// bytes stay as they are, white space included. Lines are sentences, and the text holds whole lines. `line` is the
  /// number of the first one in `source`; both are for messages. Throws InvalidText.
  TaggedText tag(std::string_view text, std::string_view mark, float min_margin, int workers, const std::string& source,
                 std::int64_t line) const;

 private:
  SelectorParts parts_;
  const DeviceSelector* device_;
  WordTable table_;
};

}  // namespace muse
