// The representation step: the rows of U and V of a batch's targets, collocates and negatives, group by group.
#pragma once

#include <cstdint>
#include <vector>

#include "math/prefetch.h"
#include "train/group.h"
#include "train/learn_pass.h"
#include "train/represent_alone.h"
#include "train/represent_together.h"
#include "train/row_copies.h"
#include "train/select_pass.h"
#include "train/target_rows.h"

namespace muse {

class RepresentPass {
 public:
  RepresentPass(const StepInputs& inputs, SelectPass& select, LearnPass& learn, std::int64_t* sense_use);

  void run(BatchRun& run);

 private:
  void plan_next(const Batch& batch, int first);
  void gather_columns();
  void foresee();

  const StepInputs inputs_;
  const SelectPass& select_;
  GroupPlanner planner_;
  Group group_;
  GroupPlan next_;
  RowCopies copies_;  // of rows of V
  RowPrefetch prefetch_;
  TargetRows targets_;
  RepresentTogether together_;
  RepresentAlone alone_;
};

}  // namespace muse
