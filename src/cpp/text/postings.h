// Where each word of a corpus stands: what an index of it looks up.
#pragma once

#include <cstdint>
#include <span>

namespace muse {

/// Adds the places of some words in a piece of a corpus to their lists, in the order of the text.
///
/// The lists lie one after another in `places`; that of word `first + i` is filled up to `filled[i]` and ends at
/// `ends[i]`. The piece begins at token number `base`; words outside [first, first + filled.size()) are passed over.
/// Throws std::invalid_argument where a list would not hold a place, or has other borders than `places`.
template <class Place>
void add_postings(std::span<const std::int32_t> tokens, std::int64_t base, std::int32_t first,
                  std::span<std::int64_t> filled, std::span<const std::int64_t> ends, std::span<Place> places);

}  // namespace muse
