// muse._core: products of the rows of matrices.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arrays.h"
#include "math/eigen.h"
#include "model/products.h"

namespace muse::bindings {

namespace {

// Whether a row of `out` is at most the row of `rows` that it is made from.
void check_place(const Matrix& rows, const Matrix& out) {
  if (out.data == rows.data && out.stride == rows.stride) return;
  if (out.data < rows.data + rows.rows * rows.stride && rows.data < out.data + out.rows * out.stride)
    throw py::value_error("out must be rows, or lie elsewhere");
}

py::array_t<double> py_scatter(const FloatArray& rows_, int workers) {
  const Matrix rows = as_matrix(rows_, "rows", false);
  std::vector<double> sums(static_cast<std::size_t>(rows.dim) * static_cast<std::size_t>(rows.dim));
  {
    const ReleaseGil release;
    scatter_of(rows, workers).write(1.0, sums.data());
  }
  return take(std::move(sums)).reshape({static_cast<py::ssize_t>(rows.dim), static_cast<py::ssize_t>(rows.dim)});
}

void py_transform_rows(const FloatArray& rows_, const FloatArray& transform_, const FloatArray& out_,
                       const std::optional<WeightArray>& mean, int workers) {
  const Matrix rows = as_matrix(rows_, "rows", false), transform = as_matrix(transform_, "transform", false),
               out = as_matrix(out_, "out", true);
  if (transform.rows != rows.dim || transform.dim != out.dim || out.rows != rows.rows ||
      (mean && mean->size() != rows.dim))
    throw py::value_error("rows, transform, out and mean do not fit together");
  check_place(rows, out);
  const ReleaseGil release;
  transform_rows(rows, mean ? as_span(*mean) : std::span<const float>{}, transform, out, workers);
}

void py_centre_rows(const FloatArray& rows_, const IndexArray& counts, const FloatArray& out_, int workers) {
  const Matrix rows = as_matrix(rows_, "rows", false), out = as_matrix(out_, "out", true);
  if (out.rows != rows.rows || out.dim != rows.dim || counts.size() != rows.rows)
    throw py::value_error("rows, counts and out do not fit together");
  check_place(rows, out);
  const ReleaseGil release;
  centre_rows(rows, as_span(counts), out, workers);
}

void py_average_rows(const FloatArray& rows_, const IndexArray& groups, const IndexArray& weights,
                     const FloatArray& out_, bool unit) {
  const Matrix rows = as_matrix(rows_, "rows", false), out = as_matrix(out_, "out", true);
  if (groups.size() != rows.rows || weights.size() != rows.rows || out.dim != rows.dim)
    throw py::value_error("rows, groups, weights and out do not fit together");
  for (const std::int64_t group : as_span(groups))
    if (group < -1 || group >= out.rows) throw py::value_error("a group lies outside out");
  for (const std::int64_t weight : as_span(weights))
    if (weight < 1) throw py::value_error("weights must be at least 1");
  const ReleaseGil release;
  average_rows(rows, as_span(groups), as_span(weights), out, unit);
}

py::tuple py_symmetric_eigen(const py::array_t<double, py::array::c_style>& matrix) {
  if (matrix.ndim() != 2 || matrix.shape(0) != matrix.shape(1)) throw py::value_error("the matrix must be square");
  const py::ssize_t n = matrix.shape(0);
  std::vector<double> rows(matrix.data(), matrix.data() + matrix.size()), values;
  {
    const ReleaseGil release;
    values = symmetric_eigen(static_cast<int>(n), rows);
  }
  return py::make_tuple(take(std::move(values)), take(std::move(rows)).reshape({n, n}).attr("T"));
}

}  // namespace
}  // namespace muse::bindings

void register_products(pybind11::module_& m) {
  using namespace muse::bindings;
  m.def("scatter", &py_scatter, py::arg("rows"), py::arg("workers") = 1,
        "The sum of the products of each row with itself, float64 (D, D).");
  m.def("transform_rows", &py_transform_rows, py::arg("rows"), py::arg("transform"), py::arg("out"),
        py::arg("mean") = py::none(), py::arg("workers") = 1,
        "Writes (rows - mean) @ transform into out, which may be rows.");
  m.def("centre_rows", &py_centre_rows, py::arg("rows"), py::arg("counts"), py::arg("out"), py::arg("workers") = 1,
        "Writes rows at unit length, less their mean weighted by counts, into out, which may be rows.");
  m.def("average_rows", &py_average_rows, py::arg("rows"), py::arg("groups"), py::arg("weights"), py::arg("out"),
        py::arg("unit"),
        "Adds the weighted mean of the rows of each group, at unit length or not, to its row of out; group -1: none.");
  m.def("symmetric_eigen", &py_symmetric_eigen, py::arg("matrix"),
        "Eigenvalues of a symmetric matrix, rising, and its eigenvectors as columns, like numpy.linalg.eigh.");
}
