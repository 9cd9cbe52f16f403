// muse._core.Selector: probabilities of senses in contexts that are asked about.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arrays.h"
#include "selector.h"
#include "senses/answers.h"
#include "space.h"

namespace muse::bindings {

namespace {

using Tokens = std::vector<std::int32_t>;
using Places = std::vector<std::int64_t>;

// Words of contexts, beyond which other threads of Python may run meanwhile. To let go of the GIL and to take it again
// from a thread that has it costs more than a few contexts.
constexpr std::size_t kManyTokens = 4096;

// A selector and what it reads, which stay alive and must not change. Its questions come as lists, which for one short
// context are read faster than arrays.
class PySelector {
 public:
  PySelector(const FloatArray& context, const FloatArray& selection, const IndexArray& sense_offset,
             const WeightArray& weights, const SelectionOptions& options, float temperature, const WeightArray& prior)
      : owners_(py::make_tuple(context, selection, sense_offset, weights, prior)),
        answers_(selector_parts(context, selection, sense_offset, weights, options, temperature, prior)) {}

  // By contexts of uses in `space`, which is one of the core's.
  PySelector(const py::object& space, const FloatArray& selection, const IndexArray& sense_offset,
             const WeightArray& bias, float temperature, const WeightArray& prior)
      : owners_(py::make_tuple(space, selection, sense_offset, bias, prior)),
        answers_(space.cast<const Space&>().selector(selection, sense_offset, bias, temperature, prior)) {}

  py::array_t<float> scores(const Tokens& tokens, const Places& offsets, const Places& positions, const Tokens& words,
                            int workers) const {
    return answer({{tokens, offsets}, positions, words}, workers, &Answers::score);
  }

  py::array_t<float> probabilities(const Tokens& tokens, const Places& offsets, const Places& positions,
                                   const Tokens& words, int workers) const {
    return answer({{tokens, offsets}, positions, words}, workers, &Answers::weigh);
  }

 private:
  py::array_t<float> answer(const Questions& asked, int workers,
                            void (Answers::*find)(const Questions&, int, float*) const) const {
    py::array_t<float> found(static_cast<py::ssize_t>(answers_.count(asked)));
    float* data = found.mutable_data();
    std::optional<ReleaseGil> release;
    if (asked.contexts.tokens.size() + asked.words.size() > kManyTokens) release.emplace();
    (answers_.*find)(asked, workers, data);
    return found;
  }

  py::tuple owners_;
  Answers answers_;
};

std::vector<bool> has_context(const Places& offsets, const Places& positions) {
  if (offsets.size() != positions.size() + 1) throw py::value_error("positions and offsets do not fit together");
  const Questions asked{{{}, offsets}, positions, {}};
  std::vector<bool> found;
  for (std::size_t i = 0; i < positions.size(); ++i) found.push_back(!asked.alone(i));
  return found;
}

}  // namespace
}  // namespace muse::bindings

void register_answers(pybind11::module_& m) {
  using namespace muse::bindings;
  const auto asked = [](auto&& define) {
    define(py::arg("tokens"), py::arg("offsets"), py::arg("positions"), py::arg("words"), py::arg("workers") = 1);
  };
  py::class_<PySelector> selector(m, "Selector", "What selects senses by the contexts of words that are asked about.");
  selector
      .def(py::init<const FloatArray&, const FloatArray&, const IndexArray&, const WeightArray&,
                    const muse::SelectionOptions&, float, const WeightArray&>(),
           py::arg("context_vectors"), py::arg("selection_vectors"), py::arg("sense_offset"),
           py::arg("context_weights"), py::arg("options"), py::arg("temperature") = 1.0f,
           py::arg("prior") = WeightArray(0))
      .def_static(
          "by_uses",
          [](const py::object& space, const FloatArray& selection, const IndexArray& sense_offset,
             const WeightArray& bias, float temperature, const WeightArray& prior) {
            return std::make_unique<PySelector>(space, selection, sense_offset, bias, temperature, prior);
          },
          py::arg("space"), py::arg("selection_vectors"), py::arg("sense_offset"), py::arg("bias"),
          py::arg("temperature") = 1.0f, py::arg("prior") = WeightArray(0),
          "One that selects senses by the contexts of uses.");
  asked([&](auto... arguments) {
    selector
        .def("scores", &PySelector::scores, arguments...,
             "Scores of each word's senses in its context, one word after another; position -1: not in the context.")
        .def("probabilities", &PySelector::probabilities, arguments...,
             "The softmax of these scores; the prior, if there is one, where nothing known stands around a word.");
  });
  m.def("has_context", &has_context, py::arg("offsets"), py::arg("positions"),
        "Whether something known stands around each word; position -1: it is not in its context.");
}
