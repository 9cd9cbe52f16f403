#include "train/group.h"

#include <algorithm>

#include "math/panel.h"
#include "model/equations.h"

namespace muse {

GroupPlanner::GroupPlanner(const StepInputs& inputs)
    : inputs_(inputs),
      collocate_draw_(inputs.options.seed, at(inputs.epoch), Purpose::kCollocate),
      negative_draw_(inputs.options.seed, at(inputs.epoch), Purpose::kNegative),
      negative_sense_draw_(inputs.options.seed, at(inputs.epoch), Purpose::kNegativeSense) {}

void GroupPlanner::plan(const Batch& batch, int first, GroupPlan& plan) const {
  plan.clear();
  const int last = std::min(batch.last_target, first + inputs_.options.group_size);
  if (first >= last) return;
  plan.token = batch.token[at(first)];
  if (inputs_.options.collocates == Collocates::kAll)
    add_all_collocates(batch, first, last, plan);
  else
    add_one_collocate(batch, first, last, plan);
  if (plan.targets.empty()) return;
  add_negatives(static_cast<std::uint64_t>(batch.token[at(plan.targets.front().position)]), plan);
}

// A column for each position that is some target's collocate, so that targets share them.
void GroupPlanner::add_all_collocates(const Batch& batch, int first, int last, GroupPlan& plan) const {
  int base = batch.size(), top = -1;
  for (int i = first; i < last; ++i) {
    const int low = batch.collocates_low(i), high = batch.collocates_high(i);
    if (high == low) continue;
    base = std::min(base, low);
    top = std::max(top, high);
    plan.targets.push_back({i, low, high + 1, i, high - low});
  }
  for (Target& t : plan.targets) {
    t.first -= base;
    t.last -= base;
    t.self -= base;
  }
  for (int p = base; p <= top; ++p) plan.column_position.push_back(p);
}

void GroupPlanner::add_one_collocate(const Batch& batch, int first, int last, GroupPlan& plan) const {
  for (int i = first; i < last; ++i) {
    const int low = batch.collocates_low(i), high = batch.collocates_high(i);
    if (high == low) continue;
    const auto token = static_cast<std::uint64_t>(batch.token[at(i)]);
    const int column = static_cast<int>(plan.column_position.size());
    plan.column_position.push_back(draw_collocate(collocate_draw_, token, low, high, i));
    plan.targets.push_back({i, column, column + 1, -1, 1});
  }
}

void GroupPlanner::add_negatives(std::uint64_t key, GroupPlan& plan) const {
  const Options& options = inputs_.options;
  const Model& model = inputs_.model;
  const bool shared = options.group_size > 1;
  const int count = shared ? options.shared_negatives() : plan.targets.front().pairs * options.negative;
  const bool words = model.word_collocation();
  const RandomStream draw = negative_draw_, sense_draw = negative_sense_draw_;  // copies: nothing else can change them
  plan.negative_words.resize(at(count));
  plan.negative_rows.resize(at(count));
  for (int n = 0; n < count; ++n) {
    const std::int32_t word = inputs_.negatives.draw(draw.bits(key, at(n)));
    plan.negative_words[at(n)] = word;
    __builtin_prefetch(model.sense_offset + word);
  }
  for (int n = 0; n < count; ++n) {
    const std::int32_t word = plan.negative_words[at(n)];
    const int senses = words ? 1 : model.senses_of(word);
    plan.negative_rows[at(n)] = model.collocation_row(word, draw_negative_sense(sense_draw, senses, key, at(n)));
  }
}

// A pair's own negative that is the collocate itself does not count, as in word2vec.
void Group::label(const Options& options) {
  const int negatives = columns() - collocate_columns;
  labels.assign(at(cells()), 0.0f);
  weights.assign(at(cells()), 0.0f);
  for (std::size_t t = 0; t < plan.targets.size(); ++t) {
    const Target& target = plan.targets[t];
    float* label = labels.data() + t * at(columns());
    float* weight = weights.data() + t * at(columns());
    int pair = 0;
    for (int c = target.first; c < target.last; ++c) {
      if (c == target.self) continue;
      label[c] = weight[c] = 1.0f;
      if (options.group_size > 1) continue;
      for (int n = 0; n < options.negative; ++n) {
        const int column = collocate_columns + pair * options.negative + n;
        weight[column] = column_rows[at(column)] == column_rows[at(c)] ? 0.0f : 1.0f;
      }
      ++pair;
    }
    if (options.group_size > 1 && negatives > 0) {
      const float each = static_cast<float>(target.pairs * options.negative) / static_cast<float>(negatives);
      std::fill(weight + collocate_columns, weight + columns(), each);
    }
  }
  for (std::vector<float>* of_cells : {&dots, &probabilities}) reserve(*of_cells, padded(cells() + kRowPad));
}

}  // namespace muse
