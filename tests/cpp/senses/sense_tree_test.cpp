#include "senses/sense_tree.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "senses/kmeans.h"
#include "senses/use_context.h"
#include "senses/use_rows.h"

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Words 1 to 10 are of one topic, 11 to 20 of the other; word 0 stands in the middle of each sentence.
struct Text {
  explicit Text(int sentences) {
    std::mt19937 generator(3);
    std::vector<std::int32_t> tokens;
    std::vector<std::int64_t> offsets{0};
    for (int s = 0; s < sentences; ++s) {
      const auto word = [&] {
        return static_cast<std::int32_t>(1 + 10 * (s % 2) + static_cast<int>(generator() % 10));
      };
      for (int i = 0; i < 7; ++i) tokens.push_back(i == 3 ? 0 : word());
      offsets.push_back(static_cast<std::int64_t>(tokens.size()));
    }
    corpus = muse::Corpus(std::move(tokens), std::move(offsets));
    std::normal_distribution<float> normal(0.0f, 0.2f);
    vectors.resize(21 * kDim);
    for (int w = 0; w < 21; ++w)
      for (int d = 0; d < kDim; ++d)
        vectors[at(w * kDim + d)] = normal(generator) + (w > 0 && (w > 10) == (d > 7) ? 0.5f : 0.0f);
    space.topic = {vectors.data(), 21, kDim, kDim};
    space.topic_options.window = 4;
    space.topic_options.distance = {0.0f, 1.0f, 0.5f, 0.5f, 0.5f};
  }

  static constexpr int kDim = 16;
  muse::Corpus corpus;
  std::vector<float> vectors;
  muse::UseSpace space;
};

}  // namespace

TEST_CASE("sense tree: leaves hold all uses, joins make one root, and the widest one parts the topics") {
  const Text text(300);
  const muse::Occurrences uses = muse::sample_occurrences(text.corpus, 21, 1000, 1);
  for (const int first_uses : {0, 100}) {
    muse::TreeOptions options;
    options.first_uses = first_uses;
    std::int64_t polled = 0;
    const muse::SenseTrees trees = muse::grow_trees(text.space, text.corpus, {uses.offsets, uses.places}, options, 1,
                                                    [&](std::int64_t) { ++polled; });
    CHECK(polled > 0);
    const auto leaves = trees.leaf_offset[1];
    REQUIRE(leaves >= 2);
    CHECK(std::accumulate(trees.counts.begin(), trees.counts.begin() + leaves, std::int64_t{0}) == 300);
    CHECK(trees.strengths.size() < trees.counts.size());
    const auto last = at(leaves - 2);  // the word's last join
    for (std::size_t j = 0; j < last; ++j) CHECK(trees.strengths[j] < trees.strengths[last]);
    std::int64_t used = trees.joins[2 * last] + trees.joins[2 * last + 1];
    CHECK(used < 2 * (2 * leaves - 2));
  }
}

TEST_CASE("sense tree: an exception of the caller's ends the work") {
  const Text text(200);
  const muse::Occurrences uses = muse::sample_occurrences(text.corpus, 21, 1000, 1);
  CHECK_THROWS_AS(muse::grow_trees(text.space, text.corpus, {uses.offsets, uses.places}, {}, 1,
                                   [](std::int64_t) { throw std::runtime_error("stop"); }),
                  std::runtime_error);
}

TEST_CASE("sense tree: a small cluster is joined before a large one that is as far away") {
  const std::vector<float> centroids = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<std::int64_t> counts = {100, 90, 4};
  const auto joins = muse::join_all(centroids, 3, counts, 0.3f);
  REQUIRE(joins.size() == 2);
  CHECK(joins[0].second == 2);
  CHECK(joins[0].strength == doctest::Approx(std::pow(2.0 * 4 / 194, 0.3)));
  CHECK(joins[1].second == 3);
  CHECK(muse::join_all(centroids, 3, counts, 0.0f)[0].second == 1);  // a tie: the first pair
}

TEST_CASE("use rows: contexts in the order of the text are those one by one, places given twice too") {
  const Text text(1500);  // several blocks
  std::mt19937 generator(5);
  std::vector<std::vector<std::int64_t>> places(3);
  for (int i = 0; i < 700; ++i)
    places[at(i % 3)].push_back(static_cast<std::int64_t>(generator() % at(text.corpus.n_tokens())));
  places[1].push_back(places[0][0]);
  const std::vector<std::span<const std::int64_t>> uses(places.begin(), places.end());
  muse::UseRows rows(text.space, text.corpus);
  for (const int workers : {1, 4}) {
    rows.compute(uses, workers, [](std::int64_t) {});
    muse::UseContexts contexts(text.space);
    std::vector<float> found(at(701 * contexts.stride())), one(at(contexts.stride()));
    rows.read(0, 701, found.data());
    std::int64_t row = 0;
    for (const auto& some : places)
      for (const std::int64_t place : some) {
        const auto sentence = muse::find_sentence(text.corpus, place);
        const std::int64_t within = place - sentence.begin;
        float scale = 0.0f;
        contexts.clear();
        contexts.add(sentence.tokens, {&within, 1});
        contexts.compute(one.data(), &scale);
        CHECK(*rows.scales(row) == doctest::Approx(scale));
        for (int d = 0; d < contexts.stride(); ++d)
          CHECK(std::fabs(found[at(row * contexts.stride() + d)] - one[at(d)]) < 2e-5f);
        ++row;
      }
    CHECK(row == 701);
  }
  rows.compute({}, 2, [](std::int64_t) {});
}

TEST_CASE("sense tree: with little memory there are more passes over the text, and the same trees") {
  const Text text(300);
  const muse::Occurrences uses = muse::sample_occurrences(text.corpus, 21, 1000, 1);
  std::vector<muse::SenseTrees> found;
  for (const std::int64_t memory : {std::int64_t{1}, std::int64_t{4000}, std::int64_t{1} << 30}) {
    muse::TreeOptions options;
    options.memory = memory;
    found.push_back(
        muse::grow_trees(text.space, text.corpus, {uses.offsets, uses.places}, options, 2, [](std::int64_t) {}));
  }
  CHECK(found[0].counts.size() > 40);
  for (const auto& trees : found) {
    CHECK(trees.means == found[0].means);
    CHECK(trees.topics == found[0].topics);
    CHECK(trees.joins == found[0].joins);
  }
}

TEST_CASE("use context: sentences are found for every place, and blocks are of unit length together") {
  const Text text(50);
  for (std::int64_t place = 0; place < text.corpus.n_tokens(); ++place) {
    const auto found = muse::find_sentence(text.corpus, place);
    CHECK(found.begin == place / 7 * 7);
    CHECK(found.tokens.size() == 7);
  }
  muse::UseContexts contexts(text.space);
  const std::vector<std::int64_t> places = {0, 3, 6};
  contexts.add(muse::find_sentence(text.corpus, 0).tokens, places);
  CHECK(contexts.size() == 3);
  std::vector<float> out(at(3 * contexts.stride()));
  contexts.compute(out.data());
  for (int i = 0; i < 3; ++i) {
    double square = 0.0;
    for (int d = 0; d < contexts.stride(); ++d) square += std::pow(out[at(i * contexts.stride() + d)], 2.0);
    CHECK(square == doctest::Approx(1.0));
  }
  contexts.clear();
  const std::vector<std::int32_t> alone = {5};
  const std::vector<std::int64_t> first = {0};
  contexts.add(alone, first);  // a word without neighbours says nothing
  contexts.compute(out.data());
  for (int d = 0; d < contexts.stride(); ++d) CHECK(out[at(d)] == 0.0f);
}

TEST_CASE("k-means: refining over all rows goes on from the centroids of some") {
  std::mt19937 generator(5);
  std::normal_distribution<float> normal(0.0f, 0.1f);
  constexpr int kDim = 16, kRows = 90;
  std::vector<float> rows(kRows * kDim);
  for (int i = 0; i < kRows; ++i) {
    double square = 0.0;
    for (int d = 0; d < kDim; ++d) {
      rows[at(i * kDim + d)] = normal(generator) + (d == i % 3 ? 1.0f : 0.0f);
      square += std::pow(rows[at(i * kDim + d)], 2.0);
    }
    for (int d = 0; d < kDim; ++d) rows[at(i * kDim + d)] /= static_cast<float>(std::sqrt(square));
  }
  muse::SphericalKMeans kmeans(kDim, {});
  kmeans.run(rows.data(), 30, 3, 0.0f, 1);
  CHECK(kmeans.assignment().size() == 30);
  kmeans.refine(rows.data(), kRows, 3, 2);
  REQUIRE(kmeans.assignment().size() == kRows);
  for (int i = 3; i < kRows; ++i) CHECK(kmeans.assignment()[at(i)] == kmeans.assignment()[at(i % 3)]);
}
