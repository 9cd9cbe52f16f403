#include "senses/selection.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

#include "math/panel.h"
#include "math/parallel.h"
#include "senses/window_sums.h"

namespace muse {

namespace {

float weight_of(std::span<const float> weights, std::int32_t word) {
  return weights.empty() ? 1.0f : weights[static_cast<std::size_t>(word)];
}

// Vectors that are finite can still have a product that is not, of which there is no softmax.
void check_scores(const float* scores, int count) {
  if (all_within(scores, count, std::numeric_limits<float>::max())) return;
  throw std::range_error(
      "a score of a sense is not a finite number: context_vectors and selection_vectors hold values that are too large "
      "to multiply, so no sense can be selected; scale them down");
}

}  // namespace

void check_selector(const Model& model, std::span<const std::int64_t> sense_offset, const SelectionOptions& options,
                    std::span<const float> weights) {
  if (static_cast<std::int64_t>(sense_offset.size()) != model.num_words + 1 || sense_offset[0] != 0 ||
      sense_offset.back() != model.selection.rows || model.context.dim != model.selection.dim)
    throw std::invalid_argument("context_vectors, selection_vectors and sense_offset do not fit together");
  if (model.num_words > 0) check_senses(sense_offset, model.num_words);
  if (!options.fits(options.window))
    throw std::invalid_argument("window must be at least 1, and distance weights cover it");
  if (!weights.empty() && static_cast<std::int64_t>(weights.size()) != model.num_words)
    throw std::invalid_argument("context_weights must hold one number a word");
}

void check_contexts(const Contexts& contexts, std::int64_t num_words) {
  std::int64_t last = 0;
  const bool starts = !contexts.offsets.empty() && contexts.offsets[0] == 0;
  for (const std::int64_t o : contexts.offsets) {
    if (!starts || o < last) throw std::invalid_argument("offsets must begin at 0 and never decrease");
    last = o;
  }
  if (!starts || last != static_cast<std::int64_t>(contexts.tokens.size()))
    throw std::invalid_argument("offsets must end at the number of tokens");
  for (const std::int32_t t : contexts.tokens)
    if (t < 0 || t >= num_words) throw std::invalid_argument("a token id lies outside the vocabulary");
}

namespace {

class ProductScorer final : public Scorer {
 public:
  explicit ProductScorer(const SelectorParts& parts)
      : parts_(parts),
        kernels_(kernels()),
        sums_(kernels_, summed_, parts.model.context.dim),
        sum_(static_cast<std::size_t>(parts.model.context.padded_dim())) {
    summed_.mean = parts.options.mean;
  }

  void score(const Questions& asked, std::int64_t first, std::int64_t last, float* scores) override {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int32_t word = asked.words[at(i)];
      collect(asked, at(i));
      const Window all{0, static_cast<int>(rows_.size()) - 1, 0};
      float total = 0.0f;
      sums_.run({rows_.data(), weights_.data()}, {&all, 1}, sum_.data(), &total);
      const Model& model = parts_.model;
      const int senses = model.senses_of(word);
      for (int s = 0; s < senses; ++s)
        scores[s] = kernels_.dot(model.selection.row(model.sense_offset[word] + s), sum_.data(), model.context.dim);
      check_scores(scores, senses);
      scores += senses;
    }
  }

 private:
  // The rows that count in a question's context, and their weights.
  void collect(const Questions& asked, std::size_t i) {
    const SelectionOptions& options = parts_.options;
    const std::int64_t begin = asked.contexts.offsets[i], end = asked.contexts.offsets[i + 1], at = asked.positions[i];
    const std::int64_t low = at < 0 ? begin : std::max(begin, begin + at - options.window);
    const std::int64_t high = at < 0 ? end : std::min(end, begin + at + options.window + 1);
    rows_.clear();
    weights_.clear();
    // Without a place in the context the word's distance to its parts is unknown: all weigh as much as a neighbour.
    for (std::int64_t j = low; j < high; ++j)
      add(asked.contexts.tokens[static_cast<std::size_t>(j)],
          options.distance_weight(at < 0 ? 1 : static_cast<int>(std::abs(j - begin - at))));
    if (at < 0) add(asked.words[i], options.distance_weight(0));
  }

  void add(std::int32_t word, float weight) {
    rows_.push_back(parts_.model.context.row(word));
    weights_.push_back(weight_of(parts_.weights, word) * weight);
  }

  const SelectorParts parts_;
  const Kernels& kernels_;
  SelectionOptions summed_;  // the weights of places are those of the stream
  WindowSums sums_;
  std::vector<float> sum_, weights_;
  std::vector<const float*> rows_;
};

}  // namespace

std::unique_ptr<Scorer> make_scorer(const SelectorParts& parts) { return std::make_unique<ProductScorer>(parts); }

namespace {

// Selects the senses of a run of whole contexts; one thread's work and memory.
class Selector {
 public:
  explicit Selector(const SelectorParts& parts)
      : model_(parts.model),
        options_(parts.options),
        weights_(parts.weights),
        prior_(parts.prior),
        temperature_(parts.temperature),
        kernels_(kernels()),
        window_sums_(kernels_, options_, model_.context.dim) {}

  void run(const Contexts& contexts, std::int64_t first, std::int64_t last, const Choices& out) {
    const auto offset = [&](std::int64_t context) { return contexts.offsets[static_cast<std::size_t>(context)]; };
    const std::int64_t begin = offset(first), end = offset(last);
    low_ = begin;
    high_ = end;
    next_row_ = low_;
    next_choice_ = begin;
    for (std::int64_t at = begin, context = first; at < end; at += kChunk) {
      while (offset(context + 1) <= at) ++context;
      select(contexts, context, at, std::min(end, at + kChunk), out);
    }
  }

 private:
  static constexpr std::int64_t kChunk = 96;  // tokens whose sums are held at once, in the second cache
  static constexpr std::int64_t kAhead = 16;  // tokens whose senses are on their way

  // Tokens [begin, end), the first of them in the context with this number.
  void select(const Contexts& contexts, std::int64_t context, std::int64_t begin, std::int64_t end,
              const Choices& out) {
    const std::int64_t low = std::max(low_, begin - options_.window), high = std::min(high_, end + options_.window);
    rows_.clear();
    token_weights_.clear();
    for (const std::int32_t word : contexts.tokens.subspan(at(low), at(high - low))) {
      rows_.push_back(model_.context.row(word));
      token_weights_.push_back(weight_of(weights_, word));
    }
    windows_.clear();
    for (std::int64_t i = begin; i < end; ++i) {
      out.sense[i] = 0;
      if (out.probability != nullptr) out.probability[i] = 1.0f;
      if (out.margin != nullptr) out.margin[i] = 1.0f;
      if (model_.senses_of(contexts.tokens[at(i)]) == 1) continue;  // nothing to choose
      while (contexts.offsets[at(context + 1)] <= i) ++context;
      const std::int64_t left = contexts.offsets[at(context)], right = contexts.offsets[at(context + 1)];
      if (!prior_.empty() && has_no_context(right - left, true)) {
        take_prior(contexts.tokens[at(i)], i, out);
        continue;
      }
      windows_.push_back({static_cast<int>(std::max(left, i - options_.window) - low),
                          static_cast<int>(std::min(right - 1, i + options_.window) - low), static_cast<int>(i - low)});
    }
    const int stride = model_.context.padded_dim();
    reserve(sums_, static_cast<std::int64_t>(windows_.size()) * stride);
    reserve(totals_, static_cast<std::int64_t>(windows_.size()));
    std::size_t done = 0;
    window_sums_.run(
        {rows_.data(), token_weights_.data()}, windows_, sums_.data(), totals_.data(),
        [&](std::size_t ready) {
          for (; done < ready; ++done)
            choose(contexts.tokens[at(low + windows_[done].centre)], sums_.data() + done * at(stride),
                   low + windows_[done].centre, out);
        },
        [&](std::size_t count) { return ahead(contexts, low + windows_[count - 1].centre); });
  }

  // Rows that the tokens some way behind this one need.
  std::span<const float* const> ahead(const Contexts& contexts, std::int64_t token) {
    ahead_.clear();
    for (const std::int64_t last = std::min(token + kChunk + options_.window, high_); next_row_ < last; ++next_row_)
      ahead_.push_back(model_.context.row(contexts.tokens[at(next_row_)]));
    next_choice_ = std::max(next_choice_, token);
    for (const std::int64_t last = std::min(token + kAhead, high_); next_choice_ < last; ++next_choice_) {
      const std::int32_t word = contexts.tokens[at(next_choice_)];
      if (model_.senses_of(word) == 1) continue;
      for (std::int64_t z = model_.sense_offset[word]; z < model_.sense_offset[word + 1]; ++z)
        ahead_.push_back(model_.selection.row(z));
    }
    return ahead_;
  }

  void choose(std::int32_t word, const float* context, std::int64_t at, const Choices& out) {
    const std::int64_t first = model_.sense_offset[word];
    const int count = model_.senses_of(word);
    scores_.resize(static_cast<std::size_t>(count));
    score_rows_.clear();
    for (int k = 0; k < count; ++k) score_rows_.push_back(model_.selection.row(first + k));
    kernels_.score_rows(context, score_rows_.data(), count, model_.context.dim, scores_.data());
    check_scores(scores_.data(), count);
    if (out.probability == nullptr && out.margin == nullptr) {  // no exp
      out.sense[at] = argmax(scores_.data(), count, 0.0f);
      return;
    }
    BestSense best;
    for (int k = 0; k < count; ++k) best.offer(k, scores_[static_cast<std::size_t>(k)], temperature_);
    write(best, at, out);
  }

  void take_prior(std::int32_t word, std::int64_t at, const Choices& out) const {
    BestSense best;
    best.take_prior(prior_.data() + model_.sense_offset[word], model_.senses_of(word));
    write(best, at, out);
  }

  static void write(const BestSense& best, std::int64_t at, const Choices& out) {
    out.sense[at] = best.sense;
    if (out.probability != nullptr) out.probability[at] = best.probability();
    if (out.margin != nullptr) out.margin[at] = best.margin();
  }

  const Model& model_;
  const SelectionOptions& options_;
  std::span<const float> weights_, prior_;
  float temperature_;
  const Kernels& kernels_;
  WindowSums window_sums_;
  std::int64_t low_ = 0, high_ = 0;  // of the tokens that this run's windows may reach
  std::int64_t next_row_ = 0;        // of them: the first whose row of P was not asked for
  std::int64_t next_choice_ = 0;     // and the first whose rows of Q were not
  std::vector<const float*> rows_, score_rows_, ahead_;
  std::vector<float> token_weights_, sums_, totals_, scores_;
  std::vector<Window> windows_;
};

}  // namespace

void select_senses(const SelectorParts& parts, const Contexts& contexts, int workers, const Choices& choices) {
  constexpr std::int64_t kContextsAtOnce = 256;
  const auto count = static_cast<std::int64_t>(contexts.offsets.size()) - 1;
  parallel_chunks(count, kContextsAtOnce, workers, [&] {
    return [&, selector = Selector(parts)](std::int64_t first, std::int64_t last) mutable {
      selector.run(contexts, first, last, choices);
    };
  });
}

}  // namespace muse
