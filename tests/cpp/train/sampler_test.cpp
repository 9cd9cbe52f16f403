#include "train/sampler.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "math/random.h"

namespace {

using muse::Purpose;
using muse::RandomStream;

// Σ (seen - expected)² / expected, over cells that are expected at all.
double chi_square(const std::vector<std::int64_t>& seen, const std::vector<double>& expected) {
  double sum = 0.0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (expected[i] > 0.0)
      sum += (static_cast<double>(seen[i]) - expected[i]) * (static_cast<double>(seen[i]) - expected[i]) / expected[i];
  return sum;
}

// A chi-square of `freedom` degrees stays below this, but for one seed in ten thousand.
double limit(std::size_t freedom) {
  const auto n = static_cast<double>(freedom);
  const double cube = 1.0 - 2.0 / (9.0 * n) + 3.72 * std::sqrt(2.0 / (9.0 * n));  // Wilson and Hilferty
  return n * cube * cube * cube;
}

}  // namespace

TEST_CASE("random: draws are the ones that models were trained with") {
  // Golden values: changing them changes every trained model. Computed apart from this code (tests/reference.py).
  CHECK(muse::mix64(0) == 0);
  CHECK(muse::mix64(1) == 0x5692161d100b05e5ULL);
  const RandomStream stream(1, 0, Purpose::kNegative);
  CHECK(stream.bits(0) == 0x6acea7e4e712ebf9ULL);
  CHECK(stream.bits(123456789, 7) == 0x89e2e913098d3b67ULL);
  CHECK(RandomStream(42, 3, Purpose::kSubsample).bits(5) == 0xac91dc5c22437961ULL);
}

TEST_CASE("random: uniform and below are even, over positions and over indices") {
  const RandomStream stream(7, 2, Purpose::kSense);
  constexpr std::size_t kCells = 50;
  constexpr int kDraws = 100000;
  for (const bool by_index : {false, true}) {
    std::vector<std::int64_t> uniform(kCells), below(kCells);
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const std::uint64_t position = by_index ? 3 : i, index = by_index ? i : 3;
      const float u = stream.uniform(position, index);
      REQUIRE(u >= 0.0f);
      REQUIRE(u < 1.0f);
      ++uniform[static_cast<std::size_t>(u * kCells)];
      ++below[stream.below(kCells, position, index)];
    }
    const std::vector<double> expected(kCells, static_cast<double>(kDraws) / kCells);
    CHECK(chi_square(uniform, expected) < limit(kCells - 1));
    CHECK(chi_square(below, expected) < limit(kCells - 1));
  }
}

TEST_CASE("random: seeds, epochs and purposes give streams of their own") {
  const std::vector<RandomStream> streams = {{1, 0, Purpose::kSense},   {2, 0, Purpose::kSense},
                                             {1, 1, Purpose::kSense},   {0, 1, Purpose::kSense},
                                             {1, 0, Purpose::kExplore}, {1, 2, Purpose::kSubsample}};
  for (std::size_t a = 0; a < streams.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      double product = 0.0;
      for (std::uint64_t i = 0; i < 20000; ++i)
        product += (streams[a].uniform(i) - 0.5) * (streams[b].uniform(i) - 0.5);
      CHECK(std::abs(product / 20000 * 12) < 0.035);  // correlation: five standard deviations
    }
}

TEST_CASE("keep_probabilities: word2vec's formula, as its C code writes it") {
  const std::vector<std::int64_t> counts = {1000000, 50000, 1000, 1, 0};
  double total = 0.0;
  for (const std::int64_t c : counts) total += static_cast<double>(c);
  for (const double sample : {1e-2, 1e-3, 1e-5}) {
    const std::vector<float> keep = muse::keep_probabilities(counts, sample);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto cn = static_cast<double>(counts[i]);
      const double word2vec = (std::sqrt(cn / (sample * total)) + 1) * (sample * total) / cn;
      CHECK(keep[i] == doctest::Approx(std::min(1.0, word2vec)).epsilon(1e-6));
    }
    CHECK(keep[0] < 0.2f);
    CHECK(keep[3] == 1.0f);
    CHECK(keep[4] == 1.0f);
  }
  for (const float k : muse::keep_probabilities(counts, 0.0)) CHECK(k == 1.0f);
}

TEST_CASE("NegativeSampler: frequencies are counts to the power of the exponent") {
  std::vector<std::int64_t> counts;
  for (std::int64_t i = 1; i <= 60; ++i) counts.push_back(i % 7 == 0 ? 0 : 100000 / i);
  const RandomStream stream(11, 0, Purpose::kNegative);
  constexpr int kDraws = 400000;
  for (const double exponent : {0.0, 0.75, 1.0}) {
    CAPTURE(exponent);
    const muse::NegativeSampler sampler(counts, exponent);
    std::vector<double> expected;
    double total = 0.0;
    std::size_t cells = 0;
    for (const std::int64_t c : counts) {
      expected.push_back(c > 0 ? std::pow(static_cast<double>(c), exponent) : 0.0);
      total += expected.back();
      cells += c > 0;
    }
    for (double& e : expected) e *= kDraws / total;
    std::vector<std::int64_t> seen(counts.size());
    for (std::uint64_t i = 0; i < kDraws; ++i) ++seen[static_cast<std::size_t>(sampler.draw(stream.bits(i)))];
    CHECK(chi_square(seen, expected) < limit(cells - 1));
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] == 0) CHECK(seen[i] == 0);
  }
}

TEST_CASE("NegativeSampler: extreme bits, one word, and no word") {
  const std::vector<std::int64_t> counts = {5, 0, 0, 3, 1};
  const muse::NegativeSampler sampler(counts, 0.75);
  for (const std::uint64_t bits :
       {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0xffffffff}, std::uint64_t{0xffffffff} << 32}) {
    const std::int32_t word = sampler.draw(bits);
    REQUIRE(word >= 0);
    REQUIRE(word < 5);
    CHECK(counts[static_cast<std::size_t>(word)] > 0);
  }
  const muse::NegativeSampler one(std::vector<std::int64_t>{9}, 0.75);
  for (std::uint64_t i = 0; i < 100; ++i) CHECK(one.draw(muse::mix64(i)) == 0);
  const muse::NegativeSampler huge(std::vector<std::int64_t>{std::int64_t{1} << 60, 1}, 1.0);
  for (std::uint64_t i = 1; i < 1000; ++i) CHECK(huge.draw(muse::mix64(i)) == 0);
  CHECK_THROWS_AS(muse::NegativeSampler(std::vector<std::int64_t>{0, 0}, 0.75), std::invalid_argument);
  CHECK_THROWS_AS(muse::NegativeSampler({}, 0.75), std::invalid_argument);
}
