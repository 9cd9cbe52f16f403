// A stretch of a text that several workers train at once (extension; docs/distributed.md).
#pragma once

#include <cstdint>

namespace muse {

// Batches [first_batch, last_batch) of a trainer's corpus, which is a part of a longer text. What a stretch makes of a
// model depends on nothing else: not on who trains it, or when, or for the how manieth time.
struct Stretch {
  std::int64_t first_token = 0;  // where the corpus begins in the text; draws are keyed by places in the text
  std::int64_t first_batch = 0;
  std::int64_t last_batch = 0;
  double start = 0.0;  // part of the whole training, of all epochs and workers, that is done when the stretch begins
  double end = 0.0;    // and when it ends

  bool is_set() const { return last_batch > first_batch; }

  bool fits(std::int64_t num_batches) const {
    return first_token >= 0 && first_batch >= 0 && first_batch < last_batch && last_batch <= num_batches &&
           start >= 0.0 && start <= end && end <= 1.0;
  }

  // How much of the training is done when the stretch has seen `tokens` of its `total`; linear.
  double progress(std::int64_t tokens, std::int64_t total) const {
    const double at = start + (end - start) * static_cast<double>(tokens) / static_cast<double>(total);
    return at < 0.0 ? 0.0 : at > 1.0 ? 1.0 : at;
  }
};

}  // namespace muse
