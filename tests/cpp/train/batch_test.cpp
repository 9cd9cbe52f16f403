#include "train/batch.h"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "train/sampler.h"

namespace {

using muse::Batch;
using muse::Options;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets = {0};
  for (const std::int64_t n : lengths) offsets.push_back(offsets.back() + n);
  return offsets;
}

std::vector<std::int64_t> random_lengths(unsigned seed, int longest) {
  std::mt19937 generator(seed);
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 60; ++i) lengths.push_back(generator() % (generator() % 5 == 0 ? at(longest) : 8));
  return lengths;
}

muse::Corpus make_corpus(unsigned seed, int longest) {
  const std::vector<std::int64_t> offsets = offsets_of(random_lengths(seed, longest));
  std::mt19937 generator(seed + 1);
  std::vector<std::int32_t> tokens;
  for (std::int64_t t = 0; t < offsets.back(); ++t) tokens.push_back(static_cast<std::int32_t>(generator() % 9));
  return {tokens, offsets};
}

const std::vector<float> kKeep = {0.2f, 0.5f, 0.9f, 1.0f, 1.0f, 0.7f, 1.0f, 0.4f, 1.0f};

// All that a target sees: tokens by their place in the corpus, words with their distance for the selector.
struct Seen {
  std::int32_t word;
  int window;
  std::vector<std::int64_t> collocates;
  std::vector<std::pair<int, std::int32_t>> context;
  bool operator==(const Seen&) const = default;
};

std::vector<std::pair<int, std::int32_t>> context_of(const Batch& batch, int i, int reach) {
  std::vector<std::pair<int, std::int32_t>> context;
  const int centre = batch.context_at[at(i)];
  const int low = std::max(batch.context_begin[at(i)], centre - reach);
  const int high = std::min(batch.context_end[at(i)] - 1, centre + reach);
  for (int j = low; j <= high; ++j) context.emplace_back(j - centre, batch.context_word[at(j)]);
  return context;
}

// What targets see, and their collocates in turn, over batches that begin at `boundaries`.
std::map<std::int64_t, std::vector<Seen>> read_all(const muse::Corpus& corpus, const Options& options,
                                                   const std::vector<std::int64_t>& boundaries) {
  const muse::BatchBuilder builder(corpus, kKeep, options, 2);
  std::map<std::int64_t, std::vector<Seen>> all;
  Batch batch;
  for (std::size_t b = 0; b + 1 < boundaries.size(); ++b) {
    builder.build(boundaries[b], boundaries[b + 1], batch);
    for (int i = batch.first_target; i < batch.last_target; ++i) {
      std::vector<Seen>& seen = all[batch.token[at(i)]];
      REQUIRE(seen.empty());  // a token is a target once
      std::vector<int> positions = {i};
      for (int j = batch.collocates_low(i); j <= batch.collocates_high(i); ++j)
        if (j != i) positions.push_back(j);
      for (const int p : positions) {
        const int reach = options.shrink_selection ? batch.window[at(p)] : options.selection.window;
        seen.push_back({batch.word[at(p)], batch.window[at(p)], {}, context_of(batch, p, reach)});
        if (p == i)
          for (const int j : positions) seen.back().collocates.push_back(batch.token[at(j)]);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("batch_boundaries: batches cover the corpus, none is empty, and sentences are cut only when they must be") {
  for (unsigned seed = 0; seed < 40; ++seed)
    for (const std::int64_t batch_tokens : {1, 3, 10, 64, 100000}) {
      const std::vector<std::int64_t> offsets = offsets_of(random_lengths(seed, seed % 2 == 0 ? 12 : 90));
      const std::vector<std::int64_t> boundaries = muse::batch_boundaries(offsets, batch_tokens);
      CAPTURE(seed);
      CAPTURE(batch_tokens);
      REQUIRE(boundaries.front() == 0);
      REQUIRE(boundaries.back() == offsets.back());
      const std::set<std::int64_t> starts(offsets.begin(), offsets.end());
      for (std::size_t b = 1; b < boundaries.size(); ++b) {
        const std::int64_t size = boundaries[b] - boundaries[b - 1];
        CHECK(size > 0);
        CHECK(size < 2 * batch_tokens);
        if (starts.contains(boundaries[b])) continue;
        // Inside a sentence: it is a long one, cut at multiples of the batch size.
        const std::int64_t begin = *(std::upper_bound(offsets.begin(), offsets.end(), boundaries[b]) - 1);
        const std::int64_t end = *std::upper_bound(offsets.begin(), offsets.end(), boundaries[b]);
        CHECK(end - begin > batch_tokens);
        CHECK((boundaries[b] - begin) % batch_tokens == 0);
      }
    }
}

TEST_CASE("batch_boundaries: small cases by hand") {
  using List = std::vector<std::int64_t>;
  CHECK(muse::batch_boundaries(List{0}, 8) == List{0});
  CHECK(muse::batch_boundaries(List{0, 5}, 8) == List{0, 5});
  CHECK(muse::batch_boundaries(List{0, 5, 8, 9}, 8) == List{0, 8, 9});
  CHECK(muse::batch_boundaries(List{0, 5, 12, 14}, 8) == List{0, 12, 14});
  CHECK(muse::batch_boundaries(List{0, 20}, 8) == List{0, 8, 16, 20});
  CHECK(muse::batch_boundaries(List{0, 16}, 8) == List{0, 8, 16});
  CHECK(muse::batch_boundaries(List{0, 3, 23, 25}, 8) == List{0, 3, 11, 19, 23, 25});
}

TEST_CASE("BatchBuilder: the kept tokens are those that the draws keep") {
  const muse::Corpus corpus = make_corpus(3, 50);
  Options options;
  options.seed = 9;
  Batch batch;
  muse::BatchBuilder(corpus, kKeep, options, 4).build(0, corpus.n_tokens(), batch);
  const muse::RandomStream draw(9, 4, muse::Purpose::kSubsample);
  std::vector<std::int64_t> expected;
  for (std::int64_t t = 0; t < corpus.n_tokens(); ++t) {
    const float keep = kKeep[at(corpus.tokens()[at(t)])];
    if (keep >= 1.0f || draw.uniform(at(t)) < keep) expected.push_back(t);
  }
  CHECK(batch.token == expected);
  CHECK(batch.first_target == 0);
  CHECK(batch.last_target == static_cast<int>(expected.size()));
  CHECK(expected.size() < at(corpus.n_tokens()));
  std::set<int> windows(batch.window.begin(), batch.window.end());
  CHECK(windows == std::set<int>{1, 2, 3, 4, 5});
  for (int i = 0; i < batch.size(); ++i) {
    const auto end = std::upper_bound(corpus.offsets().begin(), corpus.offsets().end(), batch.token[at(i)]);
    CHECK(batch.token[at(batch.sentence_begin[at(i)])] >= *(end - 1));
    CHECK(batch.token[at(batch.sentence_end[at(i)] - 1)] < *end);
    CHECK((batch.sentence_end[at(i)] == batch.size() || batch.token[at(batch.sentence_end[at(i)])] >= *end));
  }
}

TEST_CASE("BatchBuilder: what a target and its collocates see does not depend on where batches are cut") {
  for (unsigned seed = 0; seed < 6; ++seed)
    for (const bool full_text : {false, true})
      for (const bool shrink : {false, true})
        for (const int selection_window : {1, 3, 8}) {
          CAPTURE(seed);
          CAPTURE(full_text);
          CAPTURE(shrink);
          CAPTURE(selection_window);
          Options options;
          options.window = 3;
          options.shrink_selection = shrink;
          options.selection.window = selection_window;
          options.selection.full_text = full_text;
          const muse::Corpus corpus = make_corpus(seed, 60);
          const auto whole = read_all(corpus, options, {0, corpus.n_tokens()});
          CHECK(whole.size() > 50);
          for (const std::int64_t batch_tokens : {1, 4, 20})
            CHECK(whole == read_all(corpus, options, muse::batch_boundaries(corpus.offsets(), batch_tokens)));
        }
}

TEST_CASE("BatchBuilder: a batch without a kept token is empty, and the next is whole again") {
  const muse::Corpus corpus({0, 0, 1, 1}, {0, 2, 4});
  const std::vector<float> keep = {0.0f, 1.0f};
  Options options;
  Batch batch;
  const muse::BatchBuilder builder(corpus, keep, options, 0);
  for (int round = 0; round < 2; ++round) {
    builder.build(0, 2, batch);
    CHECK(batch.size() == 0);
    CHECK(batch.last_target == 0);
    builder.build(2, 4, batch);
    CHECK(batch.token == std::vector<std::int64_t>{2, 3});
    CHECK(batch.collocates_low(0) == 0);
    CHECK(batch.collocates_high(0) == 1);
  }
}

TEST_CASE("beyond 2^32 tokens: batches, their tokens and their draws") {
  // Pages of zeros that nobody touches cost nothing.
  constexpr std::int64_t kBorder = std::int64_t{1} << 32, kTokens = kBorder + 5000;
  constexpr std::size_t kBytes = static_cast<std::size_t>(kTokens) * sizeof(std::int32_t);
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);  // NOLINT
  if (memory == MAP_FAILED) {
    MESSAGE("skipped: this process may not map 16 GB");
    return;
  }
  const std::shared_ptr<const void> owner(memory, [](void* p) { ::munmap(p, kBytes); });
  const std::vector<std::int64_t> offsets = {0, kBorder - 100, kBorder + 100, kTokens};
  const muse::Corpus corpus(owner, {static_cast<const std::int32_t*>(memory), at(kTokens)}, offsets, kTokens, 3, true);
  CHECK(corpus.n_tokens() == kTokens);

  const std::vector<std::int64_t> boundaries = muse::batch_boundaries(offsets, 1 << 20);
  CHECK(boundaries.size() > 4096);
  CHECK(boundaries.back() == kTokens);
  CHECK(std::is_sorted(boundaries.begin(), boundaries.end()));

  const std::vector<float> keep = {0.5f};
  Options options;
  options.seed = 9;
  Batch batch;
  muse::BatchBuilder(corpus, keep, options, 1).build(kBorder - 100, kTokens, batch);
  const muse::RandomStream subsample(9, 1, muse::Purpose::kSubsample);
  std::vector<std::int64_t> expected;
  bool as_if_cut_off = true;  // to 32 bits
  for (std::int64_t t = kBorder - 100; t < kTokens; ++t) {
    if (subsample.uniform(at(t)) < 0.5f) expected.push_back(t);
    as_if_cut_off = as_if_cut_off && subsample.bits(at(t)) == subsample.bits(at(t) & 0xffffffffu);
  }
  CHECK_FALSE(as_if_cut_off);
  CHECK(batch.token == expected);
  CHECK(batch.last_target - batch.first_target == static_cast<int>(expected.size()));
}
