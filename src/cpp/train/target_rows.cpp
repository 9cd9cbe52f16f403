#include "train/target_rows.h"

#include <atomic>

#include "math/panel.h"

namespace muse {

namespace {

constexpr std::size_t kAhead = 16;  // counts that are on their way

}  // namespace

void TargetRows::fetch(const Group& group, const Batch& batch, const float* sums) {
  const Model& model = inputs_.model;
  const auto dim = at(model.sense.padded_dim());
  rows_.resize(group.plan.targets.size());
  for (std::size_t t = 0; t < rows_.size(); ++t) {
    const int i = group.plan.targets[t].position;
    if (sums != nullptr) learn_.add_evidence(batch, i, sums + t * dim);
    const std::int64_t sense = model.sense_offset[batch.word[at(i)]] + select_.selected().sense[at(i)];
    rows_[t] = model.sense.row(sense);
    used_.push_back(sense);
  }
}

void TargetRows::step(const Group& group, const Batch& batch, const float* delta) {
  const Model& model = inputs_.model;
  const int dim = model.sense.padded_dim();
  inputs_.kernels.scatter_add(rows_.data(), group.targets(), dim, delta, 1.0f);
  const float share = inputs_.options.sibling_share;
  if (share <= 0.0f) return;
  for (int t = 0; t < group.targets(); ++t) {
    const int i = group.plan.targets[at(t)].position;
    const std::int32_t word = batch.word[at(i)];
    for (int k = 0; k < model.senses_of(word); ++k)
      if (k != select_.selected().sense[at(i)])
        inputs_.kernels.axpy(share, delta + std::int64_t{t} * dim, model.sense.row(model.sense_offset[word] + k), dim);
  }
}

void TargetRows::count_used() {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (i + kAhead < used_.size()) __builtin_prefetch(sense_use_ + used_[i + kAhead], 1);
    std::atomic_ref(sense_use_[used_[i]]).fetch_add(1, std::memory_order_relaxed);
  }
  used_.clear();
}

}  // namespace muse
