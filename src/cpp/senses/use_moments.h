// How contexts of uses vary (extension; docs/algorithm.md): what their whitening is made from.
#pragma once

#include <cstdint>
#include <vector>

#include "senses/cluster.h"
#include "senses/use_context.h"
#include "text/corpus.h"

namespace muse {

// Of a block of contexts of `dim` numbers.
struct Moments {
  int dim = 0;
  std::vector<double> mean;        // (dim,) of the words' means
  std::vector<double> covariance;  // (dim, dim) of contexts around the mean of their word
};

struct UseMoments {
  Moments topic, order;  // of raw contexts (use_selection.h)
};

// From uses of some words; those without any count as words of no use. The result is the same for any number of
// workers.
UseMoments use_moments(const UseSpace& space, const Corpus& corpus, const OccurrencesView& uses, int workers);

}  // namespace muse
