#include "senses/cluster.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "math/kernels.h"
#include "math/parallel.h"
#include "math/random.h"
#include "senses/kmeans.h"
#include "senses/selection.h"
#include "senses/window_sums.h"

namespace muse {

namespace {

std::size_t word_at(const Corpus& corpus, std::int64_t place) {
  return static_cast<std::size_t>(corpus.tokens()[static_cast<std::size_t>(place)]);
}

// Calls see(place) for the places of the corpus in order, but for those without a context, which tell no sense.
template <typename See>
void for_each_in_context(const Corpus& corpus, const See& see) {
  const auto offsets = corpus.offsets();
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    if (has_no_context(offsets[s + 1] - offsets[s], true)) continue;
    for (std::int64_t place = offsets[s]; place < offsets[s + 1]; ++place) see(place);
  }
}

}  // namespace

Occurrences sample_occurrences(const Corpus& corpus, std::int64_t num_words, std::int64_t cap, std::uint64_t seed) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(num_words), 0);
  for_each_in_context(corpus, [&](std::int64_t place) { ++counts[word_at(corpus, place)]; });
  const RandomStream draw(seed, 0, Purpose::kCluster);
  const auto taken = [&](std::int64_t place) {
    const std::size_t word = word_at(corpus, place);
    return counts[word] <= cap ||
           draw.uniform(static_cast<std::uint64_t>(place)) * static_cast<float>(counts[word]) < static_cast<float>(cap);
  };
  Occurrences found;
  found.offsets.assign(static_cast<std::size_t>(num_words) + 1, 0);
  for_each_in_context(corpus, [&](std::int64_t place) {
    if (taken(place)) ++found.offsets[word_at(corpus, place) + 1];
  });
  for (std::size_t i = 1; i < found.offsets.size(); ++i) found.offsets[i] += found.offsets[i - 1];
  found.places.resize(static_cast<std::size_t>(found.offsets.back()));
  std::vector<std::int64_t> next(found.offsets.begin(), found.offsets.end() - 1);
  for_each_in_context(corpus, [&](std::int64_t place) {
    if (taken(place)) found.places[static_cast<std::size_t>(next[word_at(corpus, place)]++)] = place;
  });
  return found;
}

void context_vectors(const Matrix& context, const SelectionOptions& options, std::span<const float> weights,
                     const Corpus& corpus, std::span<const std::int64_t> places, float* out) {
  WindowSums sums(kernels(), options, context.dim);
  const auto tokens = corpus.tokens();
  const auto offsets = corpus.offsets();
  std::vector<const float*> rows;
  std::vector<float> token_weights;
  for (const std::int64_t place : places) {
    const auto sentence = std::upper_bound(offsets.begin(), offsets.end(), place);
    const std::int64_t low = std::max(*(sentence - 1), place - options.window);
    const std::int64_t high = std::min(*sentence, place + options.window + 1);
    rows.clear();
    token_weights.clear();
    for (std::int64_t j = low; j < high; ++j) {
      const auto word = static_cast<std::size_t>(tokens[static_cast<std::size_t>(j)]);
      rows.push_back(context.row(static_cast<std::int64_t>(word)));
      token_weights.push_back(weights.empty() ? 1.0f : weights[word]);
    }
    const Window window{0, static_cast<int>(high - low) - 1, static_cast<int>(place - low)};
    float total = 0.0f;
    sums.run({rows.data(), token_weights.data()}, {&window, 1}, out, &total);
    out += context.padded_dim();
  }
}

namespace {

// Two clusters with shares take the place of two without where the smaller one has less than this part of the contexts:
// where senses are about equally frequent, shares drift apart without cause.
constexpr float kUneven = 0.25f;

struct WordSenses {
  std::vector<float> centroids;      // (k, S)
  std::vector<std::int64_t> counts;  // (k,)
  std::vector<float> bias;           // (k,)
};

// Splits words one at a time; one thread's work and memory.
class Splitter {
 public:
  Splitter(const Matrix& context, const SelectionOptions& selection, std::span<const float> weights,
           const Corpus& corpus, const SplitOptions& options)
      : context_(context),
        selection_(selection),
        weights_(weights),
        corpus_(corpus),
        options_(options),
        dim_(context.padded_dim()),
        kernels_(kernels()),
        kmeans_(dim_, {.restarts = options.restarts, .iterations = options.iterations, .seed = options.seed}) {}

  WordSenses split(std::int64_t word, std::span<const std::int64_t> places, int wanted) {
    const int n = static_cast<int>(places.size());
    const int most = std::min(wanted, n / std::max(1, options_.min_contexts));
    if (most < 2) return one_sense(n);
    unit_contexts(places);
    const float* clustered = options_.discourse > 0 ? average_discourse(places) : contexts_.data();
    for (int k = most, found = 0; k >= 2; k = std::min(k - 1, std::max(2, 2 * found))) {
      WordSenses senses = cluster(clustered, n, k, k > 2 ? options_.share_weight : 0.0f, word);
      found = static_cast<int>(senses.counts.size());
      if (found < 2 && k == 2) break;
      if (found < 2) continue;  // many needless clusters at once: go on with two
      if (options_.adaptive) {
        // Clusters of averages lie closer together than those of the contexts, by which the limits are measured.
        if (clustered != contexts_.data()) kmeans_.settle(contexts_.data(), n, k);
        if (!supported(collect(n, k), n, k)) continue;
      }
      if (k == 2 && options_.share_weight > 0.0f) {
        WordSenses uneven = cluster(clustered, n, k, options_.share_weight, word);
        if (uneven.counts.size() == 2 &&
            static_cast<float>(std::min(uneven.counts[0], uneven.counts[1])) < kUneven * static_cast<float>(n))
          senses = std::move(uneven);
      }
      return with_shares(std::move(senses));
    }
    return one_sense(n);
  }

 private:
  WordSenses cluster(const float* rows, int n, int k, float share_weight, std::int64_t word) {
    kmeans_.run(rows, n, k, share_weight, static_cast<std::uint64_t>(word));
    if (rows != contexts_.data()) kmeans_.centre(contexts_.data(), n, k);
    return collect(n, k);
  }

  void unit_contexts(std::span<const std::int64_t> places) {
    contexts_.resize(places.size() * static_cast<std::size_t>(dim_));
    context_vectors(context_, selection_, weights_, corpus_, places, contexts_.data());
    for (std::size_t i = 0; i < places.size(); ++i) {
      float* row = contexts_.data() + i * static_cast<std::size_t>(dim_);
      if (options_.share_weight > 0.0f) row[context_.dim - 1] = 0.0f;  // the constant
      kmeans_.unit(row);
    }
  }

  WordSenses with_shares(WordSenses senses) const {
    if (options_.share_weight > 0.0f)
      for (std::size_t c = 0; c < senses.counts.size(); ++c)
        senses.centroids[(c + 1) * static_cast<std::size_t>(context_.dim) - 1] = senses.bias[c];
    return senses;
  }

  WordSenses one_sense(int n) const {
    return {std::vector<float>(static_cast<std::size_t>(context_.dim), 0.0f), {n}, {0.0f}};
  }

  // Each context averaged with those of the same word in nearby sentences; places are in corpus order.
  const float* average_discourse(std::span<const std::int64_t> places) {
    const auto n = static_cast<int>(places.size());
    const auto offsets = corpus_.offsets();
    sentence_.clear();
    for (const std::int64_t place : places)
      sentence_.push_back(std::upper_bound(offsets.begin(), offsets.end(), place) - offsets.begin());
    averaged_.assign(contexts_.size(), 0.0f);
    for (int i = 0, low = 0, high = 0; i < n; ++i) {
      while (sentence_[static_cast<std::size_t>(low)] + options_.discourse < sentence_[static_cast<std::size_t>(i)])
        ++low;
      while (high < n &&
             sentence_[static_cast<std::size_t>(high)] <= sentence_[static_cast<std::size_t>(i)] + options_.discourse)
        ++high;
      float* average = averaged_.data() + static_cast<std::ptrdiff_t>(i) * dim_;
      for (int j = low; j < high; ++j)
        kernels_.axpy(1.0f, contexts_.data() + static_cast<std::ptrdiff_t>(j) * dim_, average, dim_);
      kmeans_.unit(average);
    }
    return averaged_.data();
  }

  // Whether all k clusters became senses, each a fair share of the contexts and far enough from the others.
  bool supported(const WordSenses& senses, int n, int k) const {
    if (static_cast<int>(senses.counts.size()) < k) return false;
    const float limit = k == 2 ? options_.max_cosine_two : options_.max_cosine_more;
    for (int a = 0; a < k; ++a) {
      if (static_cast<float>(senses.counts[static_cast<std::size_t>(a)]) < options_.min_share * static_cast<float>(n))
        return false;
      for (int b = 0; b < a; ++b) {
        const float* x = senses.centroids.data() + static_cast<std::ptrdiff_t>(a) * context_.dim;
        const float* y = senses.centroids.data() + static_cast<std::ptrdiff_t>(b) * context_.dim;
        if (kernels_.dot(x, y, context_.dim) > limit) return false;
      }
    }
    return true;
  }

  // The clusters that are large enough to be senses.
  WordSenses collect(int n, int k) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(k), 0);
    for (int i = 0; i < n; ++i) ++counts[static_cast<std::size_t>(kmeans_.assignment()[static_cast<std::size_t>(i)])];
    WordSenses senses;
    for (int c = 0; c < k; ++c) {
      if (counts[static_cast<std::size_t>(c)] < options_.min_contexts) continue;
      const float* centroid = kmeans_.centroids().data() + static_cast<std::ptrdiff_t>(c) * dim_;
      senses.centroids.insert(senses.centroids.end(), centroid, centroid + context_.dim);
      senses.counts.push_back(counts[static_cast<std::size_t>(c)]);
      senses.bias.push_back(kmeans_.bias()[static_cast<std::size_t>(c)]);
    }
    return senses;
  }

  const Matrix& context_;
  const SelectionOptions& selection_;
  std::span<const float> weights_;
  const Corpus& corpus_;
  const SplitOptions& options_;
  int dim_;
  const Kernels& kernels_;
  SphericalKMeans kmeans_;
  std::vector<float> contexts_, averaged_;
  std::vector<std::int64_t> sentence_;
};

}  // namespace

Split split_senses(const Matrix& context, const SelectionOptions& options, std::span<const float> weights,
                   const Corpus& corpus, const OccurrencesView& occurrences, std::span<const std::int32_t> wanted,
                   const SplitOptions& split, int workers, const std::function<void()>& poll) {
  const auto caller = std::this_thread::get_id();
  const auto words = static_cast<std::int64_t>(wanted.size());
  std::vector<WordSenses> found(wanted.size());
  parallel_chunks(words, 4, workers, [&] {
    return [&, splitter = Splitter(context, options, weights, corpus, split)](std::int64_t first,
                                                                              std::int64_t last) mutable {
      if (std::this_thread::get_id() == caller) poll();
      for (std::int64_t w = first; w < last; ++w) {
        const auto begin = static_cast<std::size_t>(occurrences.offsets[static_cast<std::size_t>(w)]);
        const auto end = static_cast<std::size_t>(occurrences.offsets[static_cast<std::size_t>(w) + 1]);
        found[static_cast<std::size_t>(w)] =
            splitter.split(w, occurrences.places.subspan(begin, end - begin), wanted[static_cast<std::size_t>(w)]);
      }
    };
  });
  Split result;
  std::size_t floats = 0;
  for (const WordSenses& senses : found) floats += senses.centroids.size();
  result.centroids.reserve(floats);
  for (WordSenses& senses : found) {
    result.senses.push_back(static_cast<std::int32_t>(senses.counts.size()));
    result.centroids.insert(result.centroids.end(), senses.centroids.begin(), senses.centroids.end());
    result.counts.insert(result.counts.end(), senses.counts.begin(), senses.counts.end());
    senses = {};  // not all of them twice
  }
  return result;
}

}  // namespace muse
