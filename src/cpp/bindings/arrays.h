// Conversions between numpy arrays and the core's views; shared by the bind_*.cpp files.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "gil.h"
#include "model/model.h"

namespace muse::bindings {

namespace py = pybind11;

using FloatArray = py::array_t<float>;
using IndexArray = py::array_t<std::int64_t, py::array::c_style>;
using WeightArray = py::array_t<float, py::array::c_style>;
using ByteArray = py::array_t<std::uint8_t, py::array::c_style>;
using TokenArray = py::array_t<std::int32_t, py::array::c_style>;

// A numpy float32 matrix as a view: columns contiguous, any row stride. `writable` asks for one that may be changed.
inline Matrix as_matrix(const FloatArray& array, const char* name, bool writable) {
  if (array.ndim() != 2) throw py::value_error(std::string(name) + " must be a matrix");
  const bool columns = array.shape(1) <= 1 || array.strides(1) == static_cast<py::ssize_t>(sizeof(float));
  constexpr auto kFloat = static_cast<py::ssize_t>(sizeof(float));
  const bool rows = array.strides(0) % kFloat == 0 && array.strides(0) >= array.shape(1) * kFloat;
  if (!columns || !rows) throw py::value_error(std::string(name) + " must have contiguous rows");
  if (writable && !array.writeable()) throw py::value_error(std::string(name) + " is read-only");
  return Matrix{const_cast<float*>(array.data()), array.shape(0), static_cast<int>(array.shape(1)),
                array.strides(0) / kFloat};
}

template <typename T>
std::span<const T> as_span(const py::array_t<T, py::array::c_style>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

// A numpy array that takes over a vector's memory.
template <typename T>
py::array_t<T> take(std::vector<T>&& values) {
  auto* owner = new std::vector<T>(std::move(values));
  const py::capsule free(owner, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(static_cast<py::ssize_t>(owner->size()), owner->data(), free);
}

template <typename T>
const T* data_or_null(const std::optional<py::array_t<T, py::array::c_style>>& array, std::int64_t rows,
                      const char* name) {
  if (!array) return nullptr;
  if (array->ndim() != 1 || array->shape(0) != rows)
    throw py::value_error(std::string(name) + " must hold one number for each row of the matrix");
  return array->data();
}

// What search(indices, scores) finds without the GIL, k for each query.
template <typename Search>
std::pair<IndexArray, FloatArray> search_results(std::int64_t queries, std::int64_t k, const Search& search) {
  IndexArray indices({queries, k});
  FloatArray scores({queries, k});
  std::int64_t* indices_out = indices.mutable_data();
  float* scores_out = scores.mutable_data();
  {
    const ReleaseGil release;
    search(indices_out, scores_out);
  }
  return {indices, scores};
}

}  // namespace muse::bindings
