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

std::pair<IndexArray, FloatArray> top_k(const FloatArray& matrix, const FloatArray& queries, std::int64_t k,
                                        const std::optional<WeightArray>& scale, const std::optional<ByteArray>& mask,
                                        int workers) {
  const muse::Matrix rows = as_matrix(matrix, "matrix", false);
  const muse::Matrix wanted = as_matrix(queries, "queries", false);
  if (rows.dim != wanted.dim) throw py::value_error("matrix and queries must have the same number of columns");
  if (k < 1) throw py::value_error("k must be at least 1");
  const muse::SearchOptions options{k, data_or_null(scale, rows.rows, "scale"), data_or_null(mask, rows.rows, "mask"),
                                    workers};
  return search_results(wanted.rows, k, [&](std::int64_t* indices, float* scores) {
    muse::top_k(rows, wanted, options, indices, scores);
  });
}

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
}
