#include "senses/answers.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "math/panel.h"
#include "math/parallel.h"
#include "model/equations.h"

namespace muse {

namespace {

constexpr std::int64_t kQuestionsAtOnce = 32;
constexpr std::size_t kLongContexts = std::size_t{1} << 20;  // tokens, beyond which their memory is not kept

}  // namespace

Answers::Answers(const SelectorParts& parts)
    : sense_offset_(parts.model.sense_offset),
      num_words_(parts.model.num_words),
      temperature_(parts.temperature),
      prior_(parts.prior),
      scorers_([parts] { return make_scorer(parts); }) {}

Answers::Answers(const UseSelector& selector)
    : sense_offset_(selector.sense_offset),
      num_words_(selector.space.topic.rows),
      temperature_(selector.temperature),
      prior_(selector.prior),
      scorers_([selector] { return make_scorer(selector); }) {}

std::int64_t Answers::count(const Questions& asked) const {
  check_contexts(asked.contexts, num_words_);
  const std::size_t questions = asked.words.size();
  if (asked.positions.size() != questions || asked.contexts.offsets.size() != questions + 1)
    throw std::invalid_argument("positions, words and offsets do not fit together");
  std::int64_t total = 0;
  for (std::size_t i = 0; i < questions; ++i) {
    const std::int32_t word = asked.words[i];
    if (word < 0 || word >= num_words_) throw std::invalid_argument("a word lies outside the vocabulary");
    if (asked.positions[i] < -1 || asked.positions[i] >= asked.length(i))
      throw std::invalid_argument("a position lies outside its context");
    total += sense_offset_[word + 1] - sense_offset_[word];
  }
  return total;
}

// finish(i, first, senses, scores): what becomes of the scores of question i, whose senses begin at row `first`.
template <typename Finish>
void Answers::answer(const Questions& asked, int workers, float* out, const Finish& finish) const {
  const auto questions = static_cast<std::int64_t>(asked.words.size());
  std::vector<std::int64_t> starts(asked.words.size() + 1, 0);
  for (std::size_t i = 0; i < asked.words.size(); ++i)
    starts[i + 1] = starts[i] + sense_offset_[asked.words[i] + 1] - sense_offset_[asked.words[i]];
  parallel_chunks(questions, kQuestionsAtOnce, workers, [&] {
    auto scorer = scorers_.take();
    scorer.keep = asked.contexts.tokens.size() < kLongContexts;
    return [&, scorer = std::move(scorer)](std::int64_t first, std::int64_t last) {
      scorer->score(asked, first, last, out + starts[at(first)]);
      for (std::int64_t i = first; i < last; ++i)
        finish(at(i), sense_offset_[asked.words[at(i)]], static_cast<int>(starts[at(i) + 1] - starts[at(i)]),
               out + starts[at(i)]);
    };
  });
}

void Answers::score(const Questions& asked, int workers, float* scores) const {
  answer(asked, workers, scores, [](std::size_t, std::int64_t, int, float*) {});
}

void Answers::weigh(const Questions& asked, int workers, float* probabilities) const {
  answer(asked, workers, probabilities, [&](std::size_t i, std::int64_t first, int senses, float* scores) {
    if (!prior_.empty() && asked.alone(i))
      std::copy_n(prior_.begin() + first, senses, scores);
    else
      softmax(scores, senses, temperature_, scores);
  });
}

}  // namespace muse
