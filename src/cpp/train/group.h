// A group of consecutive targets: what it consists of, known before any parameter is read, and the cells (targets,
// columns) that the representation step fills for it.
#pragma once

#include <cstdint>
#include <vector>

#include "math/random.h"
#include "train/step_stats.h"

namespace muse {

struct Target {
  int position;
  int first;  // columns [first, last) of the group are collocates of this target, itself excluded
  int last;
  int self;  // column of the target itself, or -1
  int pairs;
};

// What a group is before any parameter is read.
struct GroupPlan {
  std::int64_t token = 0;  // of the group's first position
  std::vector<Target> targets;
  std::vector<int> column_position;          // of the collocate columns
  std::vector<std::int32_t> negative_words;  // of the columns behind them
  std::vector<float*> negative_rows;

  void clear() {
    targets.clear();
    column_position.clear();
    negative_rows.clear();
  }
};

class GroupPlanner {
 public:
  explicit GroupPlanner(const StepInputs& inputs);

  // The group that begins at position `first`: empty where the batch ends or no target has a collocate.
  void plan(const Batch& batch, int first, GroupPlan& plan) const;

 private:
  void add_all_collocates(const Batch& batch, int first, int last, GroupPlan& plan) const;
  void add_one_collocate(const Batch& batch, int first, int last, GroupPlan& plan) const;
  void add_negatives(std::uint64_t key, GroupPlan& plan) const;

  const StepInputs inputs_;
  const RandomStream collocate_draw_, negative_draw_, negative_sense_draw_;
};

// A group at work. Cells are (targets, columns), the columns being collocates and behind them negatives.
struct Group {
  GroupPlan plan;
  std::vector<float*> column_rows;  // of V
  int collocate_columns = 0;
  std::vector<float> labels;   // 1 at a target's collocates
  std::vector<float> weights;  // what multiplies sigmoid: 1 at collocates, at a negative the pairs that it stands for
  std::vector<float> dots, probabilities;

  int targets() const { return static_cast<int>(plan.targets.size()); }
  int columns() const { return static_cast<int>(column_rows.size()); }
  int cells() const { return targets() * columns(); }
  // Once column_rows are known.
  void label(const Options& options);
};

}  // namespace muse
