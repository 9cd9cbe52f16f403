// muse._core: products of the rows of matrices.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arrays.h"
#include "math/products.h"

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
}
