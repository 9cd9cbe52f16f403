// Copies of rows: whatever is added to them arrives in the model's rows, once.
#include "train/row_copies.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr int kDim = 40;  // 48 with the padding

class Rows {
 public:
  explicit Rows(std::int64_t rows) : rows_(rows), data_(muse::allocate_rows(rows, kDim)) {}
  ~Rows() { muse::release_zeros(data_); }
  Rows(const Rows&) = delete;

  muse::Matrix view() const { return {data_, rows_, kDim, muse::padded(kDim)}; }
  float* row(std::int64_t i) const { return view().row(i); }

 private:
  std::int64_t rows_;
  float* data_;
};

void add(muse::RowCopies& copies, float* row, float what) {
  float* own = copies.own(row);
  for (int d = 0; d < kDim; ++d) own[d] += what;
  copies.updated(&own, 1);
}

}  // namespace

TEST_CASE("one thread has no copies, and a row of other memory none either") {
  const Rows rows(10);
  muse::RowCopies alone(rows.view(), 1);
  CHECK(alone.own(rows.row(3)) == rows.row(3));
  add(alone, rows.row(3), 1.0f);
  CHECK(rows.row(3)[0] == 1.0f);

  const Rows others(10);
  muse::RowCopies two(rows.view(), 2);
  for (std::int64_t i = 0; i < 10; ++i) {
    CHECK(two.own(rows.row(i)) != rows.row(i));
    CHECK(two.own(others.row(i)) == others.row(i));
  }
  float* behind = rows.row(10);
  CHECK(two.own(behind) == behind);
}

TEST_CASE("rows behind the first few are not copied") {
  const std::int64_t many = 40000;
  const Rows rows(many);
  muse::RowCopies copies(rows.view(), 2);
  CHECK(copies.own(rows.row(0)) != rows.row(0));
  CHECK(copies.own(rows.row(many - 1)) == rows.row(many - 1));
}

TEST_CASE("all that several threads add arrives") {
  const Rows rows(50);
  for (const int threads : {2, 3, 64}) {
    std::vector<float> expected(50, 0.0f);
    for (std::int64_t i = 0; i < 50; ++i) expected[static_cast<std::size_t>(i)] = rows.row(i)[0];
    {
      muse::RowCopies one(rows.view(), threads), other(rows.view(), threads);
      for (int round = 0; round < 700; ++round) {
        const std::int64_t i = round * round % 50;
        add(one, rows.row(i), 1.0f);
        add(other, rows.row(49 - i), 2.0f);
        expected[static_cast<std::size_t>(i)] += 1.0f;
        expected[static_cast<std::size_t>(49 - i)] += 2.0f;
      }
    }
    for (std::int64_t i = 0; i < 50; ++i)
      for (const int d : {0, kDim - 1}) CHECK(rows.row(i)[d] == expected[static_cast<std::size_t>(i)]);
    CHECK(rows.row(0)[kDim] == 0.0f);  // the padding
  }
}

TEST_CASE("what is added is not held back for long, and what others add is taken over") {
  const Rows rows(4);
  muse::RowCopies one(rows.view(), 2), other(rows.view(), 2);
  for (int round = 0; round < 100; ++round) add(one, rows.row(2), 1.0f);
  CHECK(rows.row(2)[0] >= 60.0f);
  CHECK(rows.row(2)[0] <= 100.0f);
  for (int round = 0; round < 40; ++round) add(other, rows.row(2), 0.0f);
  CHECK(other.own(rows.row(2))[0] == rows.row(2)[0]);
}

TEST_CASE("a matrix without rows, and rows too long to be copied") {
  const muse::Matrix none{nullptr, 0, kDim, muse::padded(kDim)};
  const muse::RowCopies of_none(none, 2);
  constexpr int kLong = 1 << 20;
  float* data = muse::allocate_rows(2, kLong);
  REQUIRE(data != nullptr);
  muse::RowCopies of_long({data, 2, kLong, kLong}, 2);
  CHECK(of_long.own(data) == data);
  float* row = data;
  of_long.updated(&row, 1);
  muse::release_zeros(data);
}
