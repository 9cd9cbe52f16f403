#include "train/step_stats.h"

#include <cmath>

namespace muse {

void StepStats::add(const StepStats& other) {
  targets += other.targets;
  pairs += other.pairs;
  reward += other.reward;
  loss += other.loss;
  loss_pairs += other.loss_pairs;
  entropy += other.entropy;
  entropy_targets += other.entropy_targets;
  diverged = diverged || other.diverged;
  cut = cut || other.cut;
}

StepStats StepStats::rounded() const {
  constexpr double kUnit = 1.0 / 65536;
  StepStats result = *this;
  for (double* sum : {&result.reward, &result.loss, &result.entropy}) *sum = std::nearbyint(*sum / kUnit) * kUnit;
  return result;
}

bool StepStats::finite() const {
  return !diverged && std::isfinite(reward) && std::isfinite(loss) && std::isfinite(entropy);
}

}  // namespace muse
