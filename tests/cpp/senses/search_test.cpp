#include "senses/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Found {
  std::vector<std::int64_t> rows;
  std::vector<float> scores;
};

Found search(const muse::Matrix& matrix, const muse::Matrix& queries, const muse::SearchOptions& options) {
  const auto size = static_cast<std::size_t>(queries.rows * options.top);
  Found found{std::vector<std::int64_t>(size, -7), std::vector<float>(size, -7.0f)};
  muse::top_k(matrix, queries, options, found.rows.data(), found.scores.data());
  return found;
}

muse::Matrix view(std::vector<float>& data, std::int64_t rows, int dim, std::int64_t stride) {
  return {data.data(), rows, dim, stride};
}

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(count);
  for (float& v : values) v = uniform(generator);
  return values;
}

}  // namespace

TEST_CASE("top_k: the hand-made case, with padding that must not be read") {
  // Rows (1, 0), (0, 2), (3, 1); what lies behind them is poison.
  std::vector<float> data = {1, 0, kInfinity, 0, 2, kInfinity, 3, 1, kInfinity};
  std::vector<float> query = {1, 1};
  const Found found = search(view(data, 3, 2, 3), view(query, 1, 2, 2), {.top = 2});
  CHECK(found.rows == std::vector<std::int64_t>{2, 1});
  CHECK(found.scores == std::vector<float>{4, 2});
}

TEST_CASE("top_k agrees with a full sort, for any threads, stride and number of queries") {
  constexpr std::int64_t kRows = 9001;  // several chunks, and a last block that is not full
  for (const int dim : {1, 17, 100}) {
    for (const std::int64_t num_queries : {1, 3, 70}) {
      CAPTURE(dim);
      CAPTURE(num_queries);
      const std::int64_t stride = dim + 3;
      std::vector<float> data = random_floats(static_cast<std::size_t>(kRows * stride), 1);
      std::vector<float> asked = random_floats(static_cast<std::size_t>(num_queries * dim), 2);
      const muse::Matrix matrix = view(data, kRows, dim, stride), queries = view(asked, num_queries, dim, dim);
      const Found one = search(matrix, queries, {.top = 5, .workers = 1});
      const Found four = search(matrix, queries, {.top = 5, .workers = 4});
      CHECK(one.rows == four.rows);
      CHECK(one.scores == four.scores);
      for (std::int64_t q = 0; q < num_queries; ++q) {
        std::vector<double> exact(kRows);
        for (std::int64_t i = 0; i < kRows; ++i)
          exact[static_cast<std::size_t>(i)] =
              std::inner_product(matrix.row(i), matrix.row(i) + dim, queries.row(q), 0.0);
        std::vector<double> sorted = exact;
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        for (std::size_t i = 0; i < 5; ++i) {
          const std::size_t at = static_cast<std::size_t>(q) * 5 + i;
          CHECK(one.scores[at] == doctest::Approx(sorted[i]).epsilon(1e-4));
          CHECK(exact[static_cast<std::size_t>(one.rows[at])] == doctest::Approx(sorted[i]).epsilon(1e-4));
        }
      }
    }
  }
}

TEST_CASE("top_k: equal scores go by row number") {
  std::vector<float> data(500, 1.0f);
  std::vector<float> query = {2};
  const Found found = search(view(data, 500, 1, 1), view(query, 1, 1, 1), {.top = 4, .workers = 3});
  CHECK(found.rows == std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("top_k: scale, mask, NaN, and fewer rows than asked for") {
  std::vector<float> data = {1, 2, std::nanf(""), 4, 5};
  std::vector<float> query = {1};
  const std::vector<float> scale = {10, 1, 1, 1, 1};
  const std::vector<std::uint8_t> keep = {1, 1, 1, 1, 0};
  const Found found =
      search(view(data, 5, 1, 1), view(query, 1, 1, 1), {.top = 5, .scale = scale.data(), .keep = keep.data()});
  CHECK(found.rows == std::vector<std::int64_t>{0, 3, 1, -1, -1});
  CHECK(found.scores == std::vector<float>{10, 4, 2, -kInfinity, -kInfinity});
}

TEST_CASE("top_k by rows of bytes: the rows and scores of a search without them, whatever the numbers are") {
  const float largest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  for (const int dim : {1, 7, 16, 33, 100, 300})
    for (const float size : {1.0f, 1e-20f, 1e-30f, 1e18f})
      for (const bool scaled : {false, true}) {
        CAPTURE(dim);
        CAPTURE(size);
        CAPTURE(scaled);
        constexpr std::int64_t kRows = 1000;
        std::vector<float> data = random_floats(static_cast<std::size_t>(kRows * dim), 3), scale;
        for (float& x : data) x *= size;
        const auto row = [&](std::int64_t i) { return data.begin() + i * dim; };
        std::fill_n(row(10), dim, 0.0f);
        std::fill_n(row(20), dim, std::nanf(""));
        *row(30) = kInfinity;
        *row(31) = -kInfinity;
        std::fill_n(row(40), dim, least);
        *row(50) = largest;
        for (std::int64_t i = 60; i < 90; ++i) std::copy_n(row(61), dim, row(i));  // equal, but for their places
        for (std::int64_t i = 900; i < kRows; ++i)                                 // or nearly
          for (int d = 0; d < dim; ++d) row(i)[d] = row(61)[d] * (1.0f + static_cast<float>(i) * 1e-7f);
        for (std::int64_t i = 0; i < kRows; ++i) {
          const double square = std::inner_product(row(i), row(i) + dim, row(i), 0.0);
          scale.push_back(square > 0.0 ? static_cast<float>(1.0 / std::sqrt(square)) : 0.0f);
        }
        std::vector<float> asked = random_floats(static_cast<std::size_t>(6 * dim), 4);
        std::copy_n(row(61), dim, asked.begin());
        std::fill_n(asked.begin() + dim, dim, 0.0f);
        asked[static_cast<std::size_t>(2 * dim)] = kInfinity;
        asked[static_cast<std::size_t>(3 * dim)] = 1e30f;
        for (int d = 0; d < dim; ++d) asked[static_cast<std::size_t>(4 * dim + d)] *= 1e-30f;
        std::vector<std::uint8_t> keep(kRows, 1);
        for (std::size_t i = 0; i < kRows; i += 3) keep[i] = 0;
        const muse::Matrix matrix = view(data, kRows, dim, dim);
        for (const std::int64_t end : {std::int64_t{1000}, std::int64_t{517}}) {
          const muse::Matrix part = view(data, end, dim, dim);
          for (const int workers : {1, 3})
            for (const std::int64_t top : {1, 9, 60})
              for (std::int64_t q = 0; q < 6; ++q) {
                muse::SearchOptions options{
                    .top = top, .scale = scaled ? scale.data() : nullptr, .keep = keep.data(), .workers = workers};
                const muse::Matrix query = view(asked, 1, dim, dim);
                const muse::Matrix one{query.row(q), 1, dim, dim};
                const Found expected = search(part, one, options);
                const muse::ByteRows bytes(matrix, options.scale, workers);
                options.bytes = &bytes;
                const Found found = search(part, one, options);
                CHECK(found.rows == expected.rows);
                CHECK(found.scores == expected.scores);
              }
        }
      }
}

TEST_CASE("top_k by rows of bytes: many queries are answered as one by one") {
  constexpr int kDim = 40;
  std::vector<float> data = random_floats(3000 * kDim, 5), asked = random_floats(70 * kDim, 6);
  const muse::Matrix matrix = view(data, 3000, kDim, kDim), queries = view(asked, 70, kDim, kDim);
  const muse::ByteRows bytes(matrix, nullptr, 2);
  const Found all = search(matrix, queries, {.top = 4, .workers = 2, .bytes = &bytes});
  for (std::int64_t q = 0; q < 70; ++q) {
    const Found one = search(matrix, {queries.row(q), 1, kDim, kDim}, {.top = 4, .workers = 1});
    CHECK(std::equal(one.rows.begin(), one.rows.end(), all.rows.begin() + q * 4));
    CHECK(std::equal(one.scores.begin(), one.scores.end(), all.scores.begin() + q * 4));
  }
}

TEST_CASE("top_k: no rows, no queries") {
  std::vector<float> data = {1, 2};
  CHECK(search(view(data, 0, 2, 2), view(data, 1, 2, 2), {.top = 2}).rows == std::vector<std::int64_t>{-1, -1});
  CHECK(search(view(data, 1, 2, 2), view(data, 0, 2, 2), {.top = 2}).rows.empty());
}
