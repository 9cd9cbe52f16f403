// Sense trees (extension; docs/algorithm.md): the uses of a word in fine clusters, the leaves, which are joined two by
// two, the most alike first, until one is left.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/model.h"
#include "senses/cluster.h"
#include "senses/use_context.h"
#include "text/corpus.h"

namespace muse {

struct TreeOptions {
  int leaves = 12;           // of a word at most, >= 2
  int uses_a_leaf = 25;      // so many uses for each leaf, at least
  int least_uses = 50;       // words with fewer have no tree
  int restarts = 1;          // of k-means
  int iterations = 10;       // of each
  int first_uses = 400;      // k-means runs over so many uses, spread over all; 0: all
  int passes = 2;            // and then so often over all
  float share_power = 0.3f;  // how much rather a small cluster is joined than a large one
  std::uint64_t seed = 1;
  std::int64_t memory = std::int64_t{128} << 20;  // bytes of contexts at a time: less means more passes over the text
};

// Trees of V words, those of word i being leaves [leaf_offset[i], leaf_offset[i + 1]); words without a tree have none.
// A word with n leaves has n - 1 joins, in the order in which they were made. A join's two parts are numbered within
// their word: leaves 0..n-1, then joins n, n + 1, ...
struct SenseTrees {
  std::vector<std::int64_t> leaf_offset;  // (V + 1,)
  std::vector<float> means;               // (L, S) mean context of each leaf, shorter than one
  std::vector<float> topics;              // (L, Dt) mean topic of the uses of each leaf, before they get unit length
  std::vector<std::int64_t> counts;       // (L,) sampled uses
  std::vector<std::int32_t> joins;        // (J, 2)
  std::vector<float> strengths;           // (J,) how far apart the two were: (1 - cos) (2 share of the smaller)^power
};

// The uses are those of words, or of any other groups. Words are independent: the result is the same for any number of
// workers. The calling thread calls poll(uses done) often; an exception from there ends the work and is thrown on.
SenseTrees grow_trees(const UseSpace& space, const Corpus& corpus, const OccurrencesView& occurrences,
                      const TreeOptions& options, int workers, const std::function<void(std::int64_t)>& poll);

// How unlike parts are joined: the number of the first and the second, and how far apart they were. `centroids` (k,
// dim) are of unit length, `shares` of the word's uses.
struct Join {
  int first, second;
  float strength;
};
std::vector<Join> join_all(std::span<const float> centroids, int dim, std::span<const std::int64_t> counts,
                           float share_power);

}  // namespace muse
