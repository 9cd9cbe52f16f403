// The split (extension; docs/algorithm.md): the senses of each word from clusters of its contexts.
//
// After a word-level warm start the contexts of a word, sampled from the corpus and seen exactly as the selector sees
// them, are clustered by spherical k-means; each cluster becomes a sense and its centroid the sense's row of Q.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/model.h"
#include "model/options.h"
#include "text/corpus.h"

namespace muse {

// Places where each word occurs: those of word i are places[offsets[i], offsets[i + 1]), in corpus order.
struct Occurrences {
  std::vector<std::int64_t> offsets;  // (V + 1,)
  std::vector<std::int64_t> places;
};

// The same in somebody else's memory.
struct OccurrencesView {
  std::span<const std::int64_t> offsets;
  std::span<const std::int64_t> places;
};

// All places of words seen at most `cap` times, about `cap` places, drawn at random, of the others.
Occurrences sample_occurrences(const Corpus& corpus, std::int64_t num_words, std::int64_t cap, std::uint64_t seed);

// Contexts of tokens of the corpus as the selector sees them in full text: row i of out (S floats, padded) is the
// window sum (or mean) around token places[i].
void context_vectors(const Matrix& context, const SelectionOptions& options, std::span<const float> weights,
                     const Corpus& corpus, std::span<const std::int64_t> places, float* out);

struct SplitOptions {
  int min_contexts = 20;  // a cluster of fewer sampled contexts is no sense
  int restarts = 4;       // of k-means; the best objective wins
  int iterations = 25;
  // One sense per discourse (Gale, Church & Yarowsky, 1992): for clustering, a context is averaged with the word's
  // other contexts at most this many sentences away; centroids are then those of the contexts themselves. 0: off.
  int discourse = 0;
  // The number of senses that the data support: the most, up to the wanted number, such that every cluster holds at
  // least min_share of the contexts and no two centroids have a cosine above max_cosine_two (for two senses) or
  // max_cosine_more (for more). Off: the wanted number, where there are contexts enough.
  bool adaptive = false;
  float min_share = 0.05f;
  float max_cosine_two = 0.2f;
  float max_cosine_more = 0.05f;
  // Clusters as a mixture with shares: a context's score in a cluster counts share_weight * log(share of the cluster)
  // as well, so that a rare sense does not grow by what belongs to a frequent one, and a needless cluster dies down.
  // Two clusters have shares only if they are uneven; whether there are two is judged without. Above 0, the last column
  // of P is a constant and that of a centroid its sense's part of the score.
  float share_weight = 0.0f;
  std::uint64_t seed = 1;
};

struct Split {
  std::vector<std::int32_t> senses;  // (V,) at least 1 each
  std::vector<float>
      centroids;  // (sum of senses, S) of unit length but for the shares; zeros where a word has one sense
  std::vector<std::int64_t> counts;  // (sum of senses,) sampled contexts in each
};

// `wanted` (V,) is the number of senses to look for; words get fewer where they occur too seldom, or, when adaptive,
// where the data do not support as many. Words are independent: the result is the same for any number of workers. The
// calling thread calls poll() every few words; an exception from there ends the work and is thrown on.
Split split_senses(const Matrix& context, const SelectionOptions& options, std::span<const float> weights,
                   const Corpus& corpus, const OccurrencesView& occurrences, std::span<const std::int32_t> wanted,
                   const SplitOptions& split, int workers, const std::function<void()>& poll);

}  // namespace muse
