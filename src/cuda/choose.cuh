// Senses of running text with a trained model: a warp takes one token.
#pragma once

#include "select.cuh"

namespace muse::cuda {

// What is chosen for the tokens of a slice.
struct Chosen {
  std::int32_t* sense;
  float* probability;
  float* margin;
};

// Chooses for `tokens` of the slice, which has some more on either side; by the prior (Z,), if there is one, where a
// word has no context. Every token is a place of the stream, as with
// full_text in training.
template <int Quads>
__global__ void choose_senses(const __grid_constant__ Work work, Range tokens, float temperature, const float* prior,
                              Chosen out) {
  const Slice& slice = work.slice;
  const DeviceModel& model = work.model;
  const int token = tokens.first + warp_in_grid();
  if (token >= tokens.last) return;
  const std::int32_t word = slice.tokens[token];
  const int senses = model.senses_of(word), dim = model.context.dim;
  BestSense best;
  best.total = 1.0f;
  if (senses > 1) {
    const int s = count_at_most(slice.sentences, slice.num_sentences + 1, token) - 1;
    const Range window = context_around({slice.sentences[s], slice.sentences[s + 1]}, token, work.knobs.context.window);
    if (prior != nullptr && has_no_context(window.size(), true)) {
      best.take_prior(prior + model.sense_offset[word], senses);
    } else {
      float total;
      const Row<Quads> context = sum_context<Quads>(work, window, token, &total);
      for (int k = 0; k < senses; ++k)
        best.offer(k, dot(context, Row<Quads>::load(model.selection.row(model.sense_offset[word] + k), dim)),
                   temperature);
    }
  }
  if (lane() != 0) return;
  out.sense[token] = best.sense;
  out.probability[token] = best.probability();
  out.margin[token] = best.margin();
}

}  // namespace muse::cuda
