#include "train/batch.h"

#include <algorithm>

namespace muse {

int Batch::collocates_low(int i) const {
  const auto at = static_cast<std::size_t>(i);
  return std::max(sentence_begin[at], i - window[at]);
}

int Batch::collocates_high(int i) const {
  const auto at = static_cast<std::size_t>(i);
  return std::min(sentence_end[at] - 1, i + window[at]);
}

std::vector<std::int64_t> batch_boundaries(std::span<const std::int64_t> sentence_offsets, std::int64_t batch_tokens) {
  std::vector<std::int64_t> boundaries{sentence_offsets.front()};
  for (std::size_t s = 1; s < sentence_offsets.size(); ++s) {
    const std::int64_t end = sentence_offsets[s];
    const std::int64_t begin = sentence_offsets[s - 1];
    if (end - boundaries.back() < batch_tokens) continue;
    // A long sentence starts a batch of its own, so that it is cut at multiples of the batch size.
    if (end - begin > batch_tokens && begin > boundaries.back()) boundaries.push_back(begin);
    while (end - boundaries.back() > batch_tokens && boundaries.back() >= begin)
      boundaries.push_back(boundaries.back() + batch_tokens);
    if (end > boundaries.back()) boundaries.push_back(end);
  }
  if (boundaries.back() < sentence_offsets.back()) boundaries.push_back(sentence_offsets.back());
  return boundaries;
}

BatchBuilder::BatchBuilder(const Corpus& corpus, std::span<const float> keep, const Options& options, int epoch,
                           std::int64_t first_token)
    : tokens_(corpus.tokens()),
      offsets_(corpus.offsets()),
      keep_(keep),
      options_(options),
      first_token_(first_token),
      subsample_(options.seed, static_cast<std::uint64_t>(epoch), Purpose::kSubsample),
      window_(options.seed, static_cast<std::uint64_t>(epoch), Purpose::kWindow) {}

bool BatchBuilder::kept(std::int64_t token) const {
  const auto word = static_cast<std::size_t>(tokens_[static_cast<std::size_t>(token)]);
  return keeps_token(subsample_, static_cast<std::uint64_t>(first_token_ + token), keep_[word]);
}

BatchBuilder::Stretch BatchBuilder::stretch(std::int64_t begin, std::int64_t end) const {
  // A collocate lies within `window` of a target and its own selection context reaches further still.
  const int halo =
      options_.window + (options_.selection.full_text ? 0 : std::max(options_.window, options_.selection.window));
  const auto sentence = std::upper_bound(offsets_.begin(), offsets_.end(), begin) - 1;  // holds `begin`
  const std::int64_t floor = *sentence, ceiling = *std::lower_bound(offsets_.begin(), offsets_.end(), end);

  Stretch all{begin, end};
  for (int found = 0; all.first > floor && found < halo;) found += kept(--all.first);
  for (int found = 0; all.last < ceiling && found < halo;) found += kept(all.last++);
  return all;
}

void BatchBuilder::build(std::int64_t begin, std::int64_t end, Batch& batch) const {
  const Stretch all = stretch(begin, end);
  batch.word.clear();
  batch.token.clear();
  const auto read = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t)
      if (kept(t)) batch.token.push_back(t);
    return static_cast<int>(batch.token.size());
  };
  batch.first_target = read(all.first, begin);
  batch.last_target = read(begin, end);
  read(end, all.last);
  find_sentences(batch);
  read_contexts(batch);
  if (first_token_ != 0)
    for (std::int64_t& token : batch.token) token += first_token_;
}

void BatchBuilder::find_sentences(Batch& batch) const {
  const auto n = batch.token.size();
  batch.word.resize(n);
  batch.window.resize(n);
  batch.sentence_begin.resize(n);
  batch.sentence_end.resize(n);
  if (n == 0) return;
  auto sentence = std::upper_bound(offsets_.begin(), offsets_.end(), batch.token.front()) - 1;
  int first = 0;
  const auto close = [&](int end) {
    std::fill(batch.sentence_end.begin() + first, batch.sentence_end.begin() + end, end);
    first = end;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const auto place = static_cast<std::size_t>(batch.token[i]);
    const auto token = static_cast<std::uint64_t>(first_token_ + batch.token[i]);
    batch.word[i] = tokens_[place];
    batch.window[i] = options_.shrink_windows ? draw_window(window_, token, options_.window) : options_.window;
    if (batch.token[i] >= *(sentence + 1)) {
      close(static_cast<int>(i));
      while (batch.token[i] >= *(sentence + 1)) ++sentence;
    }
    batch.sentence_begin[i] = first;
  }
  close(static_cast<int>(n));
}

void BatchBuilder::read_contexts(Batch& batch) const {
  const auto n = batch.token.size();
  batch.context_at.resize(n);
  if (n == 0) return;
  if (!options_.selection.full_text) {
    batch.context_word = batch.word;
    for (std::size_t i = 0; i < n; ++i) batch.context_at[i] = static_cast<int>(i);
    batch.context_begin = batch.sentence_begin;
    batch.context_end = batch.sentence_end;
    return;
  }
  const std::int64_t reach = std::max(options_.window, options_.selection.window);
  const std::int64_t low = std::max(offsets_.front(), batch.token.front() - reach);
  const std::int64_t high = std::min(offsets_.back(), batch.token.back() + reach + 1);
  batch.context_word.assign(tokens_.begin() + low, tokens_.begin() + high);
  batch.context_begin.resize(n);
  batch.context_end.resize(n);
  auto sentence = std::upper_bound(offsets_.begin(), offsets_.end(), batch.token.front()) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    batch.context_at[i] = static_cast<int>(batch.token[i] - low);
    while (batch.token[i] >= *(sentence + 1)) ++sentence;
    batch.context_begin[i] = static_cast<int>(std::max(low, *sentence) - low);
    batch.context_end[i] = static_cast<int>(std::min(high, *(sentence + 1)) - low);
  }
}

}  // namespace muse
