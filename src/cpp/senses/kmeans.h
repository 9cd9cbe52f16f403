// Spherical k-means over unit rows.
#pragma once

#include <cstdint>
#include <vector>

#include "math/kernels.h"
#include "math/random.h"

namespace muse {

struct KMeansOptions {
  int restarts = 4;  // the best objective wins
  int iterations = 25;
  std::uint64_t seed = 1;
  int seed_rows = 0;   // seeds are drawn from so many rows, spread over all; 0: from all
  bool moves = false;  // from one iteration to the next only rows that change their cluster are added and taken off
};

// One thread's work and memory.
class SphericalKMeans {
 public:
  SphericalKMeans(int dim, const KMeansOptions& options) : dim_(dim), options_(options), kernels_(kernels()) {}

  // Clusters n unit rows of `x` into k, whose shares count so much; afterwards centroids() and assignment() are those
  // of the best restart.
  void run(const float* x, int n, int k, float share_weight, std::uint64_t key);

  // Makes the centroids those of the best assignment's rows of `x`.
  void centre(const float* x, int n, int k);

  // Goes on from the best assignment with the rows of `x`.
  void settle(const float* x, int n, int k);

  // Goes on from the best centroids, with rows that may be others, so many times; at the end each row belongs to the
  // centroid that is nearest to it, and centroids are those of the assignment before.
  void refine(const float* x, int n, int k, int times);

  const std::vector<float>& centroids() const { return best_centroids_; }
  const std::vector<int>& assignment() const { return best_assignment_; }
  const std::vector<float>& bias() const { return best_bias_; }  // what a cluster's share adds to its scores

  void unit(float* row) const;

 private:
  void seed(const float* x, int n, int k, const RandomStream& draw, std::uint64_t key);
  double assign(const float* x, int n, int k);
  void update(const float* x, int n, int k);
  bool move(const float* x, int n);

  int dim_;
  KMeansOptions options_;
  const Kernels& kernels_;
  float share_weight_ = 0.0f;  // of the last run
  std::vector<float> centroids_, best_centroids_, bias_, best_bias_, scores_, distance_;
  bool sums_fit_ = false;    // whether sums_ are those of the rows by summed_
  std::vector<float> sums_;  // (k, dim) before they get unit length
  std::vector<int> assignment_, best_assignment_, summed_;
};

}  // namespace muse
