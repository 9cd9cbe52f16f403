// muse._core: changes of matrices, and corpora over arrays that somebody else holds, for muse.distributed.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "gil.h"
#include "text/corpus.h"
#include "train/batch.h"
#include "train/changes.h"

namespace py = pybind11;
using namespace muse::bindings;

namespace {

using RowArray = TokenArray;  // int32, as the counts of workers are
using ShortArray = py::array_t<std::int16_t, py::array::c_style>;
using NumberArray = std::variant<ShortArray, WeightArray>;
// Rows, sums, the units of their rows, squares, workers.
using ChangesTuple = std::tuple<RowArray, NumberArray, WeightArray, WeightArray, RowArray>;

std::pair<muse::Matrix, muse::Matrix> pair_of(const FloatArray& work, const FloatArray& base, bool write_base) {
  const muse::Matrix one = as_matrix(work, "work", true), other = as_matrix(base, "base", write_base);
  if (one.rows != other.rows || one.dim != other.dim) throw py::value_error("work and base must have the same shape");
  if (one.rows > std::numeric_limits<std::int32_t>::max()) throw py::value_error("there must be fewer than 2^31 rows");
  return {one, other};
}

// A matrix of so many rows of numbers in a vector that has room for them, or in memory of its own.
template <typename T>
py::array_t<T, py::array::c_style> rows_in(const std::optional<NumberArray>& room, std::size_t count, int dim) {
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(count), dim};
  using Array = py::array_t<T, py::array::c_style>;
  const auto* given = room ? std::get_if<Array>(&*room) : nullptr;
  if (given == nullptr || given->size() < shape[0] * shape[1]) return Array(shape);
  return Array(shape, const_cast<Array*>(given)->mutable_data(), *given);
}

// Where the numbers of so many rows go.
struct NewNumbers {
  NewNumbers(std::size_t count, int dim, bool shorter, const std::optional<NumberArray>& room = std::nullopt)
      : units(static_cast<py::ssize_t>(count)) {
    if (shorter) {
      sums = rows_in<std::int16_t>(room, count, dim);
      to.shorts = std::get<ShortArray>(sums).mutable_data();
    } else {
      sums = rows_in<float>(room, count, dim);
      to.floats = std::get<WeightArray>(sums).mutable_data();
    }
    to.units = units.mutable_data();
  }

  NumberArray sums;
  WeightArray units;
  muse::Numbers to;
};

ChangesTuple take_changes(const FloatArray& work, const FloatArray& base, bool shorter,
                          const std::optional<NumberArray>& room) {
  const auto [one, other] = pair_of(work, base, false);
  std::vector<std::int32_t> rows;
  {
    const ReleaseGil release;
    rows = muse::changed_rows(one, other);
  }
  NewNumbers made(rows.size(), one.dim, shorter, room);
  std::vector<float> squares(rows.size());
  {
    const ReleaseGil release;
    muse::take_changes(one, other, rows, made.to, squares.data());
  }
  std::vector<std::int32_t> workers(rows.size(), 1);
  return {take(std::move(rows)), std::move(made.sums), std::move(made.units), take(std::move(squares)),
          take(std::move(workers))};
}

void check_rows(const RowArray& rows, std::int64_t most) {
  if (rows.ndim() != 1) throw py::value_error("rows must be a vector");
  const auto view = as_span(rows);
  for (std::size_t i = 0; i < view.size(); ++i)
    if (view[i] < 0 || view[i] >= most || (i > 0 && view[i] <= view[i - 1]))
      throw py::value_error("rows must ascend, and be those of the matrix");
}

constexpr std::int32_t kMostWorkers = 1'000'000;  // whose sums fit, too

struct DimView {
  muse::ChangesView view;
  py::ssize_t dim;
};

DimView view_of(const ChangesTuple& changes, std::int64_t most) {
  const auto& [rows, sums, units, squares, workers] = changes;
  check_rows(rows, most);
  if (units.size() != rows.size() || squares.size() != rows.size() || workers.size() != rows.size())
    throw py::value_error("changes must have a unit, a square and a count of workers for each of the rows");
  for (const std::int32_t count : as_span(workers))
    if (count < 1 || count > kMostWorkers) throw py::value_error("workers must be from 1 to a million");
  DimView out{{as_span(rows), {}, as_span(squares), as_span(workers)}, 0};
  muse::Numbers& numbers = out.view.sums;
  std::visit(
      [&](const auto& array) {
        if (array.ndim() != 2 || array.shape(0) != rows.size())
          throw py::value_error("changes must be one row of numbers for each of the rows");
        out.dim = array.shape(1);
      },
      sums);
  // Nothing writes to what is read here (changes.h).
  if (const auto* shorts = std::get_if<ShortArray>(&sums))
    numbers.shorts = const_cast<std::int16_t*>(shorts->data());
  else
    numbers.floats = const_cast<float*>(std::get<WeightArray>(sums).data());
  numbers.units = const_cast<float*>(units.data());
  return out;
}

muse::Rule rule_of(const std::string& name) {
  const std::map<std::string, muse::Rule> rules{{"agreement", muse::Rule::kAgreement},
                                                {"adasum", muse::Rule::kAdasum},
                                                {"sum", muse::Rule::kSum},
                                                {"changed", muse::Rule::kChanged},
                                                {"average", muse::Rule::kAverage}};
  const auto found = rules.find(name);
  if (found == rules.end()) throw py::value_error("rule must be agreement, adasum, sum, changed or average");
  return found->second;
}

// Changes of one group of workers or of two, as those of one.
muse::Merged merged(const ChangesTuple& one, const std::optional<ChangesTuple>& other, const std::string& rule,
                    std::int64_t most = std::numeric_limits<std::int32_t>::max()) {
  const DimView first = view_of(one, most);
  const DimView second = other ? view_of(*other, most) : DimView{{}, first.dim};
  if (first.dim != second.dim) throw py::value_error("changes must have rows of the same length");
  const muse::Rule by = rule_of(rule);
  const ReleaseGil release;
  return {first.view, second.view, static_cast<int>(first.dim), by};
}

ChangesTuple merge_changes(const ChangesTuple& one, const ChangesTuple& other, const std::string& rule) {
  const muse::Merged found = merged(one, other, rule);
  const bool shorter = std::holds_alternative<ShortArray>(std::get<1>(one));
  NewNumbers made(found.rows().size(), found.dim(), shorter);
  {
    const ReleaseGil release;
    found.sums(made.to);
  }
  return {take(std::vector(found.rows())), std::move(made.sums), std::move(made.units),
          take(std::vector(found.squares())), take(std::vector(found.workers()))};
}

void apply_changes(const FloatArray& base, const py::list& works, const ChangesTuple& one,
                   const std::optional<ChangesTuple>& other, int parts, const std::string& rule) {
  const muse::Matrix matrix = as_matrix(base, "base", true);
  std::vector<muse::Matrix> followers;
  for (const py::handle work : works) {  // a copy of another type would be moved in its place
    if (!py::isinstance<FloatArray>(work)) throw py::type_error("works must be float32 matrices");
    followers.push_back(pair_of(work.cast<FloatArray>(), base, true).first);
  }
  const muse::Merged found = merged(one, other, rule, matrix.rows);
  if (found.dim() != matrix.dim) throw py::value_error("changes must be as long as the rows of the matrix");
  if (parts < 1) throw py::value_error("parts must be at least 1");
  const ReleaseGil release;
  found.add_to(matrix, followers, parts);
}

// One number for each of both.
WeightArray agreement(const py::array_t<double, py::array::c_style>& cosines, const RowArray& workers) {
  const auto of_pairs = as_span(cosines);
  const auto counts = as_span(workers);
  if (of_pairs.size() != counts.size()) throw py::value_error("there must be as many cosines as counts of workers");
  std::vector<float> factors(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) factors[i] = muse::agreement(of_pairs[i], counts[i]);
  return take(std::move(factors));
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
  m.def(
      "take_changes", &take_changes, py::arg("work").noconvert(), py::arg("base").noconvert(), py::arg("shorter"),
      py::arg("room") = py::none(),
      "Which rows of `work` are not those of `base`, and how they differ, as changes: rows, int32 (n,); differences,\n"
      "(n, D), int16 if `shorter`, or float32; the units of the former, float32 (n,); squared lengths, float32 (n,);\n"
      "and ones, int32 (n,), for one worker. The rows of `work` are those of `base` again. The differences lie in "
      "`room`, a\n"
      "vector of such numbers, where there is enough.");
  m.def("merge_changes", &merge_changes, py::arg("one"), py::arg("other"), py::arg("rule"),
        "Changes of two groups of workers as those of one, sums or what Adasum makes of them.");
  m.def(
      "apply_changes", &apply_changes, py::arg("base").noconvert(), py::arg("works"), py::arg("one"), py::arg("other"),
      py::arg("parts"), py::arg("rule"),
      "Move the rows of `base` by the changes of two groups of workers, or of one and None, in all of so many parts;\n"
      "the same rows of each of `works` are those of `base` then.");
  m.def(
      "agreement", &agreement, py::arg("cosines"), py::arg("workers"),
      "Of each mean cosine, float64 (n,), and number of workers, int32 (n,): the factor of the sum of their changes,\n"
      "float32 (n,).");
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
