#include "train/step.h"

namespace muse {

Step::Step(const StepInputs& inputs, std::int64_t* sense_use, const std::atomic<bool>* abandon)
    : abandon_(abandon),
      updates_(inputs.any_choice() && inputs.options.selection_update != SelectionUpdate::kNone),
      select_(inputs),
      learn_(inputs, select_.selected()),
      represent_(inputs, select_, learn_, sense_use),
      update_(inputs, select_.selected(), learn_.gradient()) {}

StepStats Step::run(const Batch& batch, float alpha, float selection_alpha) {
  BatchRun run{batch, alpha, selection_alpha, abandon_};
  select_.run(run);
  learn_.begin();
  represent_.run(run);
  if (updates_ && run.go_on()) update_.run(run);
  return run.stats;
}

}  // namespace muse
