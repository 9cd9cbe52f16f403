#include "model/model.h"

#include <stdexcept>

namespace muse {

void check_senses(std::span<const std::int64_t> sense_offset, std::int64_t num_words) {
  if (static_cast<std::int64_t>(sense_offset.size()) != num_words + 1 || sense_offset[0] != 0 || num_words == 0)
    throw std::invalid_argument("sense_offset must hold one number more than there are words and begin at 0");
  for (std::size_t i = 1; i < sense_offset.size(); ++i)
    if (sense_offset[i] <= sense_offset[i - 1]) throw std::invalid_argument("every word needs at least one sense");
}

}  // namespace muse
