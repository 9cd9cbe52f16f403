#include "train/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace muse {

std::vector<float> keep_probabilities(std::span<const std::int64_t> counts, double sample) {
  std::vector<float> keep(counts.size(), 1.0f);
  if (sample <= 0.0) return keep;
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0) continue;
    const double ratio = sample * total / static_cast<double>(counts[i]);
    keep[i] = static_cast<float>(std::min(1.0, std::sqrt(ratio) + ratio));
  }
  return keep;
}

NegativeSampler::NegativeSampler(std::span<const std::int64_t> counts, double exponent) {
  const std::size_t n = counts.size();
  std::vector<double> scaled(n);
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    scaled[i] = counts[i] > 0 ? std::pow(static_cast<double>(counts[i]), exponent) : 0.0;
    total += scaled[i];
  }
  if (!(total > 0.0)) throw std::invalid_argument("no word has a positive count to draw negatives from");
  for (double& s : scaled) s *= static_cast<double>(n) / total;

  // Vose's construction: each column of height one is shared by at most two words.
  table_.assign(n, {0xffffffffu, 0});
  for (std::size_t i = 0; i < n; ++i) table_[i].alias = static_cast<std::int32_t>(i);
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < n; ++i) (scaled[i] < 1.0 ? small : large).push_back(i);
  while (!small.empty() && !large.empty()) {
    const std::size_t s = small.back(), l = large.back();
    small.pop_back();
    table_[s].threshold = static_cast<std::uint32_t>(std::min(4294967295.0, scaled[s] * 4294967296.0));
    table_[s].alias = static_cast<std::int32_t>(l);
    scaled[l] -= 1.0 - scaled[s];
    if (scaled[l] < 1.0) {
      large.pop_back();
      small.push_back(l);
    }
  }
  // Rounding may leave a few columns over: they are full, unless their word must never be drawn.
  const auto top = std::max_element(counts.begin(), counts.end()) - counts.begin();
  for (const std::size_t s : small)
    if (counts[s] <= 0) table_[s] = {0, static_cast<std::int32_t>(top)};
}

}  // namespace muse
