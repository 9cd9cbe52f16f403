#include "senses/use_selection.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "math/panel.h"
#include "math/parallel.h"
#include "math/prefetch.h"
#include "model/equations.h"

namespace muse {

namespace {

constexpr std::size_t kUsesAtOnce = 48;  // whose rows lie in the second cache
constexpr std::int64_t kContextsAtOnce = 32;

void check_score(float score) {
  if (score >= std::numeric_limits<float>::lowest() && score <= std::numeric_limits<float>::max()) return;
  throw std::range_error(
      "a score of a sense is not a finite number: the arrays of the selector hold values that are too large to "
      "multiply, so no sense can be selected; scale them down");
}

// Scores of all senses of a word; `rows` is room to work.
void score_senses(const UseSelector& selector, const Kernels& kernels, std::int32_t word, const float* context,
                  std::vector<const float*>& rows, float* scores) {
  const std::int64_t first = selector.sense_offset[word];
  const int count = selector.senses_of(word);
  rows.clear();
  for (int k = 0; k < count; ++k) rows.push_back(selector.selection.row(first + k));
  kernels.score_rows(context, rows.data(), count, selector.selection.dim, scores);
  for (int k = 0; k < count; ++k) {
    if (!selector.bias.empty()) scores[k] += selector.bias[at(first + k)];
    check_score(scores[k]);
  }
}

// Selects senses in whole contexts; one thread's work and memory.
class Chooser {
 public:
  explicit Chooser(const UseSelector& selector) : selector_(selector), kernels_(kernels()), contexts_(selector.space) {
    tokens_.reserve(kUsesAtOnce);
  }

  void run(const Contexts& contexts, std::int64_t first, std::int64_t last, const Choices& out) {
    for (std::int64_t c = first; c < last; ++c) {
      const std::int64_t begin = contexts.offsets[at(c)], end = contexts.offsets[at(c + 1)];
      const auto sentence = contexts.tokens.subspan(at(begin), at(end - begin));
      places_.clear();
      for (std::int64_t i = 0; i < end - begin; ++i) {
        offer_one(begin + i, out);
        if (selector_.senses_of(sentence[at(i)]) == 1) continue;  // nothing to choose
        if (!selector_.prior.empty() && sentence.size() == 1) {
          take_prior(sentence[0], begin, out);
          continue;
        }
        places_.push_back(i);
        if (tokens_.size() + places_.size() < kUsesAtOnce) continue;
        add(sentence, begin);
        flush(contexts, out);
      }
      add(sentence, begin);
    }
    flush(contexts, out);
  }

 private:
  static void offer_one(std::int64_t token, const Choices& out) {
    out.sense[token] = 0;
    if (out.probability != nullptr) out.probability[token] = 1.0f;
    if (out.margin != nullptr) out.margin[token] = 1.0f;
  }

  void add(std::span<const std::int32_t> sentence, std::int64_t begin) {
    if (places_.empty()) return;
    contexts_.add(sentence, places_);
    for (const std::int64_t place : places_) {
      tokens_.push_back(begin + place);
      const std::int32_t word = sentence[at(place)];
      for (std::int64_t z = selector_.sense_offset[word]; z < selector_.sense_offset[word + 1]; ++z)
        prefetch_row(selector_.selection.row(z), selector_.selection.dim);
    }
    places_.clear();
  }

  void flush(const Contexts& contexts, const Choices& out) {
    reserve(rows_, static_cast<std::int64_t>(tokens_.size()) * contexts_.stride());
    if (!tokens_.empty()) contexts_.compute(rows_.data());
    const float* row = rows_.data();
    for (const std::int64_t token : tokens_) {
      choose(contexts.tokens[at(token)], row, token, out);
      row += contexts_.stride();
    }
    tokens_.clear();
    contexts_.clear();
  }

  void choose(std::int32_t word, const float* context, std::int64_t token, const Choices& out) {
    const int count = selector_.senses_of(word);
    scores_.resize(at(count));
    score_senses(selector_, kernels_, word, context, senses_, scores_.data());
    BestSense best;
    for (int k = 0; k < count; ++k) best.offer(k, scores_[at(k)], selector_.temperature);
    write(best, token, out);
  }

  void take_prior(std::int32_t word, std::int64_t token, const Choices& out) const {
    BestSense best;
    best.take_prior(selector_.prior.data() + selector_.sense_offset[word], selector_.senses_of(word));
    write(best, token, out);
  }

  static void write(const BestSense& best, std::int64_t token, const Choices& out) {
    out.sense[token] = best.sense;
    if (out.probability != nullptr) out.probability[token] = best.probability();
    if (out.margin != nullptr) out.margin[token] = best.margin();
  }

  const UseSelector& selector_;
  const Kernels& kernels_;
  UseContexts contexts_;
  std::vector<std::int64_t> places_, tokens_;
  std::vector<const float*> senses_;
  std::vector<float> rows_, scores_;
};

// The words at some places of contexts, or whole contexts.
void add_uses(const Contexts& contexts, std::span<const std::int64_t> positions, std::int64_t first, std::int64_t last,
              UseContexts& uses) {
  uses.clear();
  for (std::int64_t c = first; c < last; ++c) {
    const std::int64_t begin = contexts.offsets[at(c)], end = contexts.offsets[at(c + 1)];
    const auto sentence = contexts.tokens.subspan(at(begin), at(end - begin));
    if (positions[at(c)] < 0)
      uses.add_whole(sentence);
    else
      uses.add(sentence, positions.subspan(at(c), 1));
  }
}

class UseScorer final : public Scorer {
 public:
  explicit UseScorer(const UseSelector& selector) : selector_(selector), kernels_(kernels()), uses_(selector.space) {}

  void score(const Questions& asked, std::int64_t first, std::int64_t last, float* scores) override {
    add_uses(asked.contexts, asked.positions, first, last, uses_);
    reserve(contexts_, std::int64_t{uses_.size()} * uses_.stride());
    uses_.compute(contexts_.data());
    const float* context = contexts_.data();
    for (const std::int32_t word : asked.words.subspan(at(first), at(last - first))) {
      score_senses(selector_, kernels_, word, context, senses_, scores);
      scores += selector_.senses_of(word);
      context += uses_.stride();
    }
  }

 private:
  const UseSelector selector_;
  const Kernels& kernels_;
  UseContexts uses_;
  std::vector<float> contexts_;
  std::vector<const float*> senses_;
};

}  // namespace

void use_vectors(const UseSpace& space, const Contexts& contexts, std::span<const std::int64_t> positions, int workers,
                 float* out) {
  parallel_chunks(static_cast<std::int64_t>(positions.size()), kContextsAtOnce, workers, [&] {
    return [&, uses = UseContexts(space)](std::int64_t first, std::int64_t last) mutable {
      add_uses(contexts, positions, first, last, uses);
      uses.compute(out + first * uses.stride());
    };
  });
}

std::unique_ptr<Scorer> make_scorer(const UseSelector& selector) { return std::make_unique<UseScorer>(selector); }

void select_uses(const UseSelector& selector, const Contexts& contexts, int workers, const Choices& choices) {
  constexpr std::int64_t kTextsAtOnce = 256;
  const auto count = static_cast<std::int64_t>(contexts.offsets.size()) - 1;
  parallel_chunks(count, kTextsAtOnce, workers, [&] {
    return [&, chooser = Chooser(selector)](std::int64_t first, std::int64_t last) mutable {
      chooser.run(contexts, first, last, choices);
    };
  });
}

void raw_contexts(const UseSpace& space, const Corpus& corpus, std::span<const std::int64_t> places, int workers,
                  float* encoded, float* topics) {
  constexpr std::int64_t kPlacesAtOnce = 480;
  SelectionOptions mean = space.topic_options;
  mean.mean = true;
  parallel_chunks(static_cast<std::int64_t>(places.size()), kPlacesAtOnce, workers, [&] {
    return [&, uses = UseContexts(space)](std::int64_t first, std::int64_t last) mutable {
      for_uses(uses, corpus, places.subspan(at(first), at(last - first)), [&](std::size_t done, UseContexts& some) {
        const std::int64_t row = first + static_cast<std::int64_t>(done);
        if (encoded != nullptr) some.compute_encoded(encoded + row * space.words.dim);
        if (topics != nullptr) some.compute_means(space.topic, mean, topics + row * space.topic.padded_dim());
      });
    };
  });
}

}  // namespace muse
