// muse._core.top_k
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "arrays.h"
#include "senses/search.h"

namespace py = pybind11;
using namespace muse::bindings;

namespace {

std::pair<IndexArray, FloatArray> search(const muse::Matrix& rows, const FloatArray& queries,
                                         const muse::SearchOptions& options) {
  const muse::Matrix wanted = as_matrix(queries, "queries", false);
  if (rows.dim != wanted.dim) throw py::value_error("matrix and queries must have the same number of columns");
  if (options.top < 1) throw py::value_error("k must be at least 1");
  return search_results(wanted.rows, options.top, [&](std::int64_t* indices, float* scores) {
    muse::top_k(rows, wanted, options, indices, scores);
  });
}

std::pair<IndexArray, FloatArray> top_k(const FloatArray& matrix, const FloatArray& queries, std::int64_t k,
                                        const std::optional<WeightArray>& scale, const std::optional<ByteArray>& mask,
                                        int workers) {
  const muse::Matrix rows = as_matrix(matrix, "matrix", false);
  return search(rows, queries,
                {k, data_or_null(scale, rows.rows, "scale"), data_or_null(mask, rows.rows, "mask"), workers});
}

// The rows of a matrix, which is asked again and again and must not change, with a quarter as much memory beside it.
class Search {
 public:
  Search(const FloatArray& matrix, const std::optional<WeightArray>& scale, int workers)
      : matrix_(matrix), rows_(as_matrix(matrix, "matrix", false)), scale_(scale), workers_(workers) {
    const float* factors = data_or_null(scale_, rows_.rows, "scale");
    const ReleaseGil release;
    bytes_.emplace(rows_, factors, workers);
  }

  std::pair<IndexArray, FloatArray> top_k(const FloatArray& queries, std::int64_t k, std::optional<std::int64_t> end,
                                          const std::optional<ByteArray>& mask) const {
    muse::Matrix rows = rows_;
    if (end && (*end < 0 || *end > rows.rows)) throw py::value_error("end must be a number of rows of the matrix");
    rows.rows = end.value_or(rows.rows);
    const muse::SearchOptions options{k, data_or_null(scale_, rows_.rows, "scale"),
                                      data_or_null(mask, rows.rows, "mask"), workers_, &*bytes_};
    return search(rows, queries, options);
  }

 private:
  FloatArray matrix_;
  muse::Matrix rows_;
  std::optional<WeightArray> scale_;
  int workers_;
  std::optional<muse::ByteRows> bytes_;
};

}  // namespace

void register_search(py::module_& module) {
  module.def("top_k", &top_k, py::arg("matrix").noconvert(), py::arg("queries").noconvert(), py::arg("k"),
             py::kw_only(), py::arg("scale").noconvert() = py::none(), py::arg("mask").noconvert() = py::none(),
             py::arg("workers") = 0,
             R"(The rows of a matrix with the largest inner products, for each query.

Parameters
----------
matrix : float32 (N, D)
    Rows to search; padded rows are read in place, never copied.
queries : float32 (M, D)
k : int
    Rows wanted for each query.
scale : float32 (N,), optional
    Factor on each row's score; one over the row's length makes scores proportional to cosines.
mask : uint8 (N,), optional
    Rows with a zero are left out.
workers : int
    Threads; 0 means all cores.

Returns
-------
indices : int64 (M, k)
    Best first, ties by row number; -1 where fewer than k rows qualify. Rows that score NaN never appear.
scores : float32 (M, k)
    Minus infinity beside each -1.
)");
  py::class_<Search>(module, "Search", "The rows of a matrix that is asked again and again, and must not change.")
      .def(py::init<const FloatArray&, const std::optional<WeightArray>&, int>(), py::arg("matrix").noconvert(),
           py::kw_only(), py::arg("scale").noconvert() = py::none(), py::arg("workers") = 0)
      .def("top_k", &Search::top_k, py::arg("queries").noconvert(), py::arg("k"), py::kw_only(),
           py::arg("end") = py::none(), py::arg("mask").noconvert() = py::none(),
           "As muse._core.top_k, over the rows before `end`; the mask has one number for each of these.");
}
