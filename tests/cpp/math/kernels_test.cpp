#include "math/kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using muse::Kernels;

constexpr float kGuard = 12345.0f;  // behind what a kernel may write

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> found;
  for (const char* name : muse::kKernelNames)
    if (const Kernels* k = muse::find_kernels(name)) found.push_back(k);
  return found;
}

std::vector<float> random_floats(int count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = normal(generator);
  return values;
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Largest distance between two results, and how many guards behind `count` numbers were overwritten.
double error_of(const std::vector<float>& out, const std::vector<double>& expected) {
  double worst = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(out[i] - expected[i]));
  for (std::size_t i = expected.size(); i < out.size(); ++i)
    if (out[i] != kGuard) return INFINITY;
  return worst;
}

const std::vector<int> kCounts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 21, 31, 32, 33, 40};
const std::vector<int> kDims = {16, 32, 48, 64, 80, 96, 112, 160, 304, 320};

}  // namespace

TEST_CASE("kernels: each table has its name, and the environment chooses one") {
  for (const Kernels* k : all_kernels()) {
    setenv("MUSE_ISA", k->name, 1);
    CHECK(&muse::kernels() == k);
  }
  setenv("MUSE_ISA", "mmx", 1);
  CHECK_THROWS_WITH_AS(muse::kernels(), doctest::Contains("MUSE_ISA=mmx"), std::runtime_error);
  setenv("MUSE_ISA", "", 1);
  CHECK(&muse::kernels() == all_kernels().back());
  unsetenv("MUSE_ISA");
  CHECK(&muse::kernels() == all_kernels().back());
  CHECK(muse::find_kernels("mmx") == nullptr);
}

TEST_CASE("kernels: scores and combine agree with plain loops") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    double worst_score = 0.0, worst_row = 0.0, worst_column = 0.0;
    for (const int dim : kDims)
      for (const int m : kCounts)
        for (const int n : kCounts) {
          if ((m + n + dim / 16) % 3 != 0) continue;  // a third of all shapes, to be quick
          const std::vector<float> a = random_floats(m * dim, 1), b = random_floats(n * dim, 2);
          const std::vector<float> e = random_floats(m * n, 3);
          std::vector<double> scores(at(m * n), 0.0), rows(at(m * dim), 0.0), columns(at(n * dim), 0.0);
          for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j)
              for (int d = 0; d < dim; ++d) {
                const double x = a[at(i * dim + d)], y = b[at(j * dim + d)], w = e[at(i * n + j)];
                scores[at(i * n + j)] += x * y;
                rows[at(i * dim + d)] += w * y;     // E B
                columns[at(j * dim + d)] += w * x;  // E' A
              }
          std::vector<float> out(at(m * n + 20), kGuard);
          k->scores(a.data(), m, b.data(), n, dim, out.data(), n);
          worst_score = std::max(worst_score, error_of(out, scores) / std::sqrt(dim));
          out.assign(at(m * (n + 5)), kGuard);
          k->scores(a.data(), m, b.data(), n, dim, out.data(), n + 5);
          for (int i = 0; i < m; ++i)
            for (int j = 0; j < n + 5; ++j)
              if (j >= n)
                REQUIRE(out[at(i * (n + 5) + j)] == kGuard);
              else
                worst_score =
                    std::max(worst_score, std::abs(out[at(i * (n + 5) + j)] - scores[at(i * n + j)]) / std::sqrt(dim));
          out.assign(at(m * dim + 20), kGuard);
          k->combine(e.data(), n, 1, m, n, b.data(), dim, out.data());
          worst_row = std::max(worst_row, error_of(out, rows));
          out.assign(at(n * dim + 20), kGuard);
          k->combine(e.data(), 1, n, n, m, a.data(), dim, out.data());
          worst_column = std::max(worst_column, error_of(out, columns));
        }
    CHECK(worst_score < 2e-6);
    CHECK(worst_row < 2e-5);
    CHECK(worst_column < 2e-5);
  }
}

TEST_CASE("kernels: score_rows and blend read rows of any length, and nothing behind them") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    double worst_score = 0.0, worst_blend = 0.0;
    for (const int dim : {1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 100, 113, 127, 128, 300, 301})
      for (const int n : kCounts) {
        std::vector<std::vector<float>> matrix;  // each row in memory of its own: a sanitizer sees reads beyond it
        std::vector<const float*> rows;
        for (int j = 0; j < n; ++j) matrix.push_back(random_floats(dim, static_cast<unsigned>(j)));
        for (const auto& row : matrix) rows.push_back(row.data());
        const std::vector<float> x = random_floats(dim, 99);
        std::vector<float> out(at(n + 1), kGuard);
        k->score_rows(x.data(), rows.data(), n, dim, out.data());
        std::vector<double> scores(at(n), 0.0);
        for (int j = 0; j < n; ++j)
          for (int d = 0; d < dim; ++d) scores[at(j)] += static_cast<double>(x[at(d)]) * matrix[at(j)][at(d)];
        worst_score = std::max(worst_score, error_of(out, scores) / std::sqrt(dim));

        for (const int m : {1, 2, 3, 4, 5, 8}) {
          const int stride = dim + 3;
          const std::vector<float> e = random_floats(m * n, 7);
          out.assign(at(m * stride), kGuard);
          k->blend(e.data(), m, n, rows.data(), dim, out.data(), stride, rows.data(), n / 2);
          for (int i = 0; i < m; ++i)
            for (int d = 0; d < stride; ++d) {
              double expected = d < dim ? 0.0 : kGuard;
              for (int j = 0; d < dim && j < n; ++j)
                expected += static_cast<double>(e[at(i * n + j)]) * matrix[at(j)][at(d)];
              worst_blend = std::max(worst_blend, std::abs(out[at(i * stride + d)] - expected));
            }
        }
      }
    CHECK(worst_score < 2e-6);
    CHECK(worst_blend < 2e-5);
  }
}

TEST_CASE("kernels: score_rows, combine_add and step_rows work on rows where they lie") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    double worst_score = 0.0, worst_added = 0.0, worst_row = 0.0, worst_sum = 0.0;
    for (const int dim : kDims)
      for (const int n : kCounts) {
        const int stride = dim + 16;
        const std::vector<float> before = random_floats(n * stride, 8), x = random_floats(dim, 9);
        const std::vector<float> e = random_floats(n, 10), start = random_floats(dim, 11);
        std::vector<float> matrix = before, sum = start;
        std::vector<float*> rows;
        for (int i = 0; i < n; ++i) rows.push_back(matrix.data() + (n - 1 - i) * stride);

        std::vector<float> out(at(n + 1), kGuard);
        k->score_rows(x.data(), rows.data(), n, dim, out.data());
        std::vector<double> scores(at(n), 0.0), total(start.begin(), start.end());
        std::vector<double> stepped(before.begin(), before.end());
        for (int i = 0; i < n; ++i)
          for (int d = 0; d < dim; ++d) {
            const double row = before[at((n - 1 - i) * stride + d)];
            scores[at(i)] += row * x[at(d)];
            total[at(d)] += e[at(i)] * row;
            stepped[at((n - 1 - i) * stride + d)] += e[at(i)] * static_cast<double>(x[at(d)]);
          }
        worst_score = std::max(worst_score, error_of(out, scores) / std::sqrt(dim));
        k->step_rows(x.data(), e.data(), rows.data(), rows.data(), n, dim, sum.data());
        worst_row = std::max(worst_row, error_of(matrix, stepped));
        worst_sum = std::max(worst_sum, error_of(sum, total));

        // Rows that repeat: all of them the same one.
        matrix = before;
        std::vector<double> added(before.begin(), before.end());
        const std::vector<float*> same(at(n), matrix.data());
        for (int i = 0; i < n; ++i)
          for (int d = 0; d < dim; ++d) added[at(d)] += e[at(i)] * static_cast<double>(x[at(d)]);
        k->combine_add(e.data(), 1, 1, n, 1, x.data(), dim, same.data());
        worst_added = std::max(worst_added, error_of(matrix, added));
      }
    CHECK(worst_score < 2e-6);
    CHECK(worst_row < 1e-6);
    CHECK(worst_sum < 2e-5);
    CHECK(worst_added < 2e-5);
  }
}

TEST_CASE("kernels: gather and scatter_add, with rows that repeat and padding between them") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    for (const int dim : kDims) {
      const int stride = dim + 16;
      std::vector<float> matrix = random_floats(7 * stride, 4);
      const std::vector<float> before = matrix;
      const std::vector<int> picks = {3, 0, 3, 6, 3, 1};
      const auto count = static_cast<int>(picks.size());
      std::vector<float*> rows;
      std::vector<const float*> read;
      for (const int p : picks) {
        rows.push_back(matrix.data() + p * stride);
        read.push_back(rows.back());
      }
      std::vector<float> panel(at(count * dim + 16), kGuard);
      k->gather(read.data(), count, dim, panel.data());
      for (int i = 0; i < count; ++i)
        for (int d = 0; d < dim; ++d) REQUIRE(panel[at(i * dim + d)] == before[at(picks[at(i)] * stride + d)]);
      CHECK(panel[at(count * dim)] == kGuard);

      const std::vector<float> added = random_floats(count * dim, 5);
      k->scatter_add(rows.data(), count, dim, added.data(), -0.5f);
      std::vector<double> expected(before.begin(), before.end());
      for (int i = 0; i < count; ++i)
        for (int d = 0; d < dim; ++d) expected[at(picks[at(i)] * stride + d)] += -0.5 * added[at(i * dim + d)];
      CHECK(error_of(matrix, expected) < 1e-6);
      for (int d = dim; d < stride; ++d) CHECK(matrix[at(3 * stride + d)] == before[at(3 * stride + d)]);
    }
  }
}

TEST_CASE("kernels: dot and axpy for any dimension and alignment") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    double worst_dot = 0.0, worst_axpy = 0.0;
    for (int dim = 0; dim <= 330; ++dim)
      for (const int offset : {0, 1, 5}) {
        const std::vector<float> x = random_floats(dim + offset, 6);
        std::vector<float> y = random_floats(dim + offset, 7);
        double sum = 0.0;
        for (int d = offset; d < dim + offset; ++d) sum += static_cast<double>(x[at(d)]) * y[at(d)];
        const float dot = k->dot(x.data() + offset, y.data() + offset, dim);
        worst_dot = std::max(worst_dot, std::abs(dot - sum) / std::sqrt(dim + 1.0));
        std::vector<double> expected(y.begin(), y.end());
        for (int d = offset; d < dim + offset; ++d) expected[at(d)] += 0.3f * static_cast<double>(x[at(d)]);
        y.resize(y.size() + 20, kGuard);
        k->axpy(0.3f, x.data() + offset, y.data() + offset, dim);
        worst_axpy = std::max(worst_axpy, error_of(y, expected));
      }
    CHECK(worst_dot < 2e-6);
    CHECK(worst_axpy < 1e-6);
  }
}

TEST_CASE("kernels: add_row adds a multiple of one row to another") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    for (const int dim : kDims) {
      const std::vector<float> x = random_floats(dim, 12), next = random_floats(dim, 13);
      std::vector<float> y = random_floats(dim, 14);
      std::vector<double> expected(y.begin(), y.end());
      for (int d = 0; d < dim; ++d) expected[at(d)] -= 0.7f * static_cast<double>(x[at(d)]);
      y.resize(at(dim + 20), kGuard);
      k->add_row(-0.7f, x.data(), y.data(), next.data(), dim);
      CHECK(error_of(y, expected) < 1e-6);
    }
  }
}

TEST_CASE("kernels: sigmoid is right to 1e-6 everywhere, in place too") {
  std::vector<float> x;
  for (double v = -40.0; v <= 40.0; v += 1e-3) x.push_back(static_cast<float>(v));
  for (const float v : {0.0f, -0.0f, 1e-30f, -1e30f, 1e30f, INFINITY, -INFINITY, 88.8f, -88.8f}) x.push_back(v);
  const auto count = static_cast<int>(x.size());
  x.resize(at((count + 15) / 16 * 16));
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    std::vector<float> out(x.size());
    k->sigmoid(x.data(), count, out.data());
    double worst = 0.0;
    bool rises = true;
    for (int i = 0; i < count; ++i) {
      const double expected = 1.0 / (1.0 + std::exp(-static_cast<double>(x[at(i)])));
      worst = std::max(worst, std::abs(out[at(i)] - expected));
      rises = rises && out[at(i)] >= 0.0f && out[at(i)] <= 1.0f;
    }
    CHECK(worst < 1e-6);
    CHECK(rises);
    std::vector<float> in_place = x;
    k->sigmoid(in_place.data(), count, in_place.data());
    CHECK(in_place == out);
    float nan[16] = {NAN};
    k->sigmoid(nan, 1, nan);
    CHECK(std::isnan(nan[0]));  // a diverged model must not look healthy
  }
}

TEST_CASE(
    "kernels: slide sums the rows around a place, not its own, by where they stand, and slide_gradient goes back") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    for (const int dim : {1, 5, 16, 20, 64, 100, 112, 300})
      for (const int n : {1, 3, 4, 9})
        for (const int positions : {1, 3, 7, 21}) {
          CAPTURE(dim);
          CAPTURE(n);
          CAPTURE(positions);
          const int count = n + positions + 2;
          const std::vector<float> a = random_floats(positions * dim, 15), g = random_floats(n * dim, 16);
          const std::vector<float> x = random_floats(count * dim, 17);
          std::vector<const float*> rows;
          for (int i = 0; i < count; ++i) rows.push_back(x.data() + (i * 5 % count) * dim);
          std::vector<int> starts;
          for (int i = 0; i < n; ++i) starts.push_back((i * 7) % (n + 3));
          std::vector<double> sums(at(n * dim), 0.0), gradient(at(positions * dim), 0.5);
          for (int i = 0; i < n; ++i)
            for (int p = 0; p < positions; ++p)
              for (int d = 0; d < dim && p != positions / 2; ++d) {
                const double row = rows[at(starts[at(i)] + p)][d];
                sums[at(i * dim + d)] += a[at(p * dim + d)] * row;
                gradient[at(p * dim + d)] += g[at(i * dim + d)] * row;
              }
          std::vector<float> out(at(n * dim + 20), kGuard), back(at(positions * dim), 0.5f);
          back.resize(at(positions * dim + 20), kGuard);
          k->slide(a.data(), positions, rows.data(), starts.data(), n, dim, out.data());
          CHECK(error_of(out, sums) < 2e-5);
          k->slide_gradient(g.data(), rows.data(), starts.data(), n, positions, dim, back.data());
          CHECK(error_of(back, gradient) < 2e-5);
        }
  }
}

TEST_CASE("kernels: shorten and lengthen keep numbers between -1 and 1 to 16 bits") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    std::vector<float> x(160), back(160);
    for (int i = 0; i < 160; ++i) x[at(i)] = -1.0f + static_cast<float>(i) / 79.5f;
    std::vector<std::int16_t> shorts(160);
    k->shorten(x.data(), 160, shorts.data());
    CHECK(shorts.front() == -32767);
    CHECK(shorts.back() == 32767);
    k->lengthen(shorts.data(), 160, back.data());
    for (int i = 0; i < 160; ++i) CHECK(std::fabs(back[at(i)] - x[at(i)]) < 1.6e-5f);
  }
}

TEST_CASE("kernels: likely_rows finds the rows of bytes whose products may be large enough") {
  std::mt19937 generator(7);
  std::uniform_int_distribution<int> byte(-127, 127), number(-muse::kLargestByteQuery, muse::kLargestByteQuery);
  for (const Kernels* k : all_kernels())
    for (const int dim : {16, 32, 48, 112, 304})
      for (const int count : {1, 3, 15, 16, 17, 40}) {
        CAPTURE(k->name);
        CAPTURE(dim);
        CAPTURE(count);
        std::vector<std::int8_t> rows(at(count * dim));
        std::vector<std::int16_t> x(at(dim));
        for (auto& r : rows) r = static_cast<std::int8_t>(byte(generator));
        for (auto& n : x) n = static_cast<std::int16_t>(number(generator));
        std::fill_n(rows.begin(), dim, std::int8_t{-127});  // the extremes, which 16 bits do not hold
        x[0] = muse::kLargestByteQuery;
        x[1] = -muse::kLargestByteQuery;
        std::vector<float> scale(at(count), 1e-3f), slack(at(count), 2.0f);
        if (count > 2) scale[2] = std::nanf("");
        const muse::ByteQuery query{x.data(), 1e-4f, 0.5f};
        std::vector<int> expected, found(at(count) + 1, -1);
        for (int i = 0; i < count; ++i) {
          double product = 0.0;
          for (int d = 0; d < dim; ++d) product += x[at(d)] * rows[at(i * dim + d)];
          if (!(product * 1e-7 + 1.0 < 0.25) || i == 2) expected.push_back(i);
        }
        const int hits =
            k->likely_rows(query, rows.data(), scale.data(), slack.data(), count, dim, 0.25f, found.data());
        CHECK(found.back() == -1);
        found.resize(at(hits));
        CHECK(found == expected);
      }
}

TEST_CASE("kernels: adagrad divides by the root of all squares so far") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(std::string(k->name));
    constexpr int kCount = 48;
    std::vector<float> gradient = random_floats(kCount, 18), squares(kCount, 0.25f), values = random_floats(kCount, 19);
    gradient[5] = 0.0f;
    squares[5] = 0.0f;
    std::vector<double> expected_squares, expected;
    for (int i = 0; i < kCount; ++i) {
      const double g = gradient[at(i)];
      expected_squares.push_back(squares[at(i)] + g * g);
      expected.push_back(values[at(i)] +
                         (expected_squares.back() > 0 ? 0.1 * g / std::sqrt(expected_squares.back()) : 0));
    }
    squares.resize(kCount + 16, kGuard);
    values.resize(kCount + 16, kGuard);
    k->adagrad(gradient.data(), 0.1f, kCount, squares.data(), values.data());
    CHECK(error_of(squares, expected_squares) < 1e-5);
    CHECK(error_of(values, expected) < 1e-6);
  }
}
