#include "train/changes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

muse::Matrix view(std::vector<float>& values, std::int64_t rows, int dim, std::int64_t stride) {
  return {values.data(), rows, dim, stride};
}

}  // namespace

TEST_CASE("changes: only rows that differ are taken, and padding does not count") {
  std::vector<float> work(4 * 16, 0.0f), base = work;
  work[1 * 16 + 2] = 3.0f;
  work[3 * 16 + 0] = -0.0f;  // other bits: a change
  work[2 * 16 + 9] = 7.0f;   // beyond the dimension
  const muse::Matrix one = view(work, 4, 5, 16), other = view(base, 4, 5, 16);
  const auto rows = muse::changed_rows(one, other);
  CHECK(rows == std::vector<std::int64_t>{1, 3});
  std::vector<float> sums(rows.size() * 5), squares(rows.size());
  muse::take_changes(one, other, rows, sums.data(), squares.data());
  CHECK(sums[2] == 3.0f);
  CHECK(squares[0] == 9.0f);
  CHECK(muse::changed_rows(one, other).empty());
  muse::apply_changes(one, other, rows, sums.data());
  CHECK(base[1 * 16 + 2] == 3.0f);
  CHECK(muse::changed_rows(one, other).empty());
}

TEST_CASE("changes: packed rows keep their size, and nothing that is not finite becomes a number") {
  const float tiny = std::numeric_limits<float>::denorm_min(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> rows{1.0f, -2.0f, 0.5f, 0.0f, 0.0f, 0.0f, tiny, 0.0f, -tiny, inf, 1.0f, 0.0f};
  std::vector<std::int16_t> packed(rows.size());
  std::vector<float> units(4), out(rows.size());
  muse::pack_rows(rows.data(), 4, 3, packed.data(), units.data());
  muse::unpack_rows(packed.data(), units.data(), 4, 3, out.data());
  CHECK(packed[1] == -32767);
  CHECK(std::fabs(out[0] - 1.0f) <= 2.0f / 65534.0f);
  for (int i = 3; i < 6; ++i) CHECK(out[static_cast<std::size_t>(i)] == 0.0f);
  for (int i = 6; i < 9; ++i) CHECK(std::fabs(out[static_cast<std::size_t>(i)]) <= tiny);
  for (int i = 9; i < 12; ++i) CHECK(std::isnan(out[static_cast<std::size_t>(i)]));
}
