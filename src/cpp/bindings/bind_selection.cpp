// muse._core: sense scores and sense selection with a trained model.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "selector.h"
#include "senses/selection.h"
#include "senses/tagger.h"
#include "space.h"

namespace muse::bindings {

namespace {

py::tuple py_select_senses(const FloatArray& context, const FloatArray& selection, const IndexArray& sense_offset,
                           const WeightArray& weights, const SelectionOptions& options, const TokenArray& tokens,
                           const IndexArray& offsets, float temperature, int workers, const WeightArray& prior) {
  const SelectorParts parts = selector_parts(context, selection, sense_offset, weights, options, temperature, prior);
  const Contexts contexts = as_contexts(tokens, offsets, parts.model.num_words);
  std::vector<std::int32_t> sense(static_cast<std::size_t>(tokens.size()));
  std::vector<float> probability(sense.size());
  {
    const ReleaseGil release;
    select_senses(parts, contexts, workers, {sense.data(), probability.data(), nullptr});
  }
  return py::make_tuple(take(std::move(sense)), take(std::move(probability)));
}

// The UTF-8 of a string, which lives as long as that does; nothing where it has a lone surrogate, which no text holds.
std::optional<std::string_view> utf8(PyObject* string) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(string, &size);
  if (data != nullptr) return std::string_view(data, static_cast<std::size_t>(size));
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  return std::nullopt;
}

// A Tagger and what it reads and asks, which stay alive and must not change.
class PyTagger {
 public:
  PyTagger(const py::sequence& words, const FloatArray& context, const FloatArray& selection,
           const IndexArray& sense_offset, const WeightArray& weights, const SelectionOptions& options,
           float temperature, const py::object& device, const WeightArray& prior)
      : owners_(py::make_tuple(context, selection, sense_offset, weights, device, prior)),
        tagger_(selector_parts(context, selection, sense_offset, weights, options, temperature, prior),
                device.is_none() ? nullptr : device.cast<const DeviceSelector*>()) {
    add_words(words, context.shape(0));
  }

  // Senses are selected in `space`, which is one of the core's.
  PyTagger(const py::sequence& words, const py::object& space, const FloatArray& selection,
           const IndexArray& sense_offset, const WeightArray& bias, float temperature, const WeightArray& prior)
      : owners_(py::make_tuple(space, selection, sense_offset, bias, prior)),
        tagger_(space.cast<const Space&>().selector(selection, sense_offset, bias, temperature, prior)) {
    add_words(words, sense_offset.size() - 1);
  }

  py::tuple select(const py::list& sentences, int workers) const {
    std::vector<std::int32_t> ids;
    std::vector<std::int64_t> offsets{0};
    for (const py::handle item : sentences) {
      const auto sentence = py::reinterpret_borrow<py::object>(item);  // held: reading it may run code of the user's
      PyUnicode_Check(sentence.ptr()) ? add_text(sentence, ids) : add_tokens(sentence, ids);
      offsets.push_back(static_cast<std::int64_t>(ids.size()));
    }
    TokenSenses found;
    {
      const ReleaseGil release;
      found = tagger_.select_tokens(ids, offsets, workers);
    }
    return py::make_tuple(take(std::move(found.sense)), take(std::move(found.probability)),
                          take(std::move(found.margin)), take(std::move(offsets)));
  }

  py::tuple tag(const py::bytes& text, const std::string& mark, float min_margin, int workers,
                const std::string& source, std::int64_t line) const {
    const std::string_view view = text;
    TaggedText tagged;
    {
      const ReleaseGil release;
      tagged = tagger_.tag(view, mark, min_margin, workers, source, line);
    }
    return py::make_tuple(py::bytes(tagged.text), tagged.tokens, tagged.tagged);
  }

 private:
  void add_words(const py::sequence& words, py::ssize_t rows) {
    if (static_cast<py::ssize_t>(words.size()) != rows) throw py::value_error("there must be a word for each row");
    for (const py::object word : words) {  // held: a sequence may make its items as they are asked for
      if (!PyUnicode_Check(word.ptr())) throw py::type_error("words must be strings");
      if (const auto text = utf8(word.ptr()))
        tagger_.add_word(*text);
      else
        tagger_.add_no_word();
    }
  }

  // The tokens of a string, the same as muse.selector.context.as_tokens gives.
  void add_text(const py::object& text, std::vector<std::int32_t>& ids) const {
    const auto bytes =
        py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
    if (!bytes) throw py::error_already_set();
    tagger_.read(static_cast<std::string_view>(bytes), ids);
  }

  // A list of strings.
  void add_tokens(const py::object& sentence, std::vector<std::int32_t>& ids) const {
    const auto tokens = py::reinterpret_steal<py::object>(PySequence_Fast(sentence.ptr(), "not iterable"));
    if (!tokens) {
      if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
      PyErr_Clear();
      throw py::type_error("a context must be a string or a list of tokens; got " + std::string(py::repr(sentence)));
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(tokens.ptr()); ++i) {
      PyObject* token = PySequence_Fast_GET_ITEM(tokens.ptr(), i);
      if (!PyUnicode_Check(token))
        throw py::type_error("a context must be a string or a list of tokens; it holds " +
                             std::string(py::repr(token)));
      const auto word = utf8(token);
      ids.push_back(word ? tagger_.id(*word) : -1);
    }
  }

  py::tuple owners_;
  Tagger tagger_;
};

}  // namespace
}  // namespace muse::bindings

void register_selection(pybind11::module_& m) {
  using namespace muse::bindings;
  py::class_<muse::SelectionOptions>(m, "SelectionOptions", "How a context becomes sense scores.")
      .def(py::init<>())
      .def_readwrite("window", &muse::SelectionOptions::window)
      .def_readwrite("mean", &muse::SelectionOptions::mean)
      .def_readwrite("full_text", &muse::SelectionOptions::full_text)
      .def_readwrite("distance", &muse::SelectionOptions::distance);
  m.def("select_senses", &py_select_senses, py::arg("context_vectors"), py::arg("selection_vectors"),
        py::arg("sense_offset"), py::arg("context_weights"), py::arg("options"), py::arg("tokens"), py::arg("offsets"),
        py::arg("temperature") = 1.0f, py::arg("workers") = 1, py::arg("prior") = WeightArray(0),
        "The best sense (local number) of every token, and its probability.");
  py::class_<muse::DeviceSelector>(m, "DeviceSelector", "What selects senses for a Tagger, in place of the core.");
  py::class_<PyTagger>(m, "Tagger", "Senses of running text.")
      .def(py::init<const py::sequence&, const FloatArray&, const FloatArray&, const IndexArray&, const WeightArray&,
                    const muse::SelectionOptions&, float, const py::object&, const WeightArray&>(),
           py::arg("words"), py::arg("context_vectors"), py::arg("selection_vectors"), py::arg("sense_offset"),
           py::arg("context_weights"), py::arg("options"), py::arg("temperature") = 1.0f,
           py::arg("device") = py::none(), py::arg("prior") = WeightArray(0))
      .def_static(
          "by_uses",
          [](const py::sequence& words, const py::object& space, const FloatArray& selection,
             const IndexArray& sense_offset, const WeightArray& bias, float temperature, const WeightArray& prior) {
            return std::make_unique<PyTagger>(words, space, selection, sense_offset, bias, temperature, prior);
          },
          py::arg("words"), py::arg("space"), py::arg("selection_vectors"), py::arg("sense_offset"), py::arg("bias"),
          py::arg("temperature"), py::arg("prior") = WeightArray(0), "One that selects senses by the contexts of uses.")
      .def(
          "select", &PyTagger::select, py::arg("sentences"), py::arg("workers") = 1,
          "Sense, probability and margin of each token of all sentences, and where each sentence begins; -1, 0, 0 for\n"
          "unknown words.")
      .def("tag", &PyTagger::tag, py::arg("text"), py::arg("mark") = "#", py::arg("min_margin") = 0.0f,
           py::arg("workers") = 1, py::arg("source") = "text", py::arg("line") = 1,
           "The text with senses behind its known words, how many tokens it has, and how many have a sense.");
}
