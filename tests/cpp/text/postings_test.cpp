#include "text/postings.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

using namespace muse;

namespace {

const std::vector<std::int32_t> kTokens{2, 0, 1, 2, 0, 2, -1};

}  // namespace

TEST_CASE("postings are the places of each word, in the order of the text, piece by piece") {
  std::vector<std::int64_t> filled{0, 2, 3}, places(6);
  const std::vector<std::int64_t> ends{2, 3, 6};
  const std::span<const std::int32_t> tokens(kTokens);
  add_postings<std::int64_t>(tokens.first(4), 0, 0, filled, ends, places);
  add_postings<std::int64_t>(tokens.subspan(4), 4, 0, filled, ends, places);
  CHECK(places == std::vector<std::int64_t>{1, 4, 2, 0, 3, 5});
  CHECK(filled == ends);
}

TEST_CASE("postings of some words pass over the others") {
  std::vector<std::int64_t> filled{0};
  std::vector<std::int32_t> places(1);
  add_postings<std::int32_t>(kTokens, 10, 1, filled, std::vector<std::int64_t>{1}, places);
  CHECK(places == std::vector<std::int32_t>{12});
}

TEST_CASE("postings that do not fit are refused, not written elsewhere") {
  std::vector<std::int64_t> filled{0};
  std::vector<std::int32_t> places(1);
  const auto add = [&](std::int64_t base, std::vector<std::int64_t> ends) {
    filled = {0};
    add_postings<std::int32_t>(kTokens, base, 2, filled, ends, places);
  };
  CHECK_THROWS_AS(add(0, {1}), std::invalid_argument);                      // occurs three times
  CHECK_THROWS_AS(add(0, {2}), std::invalid_argument);                      // beyond the array
  CHECK_THROWS_AS(add(0, {1, 1}), std::invalid_argument);                   // a list too many
  CHECK_THROWS_AS(add(std::int64_t{1} << 31, {1}), std::invalid_argument);  // no int32
  CHECK_THROWS_AS(add(-1, {1}), std::invalid_argument);
}
