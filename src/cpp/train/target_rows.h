// The side of U in a group: which rows its targets train, and their step.
#pragma once

#include <cstdint>
#include <vector>

#include "train/group.h"
#include "train/learn_pass.h"
#include "train/select_pass.h"

namespace muse {

class TargetRows {
 public:
  TargetRows(const StepInputs& inputs, const SelectPass& select, LearnPass& learn, std::int64_t* sense_use)
      : inputs_(inputs), select_(select), learn_(learn), sense_use_(sense_use) {}

  // Fetches the rows of the senses that SelectPass took, and lets the selector learn from the posterior. `sums`
  // (targets, dim) are those of their collocates' rows of V where LearnPass wants evidence, else null.
  void fetch(const Group& group, const Batch& batch, const float* sums);
  const float* const* rows() const { return rows_.data(); }

  // The rows move by `delta` (targets, dim), and those of the word's other senses by a share of it.
  void step(const Group& group, const Batch& batch, const float* delta);

  // Counts the senses of all rows since it last did. Once a batch: an atomic addition waits for everything that was
  // written before it.
  void count_used();

 private:
  const StepInputs inputs_;
  const SelectPass& select_;
  LearnPass& learn_;
  std::int64_t* const sense_use_;
  std::vector<float*> rows_;
  std::vector<std::int64_t> used_;  // senses of the batch's targets
};

}  // namespace muse
