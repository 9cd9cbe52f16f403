// What a selector says of words in contexts that somebody asks about, one or many at a time: the scores and the
// probabilities of their senses. Running text has ways of its own (select_senses, select_uses).
#pragma once

#include <cstdint>
#include <span>

#include "math/pool.h"
#include "senses/selection.h"
#include "senses/use_selection.h"

namespace muse {

/// Answers by one selector, whose memory belongs to somebody else. Safe to use from several threads at once; what a
/// thread needs to work is kept for the next question.
class Answers {
 public:
  explicit Answers(const SelectorParts& parts);
  /// Senses are scored by the contexts of uses; the selector's space must stay where it is.
  explicit Answers(const UseSelector& selector);

  /// How many senses the words have together. Throws std::invalid_argument where the questions do not fit together or
  /// hold what is no word.
  std::int64_t count(const Questions& asked) const;

  /// The scores of all senses of each word, one word after another, into count(asked) floats.
  void score(const Questions& asked, int workers, float* scores) const;

  /// The same as probabilities: the softmax of the scores (equation 1 of the paper), and the prior where there is no
  /// context.
  void weigh(const Questions& asked, int workers, float* probabilities) const;

 private:
  template <typename Finish>
  void answer(const Questions& asked, int workers, float* out, const Finish& finish) const;

  const std::int64_t* sense_offset_;
  std::int64_t num_words_;
  float temperature_;
  std::span<const float> prior_;
  mutable Pool<Scorer> scorers_;
};

}  // namespace muse
