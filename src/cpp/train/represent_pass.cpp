#include "train/represent_pass.h"

#include <utility>

namespace muse {

RepresentPass::RepresentPass(const StepInputs& inputs, SelectPass& select, LearnPass& learn, std::int64_t* sense_use)
    : inputs_(inputs),
      select_(select),
      planner_(inputs),
      copies_(inputs.model.collocation, inputs.options.group_size > 1 ? 1 : inputs.threads),
      targets_(inputs, select, learn, sense_use),
      together_(inputs, targets_, learn),
      alone_(inputs, targets_, learn, copies_) {}

void RepresentPass::run(BatchRun& run) {
  const Batch& batch = run.batch;
  const int size = inputs_.options.group_size;
  // A group's plan does not depend on the model, so the next one is at hand while this one is computed, and its rows
  // can be on their way.
  plan_next(batch, batch.first_target);
  std::swap(group_.plan, next_);
  for (int first = batch.first_target; first < batch.last_target && run.go_on(); first += size) {
    plan_next(batch, first + size);
    if (!group_.plan.targets.empty()) {
      gather_columns();
      foresee();
      size > 1 ? together_.run(group_, prefetch_, run) : alone_.run(group_, prefetch_, run);
    }
    std::swap(group_.plan, next_);
  }
  targets_.count_used();
}

void RepresentPass::plan_next(const Batch& batch, int first) {
  planner_.plan(batch, first, next_);
  for (float*& row : next_.negative_rows) row = copies_.own(row);
}

void RepresentPass::gather_columns() {
  group_.column_rows.clear();
  for (const int position : group_.plan.column_position)
    group_.column_rows.push_back(copies_.own(select_.collocate_row(position)));
  group_.collocate_columns = group_.columns();
  group_.column_rows.insert(group_.column_rows.end(), group_.plan.negative_rows.begin(),
                            group_.plan.negative_rows.end());
  group_.label(inputs_.options);
}

// Rows that the next group will read, as far as can be known now.
void RepresentPass::foresee() {
  prefetch_.clear(inputs_.model.sense.padded_dim());
  for (const int position : next_.column_position) prefetch_.add(copies_.own(select_.collocate_row(position)));
  for (const Target& target : next_.targets) prefetch_.add(select_.sense_row(target.position));
  for (const float* row : next_.negative_rows) prefetch_.add(row);
}

}  // namespace muse
