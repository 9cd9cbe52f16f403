// What a run on the device does in which order: the corpus in slices that fit there, a slice in waves of batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "math/panel.h"
#include "train/batch.h"
#include "train/train.h"

namespace muse::cuda {

// Batches [first, last), the tokens that they need, and their waves.
struct SlicePlan {
  struct WavePlan {
    std::int64_t first, last;  // batches
    std::int64_t positions;    // at most, halo included
    std::int64_t places;       // of the context stream, at most
    std::int64_t longest;      // batch, in tokens
  };
  std::int64_t first, last;
  BatchBuilder::Stretch tokens;
  std::int64_t sentences;
  std::vector<WavePlan> waves;
};

class SlicePlanner {
 public:
  // `halo`: positions around the targets whose senses matter.
  SlicePlanner(const Trainer& plan, int epoch, int halo, int workers)
      : plan_(plan), builder_(plan.corpus(), plan.keep(), plan.options(), epoch), halo_(halo), workers_(workers) {
    const Model& model = plan.model();
    for (std::int64_t w = 0; w < model.num_words; ++w)
      most_senses_ = std::max<std::int64_t>(most_senses_, model.senses_of(w));
  }

  // Batches [first, last) in slices of about `slice_tokens` tokens.
  std::vector<SlicePlan> plan(std::int64_t first, std::int64_t last, std::int64_t slice_tokens) {
    std::vector<SlicePlan> slices;
    while (first < last) {
      slices.push_back(plan_slice(first, last, slice_tokens));
      first = slices.back().last;
    }
    return slices;
  }

  // Sentences [first, last) that hold the tokens of a slice.
  std::pair<std::int64_t, std::int64_t> sentences_of(const SlicePlan& slice) const {
    const auto offsets = plan_.corpus().offsets();
    const auto first = std::upper_bound(offsets.begin(), offsets.end(), slice.tokens.first) - 1;
    const auto last = std::lower_bound(first, offsets.end(), slice.tokens.last);
    return {first - offsets.begin(), last - offsets.begin()};
  }

  // The most that any slice has, or wave (positions), or word (senses).
  std::int64_t most_tokens() const { return most_tokens_; }
  std::int64_t most_sentences() const { return most_sentences_; }
  std::int64_t most_batches() const { return most_batches_; }
  std::int64_t most_positions() const { return most_positions_; }
  std::int64_t most_senses() const { return most_senses_; }

 private:
  SlicePlan plan_slice(std::int64_t first, std::int64_t last, std::int64_t slice_tokens) {
    const auto& boundaries = plan_.boundaries();
    SlicePlan slice{first, first, {}, 0, {}};
    const std::int64_t reach = std::max(plan_.options().window, plan_.options().selection.window);
    const bool full_text = plan_.options().selection.full_text;
    while (slice.last < last) {
      const std::int64_t end = std::min<std::int64_t>(last, slice.last + workers_);
      if (slice.last > first && boundaries[at(end)] - boundaries[at(first)] > slice_tokens) break;
      const std::int64_t tokens = boundaries[at(end)] - boundaries[at(slice.last)];
      const BatchBuilder::Stretch stretch = builder_.stretch(boundaries[at(slice.last)], boundaries[at(end)]);
      SlicePlan::WavePlan wave{slice.last, end, 0, 0, 0};
      wave.positions = std::min(stretch.last - stretch.first, tokens + 2 * halo_);
      wave.places = (full_text ? stretch.last - stretch.first : wave.positions) + 2 * reach + 1;
      for (std::int64_t b = wave.first; b < wave.last; ++b)
        wave.longest = std::max(wave.longest, boundaries[at(b + 1)] - boundaries[at(b)]);
      most_positions_ = std::max(most_positions_, wave.positions);
      slice.waves.push_back(wave);
      slice.last = end;
    }
    slice.tokens = builder_.stretch(boundaries[at(first)], boundaries[at(slice.last)]);
    if (full_text) {
      slice.tokens.first = std::max<std::int64_t>(0, slice.tokens.first - reach);
      slice.tokens.last = std::min(plan_.corpus().n_tokens(), slice.tokens.last + reach);
    }
    const auto [begin, end] = sentences_of(slice);
    slice.sentences = end - begin;
    most_tokens_ = std::max(most_tokens_, slice.tokens.last - slice.tokens.first);
    most_sentences_ = std::max(most_sentences_, slice.sentences);
    most_batches_ = std::max(most_batches_, slice.last - slice.first);
    if (most_tokens_ > (1 << 30) || most_positions_ * most_senses_ > (1 << 30))
      throw std::invalid_argument("batch_tokens times senses is too large for the device; lower batch_tokens");
    return slice;
  }

  const Trainer& plan_;
  const BatchBuilder builder_;
  const int halo_, workers_;
  std::int64_t most_tokens_ = 0, most_sentences_ = 0, most_batches_ = 0, most_positions_ = 0, most_senses_ = 0;
};

}  // namespace muse::cuda
