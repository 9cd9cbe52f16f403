// Axes of a symmetric matrix. In one thread: those of numpy's LAPACK wait for each other longer than the work takes.
#pragma once

#include <vector>

namespace muse {

// Of `matrix` (n, n), symmetric: its eigenvalues, rising, and in place of it rows that are their unit eigenvectors.
// Where it holds what is no finite number, so do they.
std::vector<double> symmetric_eigen(int n, std::vector<double>& matrix);

}  // namespace muse
