#include "senses/kmeans.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace muse {

namespace {

// The first of the largest.
int largest_of(const float* s, int k) {
  int best = 0;
  float top = s[0];
  for (int c = 1; c < k; ++c) {  // without jumps, which nobody could foresee
    best = s[c] > top ? c : best;
    top = std::max(top, s[c]);
  }
  return best;
}

}  // namespace

void SphericalKMeans::run(const float* x, int n, int k, float share_weight, std::uint64_t key) {
  share_weight_ = share_weight;
  double best = -std::numeric_limits<double>::infinity();
  for (int restart = 0; restart < options_.restarts; ++restart) {
    sums_fit_ = false;
    seed(x, n, k, RandomStream(options_.seed, static_cast<std::uint64_t>(restart) + 1, Purpose::kCluster), key);
    bias_.assign(static_cast<std::size_t>(k), 0.0f);
    double objective = 0.0;
    for (int i = 0; i < options_.iterations; ++i) {
      const double before = objective;
      objective = assign(x, n, k);
      if (i > 0 && objective <= before + 1e-4 * std::abs(before)) break;
      update(x, n, k);
    }
    if (restart == 0 || objective > best) {  // whatever the objective: there must be clusters
      best = objective;
      best_centroids_ = centroids_;
      best_assignment_ = assignment_;
      best_bias_ = bias_;
    }
  }
}

void SphericalKMeans::centre(const float* x, int n, int k) {
  sums_fit_ = false;
  assignment_ = best_assignment_;
  update(x, n, k);
  best_centroids_ = centroids_;
  best_bias_ = bias_;
}

void SphericalKMeans::settle(const float* x, int n, int k) {
  for (int i = 0; i < options_.iterations; ++i) {
    centre(x, n, k);
    assign(x, n, k);
    if (assignment_ == best_assignment_) return;
    best_assignment_ = assignment_;
  }
  centre(x, n, k);
}

void SphericalKMeans::refine(const float* x, int n, int k, int times) {
  sums_fit_ = false;
  centroids_ = best_centroids_;
  bias_ = best_bias_;
  assign(x, n, k);
  for (int i = 1; i < times; ++i) {
    update(x, n, k);
    assign(x, n, k);
  }
  best_assignment_ = assignment_;
  best_centroids_ = centroids_;
  best_bias_ = bias_;
}

void SphericalKMeans::unit(float* row) const {
  const float square = kernels_.dot(row, row, dim_);
  const float scale = square > 0.0f ? 1.0f / std::sqrt(square) : 0.0f;
  for (int d = 0; d < dim_; ++d) row[d] *= scale;
}

// k-means++: each further seed drawn in proportion to its distance from the nearest seed so far.
void SphericalKMeans::seed(const float* x, int n, int k, const RandomStream& draw, std::uint64_t key) {
  centroids_.assign(static_cast<std::size_t>(k) * static_cast<std::size_t>(dim_), 0.0f);
  const int m = options_.seed_rows > 0 ? std::min(n, std::max(k, options_.seed_rows)) : n;
  const auto row = [&](int i) { return x + static_cast<std::ptrdiff_t>(i) * n / m * dim_; };
  distance_.assign(static_cast<std::size_t>(m), 2.0f);
  int pick = static_cast<int>(draw.below(static_cast<std::uint32_t>(m), key));
  for (int c = 0;; ++c) {
    float* centroid = centroids_.data() + static_cast<std::ptrdiff_t>(c) * dim_;
    std::memcpy(centroid, row(pick), sizeof(float) * static_cast<std::size_t>(dim_));
    if (c + 1 == k) return;
    double total = 0.0;
    for (int i = 0; i < m; ++i) {
      float& d = distance_[static_cast<std::size_t>(i)];
      d = std::min(d, std::max(0.0f, 1.0f - kernels_.dot(row(i), centroid, dim_)));
      total += d;
    }
    double left = draw.uniform(key, static_cast<std::uint64_t>(c) + 1) * total;
    for (pick = 0; pick + 1 < m; ++pick)
      if ((left -= distance_[static_cast<std::size_t>(pick)]) < 0.0) break;
  }
}

double SphericalKMeans::assign(const float* x, int n, int k) {
  constexpr int kBlock = 64;
  assignment_.resize(static_cast<std::size_t>(n));
  scores_.resize(static_cast<std::size_t>(kBlock) * static_cast<std::size_t>(k));
  double objective = 0.0;
  for (int first = 0; first < n; first += kBlock) {
    const int rows = std::min(kBlock, n - first);
    kernels_.scores(x + static_cast<std::ptrdiff_t>(first) * dim_, rows, centroids_.data(), k, dim_, scores_.data(), k);
    for (int i = 0; i < rows; ++i) {
      float* s = scores_.data() + static_cast<std::ptrdiff_t>(i) * k;
      if (share_weight_ > 0.0f)
        for (int c = 0; c < k; ++c) s[c] += bias_[static_cast<std::size_t>(c)];
      const int best = largest_of(s, k);
      assignment_[static_cast<std::size_t>(first + i)] = best;
      objective += s[best];
    }
  }
  return objective;
}

void SphericalKMeans::update(const float* x, int n, int k) {
  if (!options_.moves || !move(x, n)) {
    centroids_.assign(static_cast<std::size_t>(k) * static_cast<std::size_t>(dim_), 0.0f);
    for (int i = 0; i < n; ++i)
      kernels_.axpy(1.0f, x + static_cast<std::ptrdiff_t>(i) * dim_,
                    centroids_.data() + static_cast<std::ptrdiff_t>(assignment_[static_cast<std::size_t>(i)]) * dim_,
                    dim_);
    if (options_.moves) sums_ = centroids_;
  }
  if (options_.moves) summed_ = assignment_;
  for (int c = 0; c < k; ++c) unit(centroids_.data() + static_cast<std::ptrdiff_t>(c) * dim_);
  bias_.assign(static_cast<std::size_t>(k), 0.0f);
  if (share_weight_ <= 0.0f) return;
  for (int i = 0; i < n; ++i) bias_[static_cast<std::size_t>(assignment_[static_cast<std::size_t>(i)])] += 1.0f;
  for (float& bias : bias_)  // one is added to each count, so that an empty cluster has a share
    bias = share_weight_ * std::log((bias + 1.0f) / static_cast<float>(n + k));
}

// The sums of the clusters from those of the assignment before, where that was one of the same rows.
bool SphericalKMeans::move(const float* x, int n) {
  if (!sums_fit_ || summed_.size() != static_cast<std::size_t>(n)) {
    sums_fit_ = true;
    return false;
  }
  for (std::size_t i = 0; i < summed_.size(); ++i) {
    if (assignment_[i] == summed_[i]) continue;
    const float* row = x + static_cast<std::ptrdiff_t>(i) * dim_;
    kernels_.axpy(-1.0f, row, sums_.data() + static_cast<std::ptrdiff_t>(summed_[i]) * dim_, dim_);
    kernels_.axpy(1.0f, row, sums_.data() + static_cast<std::ptrdiff_t>(assignment_[i]) * dim_, dim_);
  }
  centroids_ = sums_;
  return true;
}

}  // namespace muse
