#include "train/changes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

// A matrix of 5 of 16 columns.
struct Padded {
  explicit Padded(std::int64_t rows) : values(static_cast<std::size_t>(rows) * 16, 0.0f), matrix{nullptr, rows, 5, 16} {
    matrix.data = values.data();
  }
  float& at(std::int64_t row, int d) { return matrix.row(row)[d]; }

  std::vector<float> values;
  muse::Matrix matrix;
};

// Changes with their memory.
struct Held {
  Held(std::vector<std::int32_t> which, bool shorter)
      : rows(std::move(which)),
        shorts(rows.size() * 5),
        floats(rows.size() * 5),
        units(rows.size()),
        squares(rows.size()),
        workers(rows.size(), 1) {
    if (shorter)
      numbers.shorts = shorts.data();
    else
      numbers.floats = floats.data();
    numbers.units = units.data();
  }
  muse::ChangesView view() const { return {rows, numbers, squares, workers}; }

  std::vector<std::int32_t> rows;
  std::vector<std::int16_t> shorts;
  std::vector<float> floats, units, squares;
  std::vector<std::int32_t> workers;
  muse::Numbers numbers;
};

Held taken(Padded& work, Padded& base, bool shorter) {
  Held held(muse::changed_rows(work.matrix, base.matrix), shorter);
  muse::take_changes(work.matrix, base.matrix, held.rows, held.numbers, held.squares.data());
  return held;
}

}  // namespace

TEST_CASE("changes: only rows that differ are taken, padding does not count, and they can be added again") {
  for (const bool shorter : {false, true}) {
    Padded work(4), base(4);
    work.at(1, 2) = 3.0f;
    work.at(3, 0) = -0.0f;  // other bits: a change
    work.at(2, 9) = 7.0f;   // beyond the dimension
    const Held held = taken(work, base, shorter);
    CHECK(held.rows == std::vector<std::int32_t>{1, 3});
    CHECK(held.squares[0] == 9.0f);
    CHECK(muse::changed_rows(work.matrix, base.matrix).empty());
    const muse::Merged alone(held.view(), {}, 5, muse::Rule::kAverage);
    const std::vector<muse::Matrix> followers{work.matrix};
    alone.add_to(base.matrix, followers, 2);
    CHECK(base.at(1, 2) == doctest::Approx(1.5f));
    CHECK(muse::changed_rows(work.matrix, base.matrix).empty());
  }
}

TEST_CASE("changes: rows of one group, of the other and of both") {
  Padded base(6), one(6), other(6);
  for (const std::int64_t row : {0, 2, 3}) one.at(row, 1) = 1.0f;
  for (const std::int64_t row : {2, 5}) other.at(row, 1) = 2.0f;
  const Held first = taken(one, base, true), second = taken(other, base, true);
  const muse::Merged both(first.view(), second.view(), 5, muse::Rule::kAgreement);
  CHECK(both.rows() == std::vector<std::int32_t>{0, 2, 3, 5});
  CHECK(both.workers() == std::vector<std::int32_t>{1, 2, 1, 1});
  CHECK(both.squares() == std::vector<float>{1.0f, 5.0f, 1.0f, 4.0f});
  Held sums(both.rows(), true);
  both.sums(sums.numbers);
  CHECK(static_cast<float>(sums.shorts[5 + 1]) * sums.units[1] / 32767.0f == doctest::Approx(3.0f));
  both.add_to(base.matrix, {}, 2);
  CHECK(base.at(0, 1) == doctest::Approx(1.0f));
  CHECK(base.at(2, 1) == doctest::Approx(3.0f * muse::agreement(9.0 / 5.0 - 1.0, 2)));
  const muse::Merged averaged(first.view(), second.view(), 5, muse::Rule::kAdasum);
  Padded moved(6);
  averaged.add_to(moved.matrix, {}, 2);
  CHECK(moved.at(2, 1) == doctest::Approx(0.0f * 1.0f + 0.75f * 2.0f));
}

TEST_CASE("changes: agreement adds what is orthogonal, averages what is parallel, and keeps what is no number") {
  CHECK(muse::agreement(0.0, 8) == 1.0f);
  CHECK(muse::agreement(-0.5, 8) == 1.0f);
  CHECK(muse::agreement(1.0, 8) == doctest::Approx(0.125f));
  CHECK(muse::agreement(0.5, 2) == doctest::Approx(0.75f));
  CHECK(muse::agreement(1.0, 1) == 1.0f);
  CHECK(std::isnan(muse::agreement(std::nan(""), 2)));
}

TEST_CASE("changes: short numbers keep their size, and nothing that is not finite becomes a number") {
  const float tiny = std::numeric_limits<float>::denorm_min(), inf = std::numeric_limits<float>::infinity();
  Padded work(4), base(4);
  work.at(0, 0) = 1.0f, work.at(0, 1) = -2.0f, work.at(0, 2) = 0.5f;
  work.at(1, 0) = -0.0f;
  work.at(2, 0) = tiny, work.at(2, 2) = -tiny;
  work.at(3, 0) = inf, work.at(3, 1) = 1.0f;
  const Held held = taken(work, base, true);
  const auto number = [&](std::size_t row, std::size_t d) {
    return static_cast<float>(held.shorts[row * 5 + d]) * held.units[row] / 32767.0f;
  };
  CHECK(held.shorts[1] == -32767);
  CHECK(std::fabs(number(0, 0) - 1.0f) <= 2.0f / 65534.0f);
  for (std::size_t d = 0; d < 5; ++d) {
    CHECK(number(1, d) == 0.0f);
    CHECK(std::fabs(number(2, d)) <= tiny);
    CHECK(std::isnan(number(3, d)));
  }
}
