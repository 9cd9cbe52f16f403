#include "text/vector_rows.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Table {
  std::vector<float> data;
  muse::Matrix matrix;
  Table(std::int64_t rows, int dim) : data(static_cast<std::size_t>(rows * dim), -1.0f) {
    matrix = {data.data(), rows, dim, dim};
  }
};

}  // namespace

TEST_CASE("lines of a key and numbers") {
  for (const int workers : {1, 3}) {
    Table table(3, 2);
    std::vector<std::string_view> keys;
    const std::string text = "a#0 1 2\r\n\nb  -3e2\t.5 \nc 5";
    auto read = muse::read_rows(text, {false, true, false}, 1, workers, table.matrix, keys);
    CHECK(read.rows == 2);
    CHECK(read.lines == 3);
    CHECK(text.substr(static_cast<std::size_t>(read.bytes)) == "c 5");  // it may go on
    CHECK(keys == std::vector<std::string_view>{"a#0", "b"});
    CHECK(table.data[0] == 1.0f);
    CHECK(table.data[2] == -300.0f);
    CHECK(table.data[3] == 0.5f);
    CHECK(table.data[4] == -1.0f);
    CHECK_THROWS_WITH_AS(muse::read_rows("x 1 2\nc 5", {}, 7, workers, table.matrix, keys),
                         "line 8: 1 numbers after the key 'c', where 2 are expected", muse::RowError);
    CHECK_THROWS_WITH_AS(muse::read_rows("c 5 0x1", {}, 7, workers, table.matrix, keys),
                         "line 7: '0x1' is not a number", muse::RowError);
    CHECK_THROWS_WITH_AS(muse::read_rows("c 5 nan", {}, 7, workers, table.matrix, keys),
                         "line 7: 'nan' is not a finite number of 32 bits", muse::RowError);
  }
}

TEST_CASE("binary rows, with and without line ends between them") {
  const float numbers[] = {1.5f, -2.0f};
  std::string row = "key ";
  row.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  Table table(3, 2);
  std::vector<std::string_view> keys;
  const std::string text = row + "\n" + row + row.substr(0, 6);
  const auto read = muse::read_rows(text, {true, true, true}, 1, 1, table.matrix, keys);
  CHECK(read.rows == 2);
  CHECK(read.bytes == static_cast<std::int64_t>(2 * row.size() + 1));
  CHECK(keys == std::vector<std::string_view>{"key", "key"});
  CHECK(table.data[2] == 1.5f);
  CHECK_THROWS_AS(muse::read_rows(std::string(3 << 20, 'x'), {true, true, true}, 1, 1, table.matrix, keys),
                  muse::RowError);
}

TEST_CASE("rows are permuted in place") {
  Table table(5, 1);
  table.data = {0, 1, 2, 3, 4};
  table.matrix.data = table.data.data();
  muse::permute_rows(table.matrix, {3, 1, 0, 4, 2});
  CHECK(table.data == std::vector<float>{3, 1, 0, 4, 2});
  for (const std::vector<std::int64_t>& wrong :
       {std::vector<std::int64_t>{0, 1, 2, 3}, {0, 1, 2, 3, 3}, {0, 1, 2, 3, 5}})
    CHECK_THROWS_AS(muse::permute_rows(table.matrix, wrong), std::invalid_argument);
}
