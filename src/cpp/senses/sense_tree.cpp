#include "senses/sense_tree.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>

#include "math/kernels.h"
#include "math/pages.h"
#include "math/panel.h"
#include "math/parallel.h"
#include "senses/kmeans.h"
#include "senses/use_rows.h"

namespace muse {

namespace {

// Clusters that are joined two by two. All that joins ask of a cluster are its products with the others, and those of
// what is joined are sums of those of its parts.
class Joiner {
 public:
  Joiner(std::span<const float> centroids, int dim, std::span<const std::int64_t> counts, float share_power)
      : size_(counts.size()),
        power_(static_cast<double>(share_power)),
        products_(size_ * size_),
        apart_(size_ * size_) {
    const Kernels& k = kernels();
    for (std::size_t i = 0; i < size_; ++i) {
      parts_.push_back({i, static_cast<int>(i), static_cast<double>(counts[i])});
      total_ += parts_[i].count;
      for (std::size_t j = 0; j <= i; ++j) {
        const double cosine = k.dot(centroids.data() + i * at(dim), centroids.data() + j * at(dim), dim);
        products_[i * size_ + j] = products_[j * size_ + i] = cosine * parts_[i].count * parts_[j].count;
      }
    }
    for (const Part& part : parts_) measure(part);
  }

  std::vector<Join> run() {
    std::vector<Join> joins;
    while (parts_.size() > 1) {
      std::size_t a = 0, b = 1;
      for (std::size_t i = 0; i < parts_.size(); ++i)
        for (std::size_t j = i + 1; j < parts_.size(); ++j)
          if (apart(i, j) < apart(a, b)) a = i, b = j;
      joins.push_back({parts_[a].name, parts_[b].name, static_cast<float>(apart(a, b))});
      join(a, b, static_cast<int>(size_ + joins.size()) - 1);
    }
    return joins;
  }

 private:
  struct Part {
    std::size_t row;  // in products_ and apart_
    int name;
    double count;
  };

  double apart(std::size_t i, std::size_t j) const { return apart_[parts_[i].row * size_ + parts_[j].row]; }

  void measure(const Part& a) {
    for (const Part& b : parts_) {
      const double squares = products_[a.row * (size_ + 1)] * products_[b.row * (size_ + 1)];
      const double cosine = squares > 0.0 ? products_[a.row * size_ + b.row] / std::sqrt(squares) : 0.0;
      apart_[a.row * size_ + b.row] = apart_[b.row * size_ + a.row] =
          std::max(0.0, 1.0 - cosine) * std::pow(2.0 * std::min(a.count, b.count) / total_, power_);
    }
  }

  // The b-th part goes into the a-th (a < b), which comes last from then on.
  void join(std::size_t a, std::size_t b, int name) {
    const Part joined{parts_[a].row, name, parts_[a].count + parts_[b].count};
    const std::size_t gone = parts_[b].row;
    double* sums = products_.data() + joined.row * size_;
    const double square = sums[joined.row] + 2.0 * sums[gone] + products_[gone * (size_ + 1)];
    for (std::size_t j = 0; j < size_; ++j) products_[j * size_ + joined.row] = sums[j] += products_[gone * size_ + j];
    sums[joined.row] = square;
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(b));
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(a));
    parts_.push_back(joined);
    measure(joined);
  }

  std::size_t size_;
  double power_, total_ = 0.0;
  std::vector<Part> parts_;
  std::vector<double> products_, apart_;  // (parts, parts)
};

}  // namespace

std::vector<Join> join_all(std::span<const float> centroids, int dim, std::span<const std::int64_t> counts,
                           float share_power) {
  return Joiner(centroids, dim, counts, share_power).run();
}

namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 30;
constexpr std::int64_t kWordsAtOnce = 16;
constexpr int kSeedRows = 128;  // for at most a dozen seeds

struct Tree {
  std::vector<float> means, topics;
  std::vector<std::int64_t> counts;
  std::vector<Join> joins;
};

// Trees of words, one at a time; one thread's work and memory.
class Grower {
 public:
  Grower(const UseSpace& space, const UseRows& uses, const TreeOptions& options)
      : uses_(uses),
        options_(options),
        dim_(space.dim()),
        stride_(padded(dim_)),
        topic_dim_(space.topic.dim),
        kernels_(kernels()),
        kmeans_(stride_, {.restarts = options.restarts,
                          .iterations = options.iterations,
                          .seed = options.seed,
                          .seed_rows = kSeedRows,
                          .moves = true}) {}

  // That of the n uses from `first`.
  Tree grow(std::int64_t word, std::int64_t first, int n) {
    const int k = std::min(options_.leaves, std::max(2, n / options_.uses_a_leaf));
    reserve(rows_, std::int64_t{n} * stride_);
    uses_.read(first, n, rows_.data());
    scales_ = uses_.scales(first);
    cluster(n, k, static_cast<std::uint64_t>(word));
    return collect(n, k);
  }

 private:
  // Over some of the uses, where there are many, and then over all.
  void cluster(int n, int k, std::uint64_t word) {
    const int m = options_.first_uses > 0 ? std::min(n, std::max(options_.first_uses, 2 * k)) : n;
    const float* x = rows_.data();
    if (m < n) {
      reserve(first_, std::int64_t{m} * stride_);
      for (std::int64_t i = 0; i < m; ++i)
        std::memcpy(first_.data() + i * stride_, rows_.data() + i * n / m * stride_, sizeof(float) * at(stride_));
      x = first_.data();
    }
    kmeans_.run(x, m, k, 0.0f, word);
    if (m < n) kmeans_.refine(rows_.data(), n, k, std::max(1, options_.passes));
  }

  // The clusters that have uses, as leaves, and their joins.
  Tree collect(int n, int k) {
    const int dim = dim_;
    std::vector<std::int64_t> sizes(at(k), 0);
    for (int i = 0; i < n; ++i) ++sizes[at(kmeans_.assignment()[at(i)])];
    Tree tree;
    std::vector<int> leaf(at(k), -1);
    std::vector<float> centroids;
    for (int c = 0; c < k; ++c) {
      if (sizes[at(c)] == 0) continue;
      leaf[at(c)] = static_cast<int>(tree.counts.size());
      tree.counts.push_back(sizes[at(c)]);
      const float* centroid = kmeans_.centroids().data() + std::int64_t{c} * stride_;
      centroids.insert(centroids.end(), centroid, centroid + dim);
    }
    if (tree.counts.size() < 2) return {};
    tree.joins = join_all(centroids, dim, tree.counts, options_.share_power);
    tree.means.assign(tree.counts.size() * at(dim), 0.0f);
    tree.topics.assign(tree.counts.size() * at(topic_dim_), 0.0f);
    for (int i = 0; i < n; ++i) {
      const int l = leaf[at(kmeans_.assignment()[at(i)])];
      const float share = 1.0f / static_cast<float>(tree.counts[at(l)]);
      const float* row = rows_.data() + std::int64_t{i} * stride_;
      kernels_.axpy(share, row, tree.means.data() + std::int64_t{l} * dim, dim);
      kernels_.axpy(share * scales_[i], row, tree.topics.data() + std::int64_t{l} * topic_dim_, topic_dim_);
    }
    return tree;
  }

  const UseRows& uses_;
  const TreeOptions& options_;
  int dim_, stride_, topic_dim_;
  const Kernels& kernels_;
  SphericalKMeans kmeans_;
  const float* scales_ = nullptr;  // of the uses
  std::vector<float> rows_, first_;
};

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

SenseTrees gather_trees(std::vector<Tree>& found) {
  constexpr std::size_t kTimes = 8;  // that what is gathered goes back to the system: not all of it twice
  SenseTrees trees;
  std::size_t means = 0, topics = 0;
  for (const Tree& tree : found) means += tree.means.size(), topics += tree.topics.size();
  trees.means.reserve(means);
  trees.topics.reserve(topics);
  trees.leaf_offset.push_back(0);
  const std::size_t some = std::max<std::size_t>(1, found.size() / kTimes);
  for (std::size_t i = 0; i < found.size(); ++i) {
    Tree& tree = found[i];
    append(trees.means, tree.means);
    append(trees.topics, tree.topics);
    append(trees.counts, tree.counts);
    for (const Join& join : tree.joins) {
      trees.joins.push_back(join.first);
      trees.joins.push_back(join.second);
      trees.strengths.push_back(join.strength);
    }
    trees.leaf_offset.push_back(static_cast<std::int64_t>(trees.counts.size()));
    tree = {};
    if ((i + 1) % some == 0) give_back_memory();
  }
  return trees;
}

}  // namespace

namespace {

// Words whose contexts are made together: numbers, places, and the first row of each.
struct Batch {
  std::vector<std::int64_t> words, first;
  std::vector<std::span<const std::int64_t>> uses;
  std::int64_t rows = 0;

  void add(std::int64_t word, std::span<const std::int64_t> places) {
    words.push_back(word);
    first.push_back(rows);
    uses.push_back(places);
    rows += static_cast<std::int64_t>(places.size());
  }
};

// Batches of words with enough uses, of at most so many rows, or one word.
std::vector<Batch> make_batches(const OccurrencesView& occurrences, std::int64_t least_uses, std::int64_t rows) {
  std::vector<Batch> batches;
  for (std::size_t w = 0; w + 1 < occurrences.offsets.size(); ++w) {
    const std::int64_t count = occurrences.offsets[w + 1] - occurrences.offsets[w];
    if (count < least_uses) continue;
    if (batches.empty() || batches.back().rows + count > rows) batches.emplace_back();
    batches.back().add(static_cast<std::int64_t>(w), occurrences.places.subspan(at(occurrences.offsets[w]), at(count)));
  }
  return batches;
}

}  // namespace

SenseTrees grow_trees(const UseSpace& space, const Corpus& corpus, const OccurrencesView& occurrences,
                      const TreeOptions& options, int workers, const std::function<void(std::int64_t)>& poll) {
  const auto caller = std::this_thread::get_id();
  std::vector<Tree> found(occurrences.offsets.size() - 1);
  std::atomic<std::int64_t> done{0};
  std::optional<UseRows> kept(std::in_place, space, corpus);
  UseRows& uses = *kept;
  const std::int64_t rows = std::clamp<std::int64_t>(options.memory / UseRows::row_bytes(space), 1, kMostRows);
  for (const Batch& batch : make_batches(occurrences, options.least_uses, rows)) {
    uses.compute(batch.uses, workers, [&](std::int64_t made) { poll(done + made / 2); });
    done += batch.rows / 2;
    parallel_chunks(static_cast<std::int64_t>(batch.words.size()), kWordsAtOnce, workers, [&] {
      return [&, grower = Grower(space, uses, options)](std::int64_t first, std::int64_t last) mutable {
        if (std::this_thread::get_id() == caller) poll(done);
        for (std::int64_t i = first; i < last; ++i) {
          const int n = static_cast<int>(batch.uses[at(i)].size());
          found[at(batch.words[at(i)])] = grower.grow(batch.words[at(i)], batch.first[at(i)], n);
          done += n / 2;
        }
      };
    });
  }
  kept.reset();  // before all trees lie twice for a moment
  return gather_trees(found);
}

}  // namespace muse
