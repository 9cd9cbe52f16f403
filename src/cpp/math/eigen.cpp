#include "math/eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "math/panel.h"

namespace muse {

namespace {

constexpr int kMostRounds = 60;  // of a value; two are usual

double dot(const double* x, const double* y, int n) {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;  // that do not wait for each other
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    a += x[i] * y[i];
    b += x[i + 1] * y[i + 1];
    c += x[i + 2] * y[i + 2];
    d += x[i + 3] * y[i + 3];
  }
  for (; i < n; ++i) a += x[i] * y[i];
  return (a + b) + (c + d);
}

// A symmetric matrix becomes a product Qᵀ T Q with three diagonals in T and reflections in Q, of which rows are kept;
// then rotations of neighbouring rows take those beside the middle of T away, from its end on.
class Solver {
 public:
  Solver(int n, std::vector<double>& matrix) : n_(n), a_(matrix), middle_(at(n), 0.0), beside_(at(n), 0.0), w_(at(n)) {}

  std::vector<double> run() {
    reflect();
    std::vector<double> rows = product();
    for (int i = 0; i < n_; ++i) settle(i, rows);
    std::vector<int> order(at(n_));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return middle_[at(i)] < middle_[at(j)]; });
    std::vector<double> values;
    for (int i = 0; i < n_; ++i) {
      values.push_back(middle_[at(order[at(i)])]);
      std::copy_n(rows.data() + row(order[at(i)]), n_, a_.data() + row(i));
    }
    return values;
  }

 private:
  std::ptrdiff_t row(int i) const { return static_cast<std::ptrdiff_t>(i) * n_; }

  // Column by column: what lies below its second number is reflected away. The mirror's normal takes its place.
  void reflect() {
    for (int k = 0; k + 1 < n_; ++k) {
      middle_[at(k)] = a_[at(row(k) + k)];
      const int left = n_ - k - 1;
      double* normal = a_.data() + row(k) + k + 1;  // the row, which is the column
      const double length = std::sqrt(dot(normal, normal, left));
      beside_[at(k)] = normal[0] > 0.0 ? -length : length;
      normal[0] -= beside_[at(k)];
      const double size = std::sqrt(dot(normal, normal, left));
      if (!(size > 0.0)) {
        std::fill_n(normal, left, 0.0);
        continue;
      }
      for (int i = 0; i < left; ++i) normal[i] /= size;
      mirror(k + 1, normal);
    }
    if (n_ > 0) middle_[at(n_ - 1)] = a_.back();
  }

  // H B H for the block B from `first` on, with H = 1 - 2 normal normalᵀ.
  void mirror(int first, const double* normal) {
    const int left = n_ - first;
    for (int i = 0; i < left; ++i) w_[at(i)] = dot(a_.data() + row(first + i) + first, normal, left);
    const double along = dot(w_.data(), normal, left);
    for (int i = 0; i < left; ++i) w_[at(i)] = 2.0 * (w_[at(i)] - along * normal[i]);
    for (int i = 0; i < left; ++i) {
      double* to = a_.data() + row(first + i) + first;
      const double v = normal[i], w = w_[at(i)];
      for (int j = 0; j < left; ++j) to[j] -= v * w_[at(j)] + w * normal[j];
    }
  }

  // Of all reflections, the last one first.
  std::vector<double> product() {
    std::vector<double> rows(a_.size(), 0.0);
    for (int i = 0; i < n_; ++i) rows[at(row(i) + i)] = 1.0;
    for (int k = n_ - 2; k >= 0; --k) {
      const double* normal = a_.data() + row(k) + k + 1;
      const int left = n_ - k - 1;
      for (int i = k + 1; i < n_; ++i) {
        double* to = rows.data() + row(i) + k + 1;
        const double twice = 2.0 * dot(to, normal, left);
        for (int j = 0; j < left; ++j) to[j] -= twice * normal[j];
      }
    }
    return rows;
  }

  bool is_apart(int i) const {
    const double around = std::fabs(middle_[at(i)]) + std::fabs(middle_[at(i + 1)]);
    return !(std::fabs(beside_[at(i)]) > std::numeric_limits<double>::epsilon() * around);
  }

  // Until the number beside the i-th of the middle is gone.
  void settle(int i, std::vector<double>& rows) {
    for (int round = 0; round < kMostRounds; ++round) {
      int last = i;
      while (last + 1 < n_ && !is_apart(last)) ++last;
      if (last == i) return;
      chase(i, last, rows);
    }
  }

  // One implicit step with a shift of the block [first, last], from its end to its beginning.
  void chase(int first, int last, std::vector<double>& rows) {
    const double half = (middle_[at(first + 1)] - middle_[at(first)]) / (2.0 * beside_[at(first)]);
    const double root = std::hypot(half, 1.0);
    double ahead = middle_[at(last)] - middle_[at(first)] + beside_[at(first)] / (half + std::copysign(root, half));
    double sine = 1.0, cosine = 1.0, taken = 0.0;
    for (int i = last - 1; i >= first; --i) {
      const double bulge = sine * beside_[at(i)], rest = cosine * beside_[at(i)];
      const double length = std::hypot(bulge, ahead);
      beside_[at(i + 1)] = length;
      if (length == 0.0) {  // it falls apart here
        middle_[at(i + 1)] -= taken;
        beside_[at(last)] = 0.0;
        return;
      }
      sine = bulge / length;
      cosine = ahead / length;
      const double base = middle_[at(i + 1)] - taken;
      const double mixed = (middle_[at(i)] - base) * sine + 2.0 * cosine * rest;
      taken = sine * mixed;
      middle_[at(i + 1)] = base + taken;
      ahead = cosine * mixed - rest;
      rotate(rows.data() + row(i), rows.data() + row(i + 1), sine, cosine);
    }
    middle_[at(first)] -= taken;
    beside_[at(first)] = ahead;
    beside_[at(last)] = 0.0;
  }

  void rotate(double* x, double* y, double sine, double cosine) const {
    for (int d = 0; d < n_; ++d) {
      const double before = y[d];
      y[d] = sine * x[d] + cosine * before;
      x[d] = cosine * x[d] - sine * before;
    }
  }

  int n_;
  std::vector<double>& a_;
  std::vector<double> middle_, beside_;  // of T
  std::vector<double> w_;
};

}  // namespace

std::vector<double> symmetric_eigen(int n, std::vector<double>& matrix) { return Solver(n, matrix).run(); }

}  // namespace muse
