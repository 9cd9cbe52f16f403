// The last pass of a step: P and Q move once a batch, by the gradients on the scores.
#pragma once

#include <vector>

#include "math/prefetch.h"
#include "train/learn_pass.h"
#include "train/select_pass.h"

namespace muse {

class UpdatePass {
 public:
  // What the passes before it leave; all of it is read, nothing is changed.
  UpdatePass(const StepInputs& inputs, const Selected& selected, const SelectorGradient& gradient)
      : inputs_(inputs),
        selected_(selected),
        gradient_(gradient),
        factorized_(inputs.options.formulation == Formulation::kFactorized) {}

  void run(BatchRun& run);

 private:
  void find_moved();
  template <typename Use>
  void for_each_gradient(int position, const Use& use) const;
  void step_q(float rate);
  void step_p(float rate);
  void step_windows(float rate);
  void link_borders();
  void slide_windows(float rate);
  float context_scale(int position) const;
  void add_input_gradient(int position, float scale);
  void cap_moved();
  void cap(float* row) const;

  // The next row to ask the memory for; where there is none, `near` serves.
  const float* next_row(const float* near) { return *prefetch_.take(1, near); }
  int dim() const { return inputs_.model.context.padded_dim(); }
  std::int32_t word(int position) const { return run_->batch.word[at(position)]; }
  float* context_row(std::size_t place) const { return inputs_.model.context.row(run_->batch.context_word[place]); }

  const StepInputs inputs_;
  const Selected& selected_;
  const SelectorGradient& gradient_;
  const bool factorized_;
  BatchRun* run_ = nullptr;

  std::vector<int> moved_;             // positions that have something for the selector to learn
  std::vector<float> input_gradient_;  // (S padded) the sum of d loss / d context over the windows that are open
  std::vector<char> reached_;          // places of the context stream in windows that move
  RowPrefetch prefetch_;

  // The windows that begin at each place of the context stream, and those that end before it: linked lists of
  // positions.
  struct Borders {
    std::vector<int> heads;  // by place, -1: none
    std::vector<int> next;   // by position
    void clear(std::size_t places, std::size_t positions);
    void add(int place, int position);
    template <typename Use>
    void for_each(std::size_t place, const Use& use) const;
  };
  Borders begins_, ends_;
};

}  // namespace muse
