// Where things are: the positions of a wave, the windows around them.
#pragma once

#include "warp.cuh"

namespace muse::cuda {

struct Range {
  int first, last;  // [first, last)

  __device__ int size() const { return last - first; }
  __device__ bool holds(int i) const { return i >= first && i < last; }
};

// How many of the ascending numbers are at most x.
__device__ inline int count_at_most(const int* ascending, int count, int x) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ascending[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__device__ inline Range targets_of_batch(const Slice& slice, int batch) {
  return {slice.kept_before[slice.batches[batch].begin], slice.kept_before[slice.batches[batch].end]};
}

__device__ inline Range targets_of_wave(const Work& work) {
  const Wave& wave = work.wave;
  return {targets_of_batch(work.slice, wave.first_batch).first,
          targets_of_batch(work.slice, wave.first_batch + wave.num_batches - 1).last};
}

// The positions of a position's sentence.
__device__ inline Range sentence_of(const Slice& slice, int position) {
  const int s = slice.sentence[position];
  return {slice.kept_before[slice.sentences[s]], slice.kept_before[slice.sentences[s + 1]]};
}

// The wave's targets and, where collocates have senses, the positions around them in the same sentences.
__device__ inline Range scored_positions(const Work& work) {
  const Range targets = targets_of_wave(work);
  if (targets.size() == 0) return targets;
  return {max(sentence_of(work.slice, targets.first).first, targets.first - work.knobs.halo),
          min(sentence_of(work.slice, targets.last - 1).last, targets.last + work.knobs.halo)};
}

__device__ inline Range slots_of(const Slice& slice, Range positions) {
  return {slice.slot_before[positions.first], slice.slot_before[positions.last]};
}

// The batch of the wave that a position belongs to, or lies nearest to.
__device__ inline int batch_of(const Work& work, int position) {
  const Wave& wave = work.wave;
  int low = wave.first_batch, high = wave.first_batch + wave.num_batches - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (work.slice.token[position] < work.slice.batches[middle].end)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Collocates of a position lie in [first, last - 1], itself left out.
__device__ inline Range collocates_of(const Slice& slice, int position) {
  const Range sentence = sentence_of(slice, position);
  return {max(sentence.first, position - slice.window[position]),
          min(sentence.last, position + slice.window[position] + 1)};
}

// The stream that the selector reads: the positions, or every token (full_text).
__device__ inline int stream_size(const Work& work) {
  return work.knobs.context.full_text ? work.slice.num_tokens : work.slice.kept_before[work.slice.num_tokens];
}
__device__ inline std::int32_t stream_word(const Work& work, int place) {
  return work.knobs.context.full_text ? work.slice.tokens[place] : work.slice.word[place];
}
__device__ inline int stream_place(const Work& work, int position) {
  return work.knobs.context.full_text ? work.slice.token[position] : position;
}
__device__ inline int selection_reach(const Work& work, int position) {
  return work.knobs.shrink_selection ? work.slice.window[position] : work.knobs.context.window;
}

// The part of a sentence within `reach` of a place of the stream.
__device__ inline Range context_around(Range sentence, int centre, int reach) {
  return {max(sentence.first, centre - reach), min(sentence.last, centre + reach + 1)};
}

// The part of the stream that the context of a position is made of.
__device__ inline Range context_of(const Work& work, int position) {
  const int s = work.slice.sentence[position];
  const Range sentence = work.knobs.context.full_text ? Range{work.slice.sentences[s], work.slice.sentences[s + 1]}
                                                      : sentence_of(work.slice, position);
  return context_around(sentence, stream_place(work, position), selection_reach(work, position));
}

// The weight of the stream's word at a place in a context with this centre.
__device__ inline float context_weight(const Work& work, int place, int centre) {
  const float word =
      work.tables.context_weights == nullptr ? 1.0f : work.tables.context_weights[stream_word(work, place)];
  return work.tables.distance == nullptr ? word : word * work.tables.distance[abs(place - centre)];
}

}  // namespace muse::cuda
