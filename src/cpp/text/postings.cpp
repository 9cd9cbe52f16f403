#include "text/postings.h"

#include <cstddef>
#include <limits>
#include <stdexcept>

namespace muse {

template <class Place>
void add_postings(std::span<const std::int32_t> tokens, std::int64_t base, std::int32_t first,
                  std::span<std::int64_t> filled, std::span<const std::int64_t> ends, std::span<Place> places) {
  if (filled.size() != ends.size()) throw std::invalid_argument("there must be an end for each list of places");
  const auto size = static_cast<std::int64_t>(places.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (filled[i] < 0 || filled[i] > ends[i] || ends[i] > size)
      throw std::invalid_argument("the lists of places have other borders than the array that they are in");
  }
  const auto last = base + static_cast<std::int64_t>(tokens.size());
  if (base < 0 || last - 1 > static_cast<std::int64_t>(std::numeric_limits<Place>::max()))
    throw std::invalid_argument("the corpus is too long for places of this type");
  std::int64_t place = base;
  for (const std::int32_t token : tokens) {
    const auto list = static_cast<std::size_t>(std::int64_t{token} - first);  // of words below `first`: beyond any
    if (list < filled.size()) {
      if (filled[list] == ends[list]) throw std::invalid_argument("a word occurs more often than was counted");
      places[static_cast<std::size_t>(filled[list]++)] = static_cast<Place>(place);
    }
    ++place;
  }
}

template void add_postings<std::int32_t>(std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                         std::span<std::int64_t>, std::span<const std::int64_t>,
                                         std::span<std::int32_t>);
template void add_postings<std::int64_t>(std::span<const std::int32_t>, std::int64_t, std::int32_t,
                                         std::span<std::int64_t>, std::span<const std::int64_t>,
                                         std::span<std::int64_t>);

}  // namespace muse
