// The representation step of one target with negatives of its own, which is word2vec's: its row of U against rows of V
// where they lie. A few rows are scored and, as their errors depend on nothing else, stepped while they are in the
// first cache. A row that was drawn more than once is read and written once, with the sum of its errors.
#pragma once

#include <vector>

#include "math/prefetch.h"
#include "train/group.h"
#include "train/learn_pass.h"
#include "train/row_copies.h"
#include "train/target_rows.h"
#include "train/unique_rows.h"

namespace muse {

class RepresentAlone {
 public:
  RepresentAlone(const StepInputs& inputs, TargetRows& targets, LearnPass& learn, RowCopies& copies)
      : inputs_(inputs), targets_(targets), learn_(learn), copies_(copies) {}

  // `prefetch` holds rows that the next target will read.
  void run(Group& group, RowPrefetch& prefetch, BatchRun& run);

 private:
  void fetch_target(const Group& group, const Batch& batch);
  void weigh_rows(Group& group);
  bool step_rows(RowPrefetch& prefetch, float alpha);
  bool score_rows(int first);
  void spread_to_columns(Group& group) const;

  const StepInputs inputs_;
  TargetRows& targets_;
  LearnPass& learn_;
  RowCopies& copies_;
  UniqueRows unique_;         // of the columns
  std::vector<float> a_;      // the row of U as it was
  std::vector<float> sum_;    // of the collocates' rows of V
  std::vector<float> delta_;  // what the row of U moves by

  // By unique row: the group's cells where all columns differ, or else the sums of them, which lie here.
  struct RowCells {
    const float *labels, *weights;
    float *dots, *probabilities;
  } rows_ = {};
  std::vector<float> labels_, weights_, dots_, probabilities_;
  std::vector<float> errors_;
};

}  // namespace muse
