// muse._core.read_rows and permute_rows: vector files of other tools.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "text/vector_rows.h"

namespace py = pybind11;
using namespace muse::bindings;

namespace {

std::tuple<py::list, std::int64_t, std::int64_t, std::int64_t> read_rows(const py::buffer& text,
                                                                         const FloatArray& matrix, std::int64_t start,
                                                                         bool binary, bool keyed, bool final,
                                                                         std::int64_t first, int workers) {
  const py::buffer_info info = text.request();
  if (info.ndim != 1 || info.itemsize != 1 || (info.size > 1 && info.strides[0] != 1))
    throw py::value_error("text must be contiguous bytes");
  muse::Matrix out = as_matrix(matrix, "matrix", true);
  if (start < 0 || start > out.rows) throw py::value_error("start must be a row of the matrix, or its end");
  out = muse::Matrix{out.row(start), out.rows - start, out.dim, out.stride};
  const std::string_view view(static_cast<const char*>(info.ptr), static_cast<std::size_t>(info.size));
  std::vector<std::string_view> keys;
  muse::RowsRead read;
  try {
    const ReleaseGil release;
    read = muse::read_rows(view, {binary, keyed, final}, first, workers, out, keys);
  } catch (const muse::RowError& error) {
    throw py::value_error(error.what());
  }
  py::list listed(keyed ? keys.size() : 0);
  for (std::size_t i = 0; i < listed.size(); ++i) listed[i] = py::bytes(keys[i].data(), keys[i].size());
  return {std::move(listed), read.rows, read.bytes, read.lines};
}

void permute_rows(const FloatArray& matrix, const IndexArray& order) {
  const muse::Matrix rows = as_matrix(matrix, "matrix", true);
  const auto given = as_span(order);
  if (order.ndim() != 1) throw py::value_error("order must be one-dimensional");
  std::vector<std::int64_t> copy(given.begin(), given.end());
  const ReleaseGil release;
  muse::permute_rows(rows, std::move(copy));
}

}  // namespace

void register_rows(py::module_& module) {
  module.def("read_rows", &read_rows, py::arg("text"), py::arg("matrix").noconvert(), py::arg("start"), py::kw_only(),
             py::arg("binary") = false, py::arg("keyed") = true, py::arg("final") = true, py::arg("first") = 1,
             py::arg("workers") = 1,
             R"(Read rows of a vector file.

Parameters
----------
text : bytes-like
    A piece of the file.
matrix : float32 (N, D)
    Where the numbers go.
start : int
    The first row of the matrix that is written.
binary, keyed, final : bool
    Float32 numbers behind "key "; whether a line of text starts with a key; whether nothing follows this piece.
first : int
    Number of the first line (of binary: row), for errors.
workers : int
    Threads, for text.

Returns
-------
keys : list of bytes
rows, used, lines : int
    Rows read, bytes used and line ends among them. Of a piece that is not final the rest belongs to a row that goes on.

Raises
------
ValueError
    "line 7: ..." for what is not a row of D numbers.
)");
  module.def("permute_rows", &permute_rows, py::arg("matrix").noconvert(), py::arg("order"),
             "Put row ``order[i]`` of a float32 matrix at row i, for all i, in place; `order` is int64 (N,).");
}
