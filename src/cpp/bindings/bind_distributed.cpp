// muse._core: changes of matrices, and corpora over arrays that somebody else holds, for muse.distributed.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "gil.h"
#include "text/corpus.h"
#include "train/batch.h"
#include "train/changes.h"

namespace py = pybind11;
using namespace muse::bindings;

namespace {

using CountArray = py::array_t<std::int32_t, py::array::c_style>;

std::pair<muse::Matrix, muse::Matrix> pair_of(const FloatArray& work, const FloatArray& base, bool write_base) {
  const muse::Matrix one = as_matrix(work, "work", true), other = as_matrix(base, "base", write_base);
  if (one.rows != other.rows || one.dim != other.dim) throw py::value_error("work and base must have the same shape");
  return {one, other};
}

std::tuple<IndexArray, WeightArray, WeightArray> take_changes(const FloatArray& work, const FloatArray& base) {
  const auto [one, other] = pair_of(work, base, false);
  std::vector<std::int64_t> rows;
  {
    const ReleaseGil release;
    rows = muse::changed_rows(one, other);
  }
  const auto count = static_cast<py::ssize_t>(rows.size());
  WeightArray sums({count, static_cast<py::ssize_t>(one.dim)}), squares(count);
  float* const sums_out = sums.mutable_data();
  float* const squares_out = squares.mutable_data();
  {
    const ReleaseGil release;
    muse::take_changes(one, other, rows, sums_out, squares_out);
  }
  return {take(std::move(rows)), std::move(sums), std::move(squares)};
}

void check_changes(const IndexArray& rows, const WeightArray& sums, std::int64_t most) {
  if (rows.ndim() != 1 || sums.ndim() != 2 || sums.shape(0) != rows.shape(0))
    throw py::value_error("changes must be one row of numbers for each of the rows");
  const auto view = as_span(rows);
  for (std::size_t i = 0; i < view.size(); ++i)
    if (view[i] < 0 || view[i] >= most || (i > 0 && view[i] <= view[i - 1]))
      throw py::value_error("rows must ascend, and be those of the matrix");
}

using ChangesTuple = std::tuple<IndexArray, WeightArray, WeightArray, CountArray>;

muse::ChangesView view_of(const ChangesTuple& changes) {
  const auto& [rows, sums, squares, workers] = changes;
  check_changes(rows, sums, std::int64_t{1} << 62);
  if (squares.size() != rows.size() || workers.size() != rows.size())
    throw py::value_error("changes must have a square and a count of workers for each of the rows");
  return {as_span(rows), sums.data(), as_span(squares), as_span(workers)};
}

ChangesTuple merge_changes(const ChangesTuple& one, const ChangesTuple& other, bool adasum) {
  const muse::ChangesView first = view_of(one), second = view_of(other);
  const py::ssize_t dim = std::get<1>(one).shape(1);
  if (dim != std::get<1>(other).shape(1)) throw py::value_error("changes must have rows of the same length");
  muse::Changes merged;
  {
    const ReleaseGil release;
    merged = muse::merge_changes(first, second, static_cast<int>(dim),
                                 adasum ? muse::Merging::kAdasum : muse::Merging::kSum);
  }
  const auto count = static_cast<py::ssize_t>(merged.rows.size());
  return {take(std::move(merged.rows)), take(std::move(merged.sums)).reshape({count, dim}),
          take(std::move(merged.squares)), take(std::move(merged.workers))};
}

void apply_changes(const FloatArray& work, const FloatArray& base, const IndexArray& rows, const WeightArray& changes) {
  const auto [one, other] = pair_of(work, base, true);
  check_changes(rows, changes, one.rows);
  if (changes.shape(1) != one.dim) throw py::value_error("changes must be as long as the rows of the matrix");
  const auto view = as_span(rows);
  const float* const values = changes.data();
  const ReleaseGil release;
  muse::apply_changes(one, other, view, values);
}

using ShortArray = py::array_t<std::int16_t, py::array::c_style>;

std::pair<ShortArray, WeightArray> pack_rows(const WeightArray& rows) {
  if (rows.ndim() != 2) throw py::value_error("rows must be a matrix");
  ShortArray packed({rows.shape(0), rows.shape(1)});
  WeightArray units(rows.shape(0));
  const float* const in = rows.data();
  std::int16_t* const out = packed.mutable_data();
  float* const units_out = units.mutable_data();
  const ReleaseGil release;
  muse::pack_rows(in, rows.shape(0), static_cast<int>(rows.shape(1)), out, units_out);
  return {std::move(packed), std::move(units)};
}

WeightArray unpack_rows(const ShortArray& packed, const WeightArray& units) {
  if (packed.ndim() != 2 || units.ndim() != 1 || units.shape(0) != packed.shape(0))
    throw py::value_error("packed rows must be a matrix, with a unit for each row");
  WeightArray rows({packed.shape(0), packed.shape(1)});
  const std::int16_t* const in = packed.data();
  const float* const units_in = units.data();
  float* const out = rows.mutable_data();
  const ReleaseGil release;
  muse::unpack_rows(in, units_in, packed.shape(0), static_cast<int>(packed.shape(1)), out);
  return rows;
}

// Over arrays, which it keeps alive: a file that is mapped takes no memory.
muse::Corpus map_corpus(const TokenArray& tokens, const IndexArray& offsets) {
  const auto ids = as_span(tokens);
  const auto limits = as_span(offsets);
  bool fits = tokens.ndim() == 1 && offsets.ndim() == 1 && !limits.empty() && limits.front() == 0 &&
              limits.back() == static_cast<std::int64_t>(ids.size());
  for (std::size_t i = 1; fits && i < limits.size(); ++i) fits = limits[i] >= limits[i - 1];
  for (std::size_t i = 0; fits && i < ids.size(); ++i) fits = ids[i] >= 0;
  if (!fits) throw py::value_error("these are not the ids and limits of the sentences of a corpus");
  using Held = std::pair<TokenArray, IndexArray>;
  const std::shared_ptr<const void> owner(new Held(tokens, offsets), [](Held* held) {
    const AcquireGil acquire;
    delete held;
  });
  return {owner, ids, limits, static_cast<std::int64_t>(ids.size()), static_cast<std::int64_t>(limits.size()) - 1,
          true};
}

}  // namespace

void register_distributed(py::module_& m) {
  m.def("take_changes", &take_changes, py::arg("work").noconvert(), py::arg("base").noconvert(),
        "Which rows of `work` are not those of `base`, int64 (n,); their differences, float32 (n, D), and squared\n"
        "lengths, (n,). The rows of `work` are those of `base` again.");
  m.def("merge_changes", &merge_changes, py::arg("one"), py::arg("other"), py::arg("adasum") = false,
        "Changes (rows, sums, squares, workers) of two groups of workers as those of one; `adasum` merges the sums of\n"
        "a row that both have by that rule.");
  m.def("apply_changes", &apply_changes, py::arg("work").noconvert(), py::arg("base").noconvert(), py::arg("rows"),
        py::arg("changes"), "Add changes, float32 (n, D), to rows of `base`, which those of `work` are then.");
  m.def("pack_rows", &pack_rows, py::arg("rows"),
        "Numbers, float32 (n, D), as int16 (n, D) in units of a 32767th of the largest of their row, float32 (n,).");
  m.def("unpack_rows", &unpack_rows, py::arg("packed"), py::arg("units"), "The numbers again, float32 (n, D).");
  m.def("map_corpus", &map_corpus, py::arg("tokens").noconvert(), py::arg("offsets").noconvert(),
        "A corpus over arrays of ids, int32, and limits of sentences, int64, which must not change; none are copied.");
  m.def(
      "batch_boundaries",
      [](const muse::Corpus& corpus, std::int64_t batch_tokens) {
        if (batch_tokens < 1) throw py::value_error("batch_tokens must be at least 1");
        return take(muse::batch_boundaries(corpus.offsets(), batch_tokens));
      },
      py::arg("corpus"), py::arg("batch_tokens"),
      "Where a trainer's batches begin, and the last ends, int64 (n + 1,).");
}
