// The representation step of a group whose targets share their negatives: three matrix products.
#pragma once

#include <vector>

#include "math/prefetch.h"
#include "train/group.h"
#include "train/group_products.h"
#include "train/learn_pass.h"
#include "train/target_rows.h"

namespace muse {

class RepresentTogether {
 public:
  RepresentTogether(const StepInputs& inputs, TargetRows& targets, LearnPass& learn)
      : inputs_(inputs), targets_(targets), learn_(learn) {}

  // `prefetch` holds rows that the next group will read.
  void run(Group& group, RowPrefetch& prefetch, BatchRun& run);

 private:
  void fetch_targets(const Group& group, const Batch& batch);
  bool fill_errors(Group& group, BatchRun& run);

  const StepInputs inputs_;
  TargetRows& targets_;
  LearnPass& learn_;
  GroupProducts products_;
  std::vector<float> a_, b_;   // the rows of U (targets, dim) and of V (columns, dim) as they were
  std::vector<float> errors_;  // (targets, columns)
  std::vector<float> sums_;    // (targets, dim) of the collocates' rows of V
  std::vector<float> delta_;   // (targets, dim) what U moves by
};

}  // namespace muse
