// muse._core: sense scores and sense selection with a trained model.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "selector.h"
#include "senses/selection.h"
#include "senses/tagger.h"
#include "text/text.h"

namespace muse::bindings {

namespace {

py::array_t<float> py_sense_scores(const FloatArray& context, const FloatArray& selection,
                                   const IndexArray& sense_offset, const WeightArray& weights,
                                   const SelectionOptions& options, const TokenArray& tokens, const IndexArray& offsets,
                                   const IndexArray& positions, const TokenArray& words) {
  const Model model = selector(context, selection, sense_offset, weights, options);
  check_tokens(tokens, offsets, model.num_words);
  if (positions.size() != words.size() || offsets.size() != words.size() + 1)
    throw py::value_error("positions, words and offsets do not fit together");
  std::int64_t total = 0;
  for (py::ssize_t i = 0; i < words.size(); ++i) {
    const std::int64_t length = offsets.at(i + 1) - offsets.at(i);
    if (words.at(i) < 0 || words.at(i) >= model.num_words || positions.at(i) < -1 || positions.at(i) >= length)
      throw py::value_error("a word or position lies outside its context");
    total += model.senses_of(words.at(i));
  }
  std::vector<float> scores(static_cast<std::size_t>(total));
  {
    const ReleaseGil release;
    sense_scores(model, options, as_span(weights), {as_span(tokens), as_span(offsets)}, as_span(positions),
                 as_span(words), scores.data());
  }
  return take(std::move(scores));
}

py::tuple py_select_senses(const FloatArray& context, const FloatArray& selection, const IndexArray& sense_offset,
                           const WeightArray& weights, const SelectionOptions& options, const TokenArray& tokens,
                           const IndexArray& offsets, float temperature, int workers) {
  const SelectorParts parts = selector_parts(context, selection, sense_offset, weights, options, temperature);
  check_tokens(tokens, offsets, parts.model.num_words);
  std::vector<std::int32_t> sense(static_cast<std::size_t>(tokens.size()));
  std::vector<float> probability(sense.size());
  {
    const ReleaseGil release;
    select_senses(parts.model, options, parts.weights, {as_span(tokens), as_span(offsets)}, temperature, workers,
                  {sense.data(), probability.data(), nullptr});
  }
  return py::make_tuple(take(std::move(sense)), take(std::move(probability)));
}

// A Tagger and what it reads and asks, which stay alive and must not change.
class TextTagger {
 public:
  TextTagger(const py::sequence& words, const FloatArray& context, const FloatArray& selection,
             const IndexArray& sense_offset, const WeightArray& weights, const SelectionOptions& options,
             float temperature, const py::object& device)
      : owners_(py::make_tuple(context, selection, sense_offset, weights, device)),
        tagger_(selector_parts(context, selection, sense_offset, weights, options, temperature),
                device.is_none() ? nullptr : device.cast<const DeviceSelector*>()) {
    if (static_cast<std::int64_t>(words.size()) != context.shape(0))
      throw py::value_error("there must be a word for each row");
    for (const py::object word : words) add_word(word);  // held: a sequence may make its items as they are asked for
  }

  py::tuple select(const py::list& sentences, int workers) const {
    std::vector<std::int32_t> ids, known;
    std::vector<std::int64_t> ends{0}, offsets{0};
    for (const py::handle item : sentences) {
      const auto sentence = py::reinterpret_borrow<py::object>(item);  // held: reading it may run code of the user's
      add_sentence(sentence, ids);
      for (auto i = static_cast<std::size_t>(ends.back()); i < ids.size(); ++i)
        if (ids[i] >= 0) known.push_back(ids[i]);
      ends.push_back(static_cast<std::int64_t>(ids.size()));
      offsets.push_back(static_cast<std::int64_t>(known.size()));
    }
    std::vector<std::int32_t> sense(known.size());
    std::vector<float> probability(known.size()), margin(known.size());
    std::vector<float> all_probability(ids.size()), all_margin(ids.size());
    {
      const ReleaseGil release;
      tagger_.select({known, offsets}, workers, {sense.data(), probability.data(), margin.data()});
      for (std::size_t i = 0, next = 0; i < ids.size(); ++i) {
        if (ids[i] < 0) continue;
        ids[i] = sense[next];
        all_probability[i] = probability[next];
        all_margin[i] = margin[next++];
      }
    }
    return py::make_tuple(take(std::move(ids)), take(std::move(all_probability)), take(std::move(all_margin)),
                          take(std::move(ends)));
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
  void add_word(py::handle word) {
    if (!PyUnicode_Check(word.ptr())) throw py::type_error("words must be strings");
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(word.ptr(), &size);
    std::string text;
    if (data != nullptr) {
      text.assign(data, static_cast<std::size_t>(size));
    } else {  // a lone surrogate: no text holds it, but it has a number; what stands for it is no UTF-8
      PyErr_Clear();
      text = "\xff" + std::to_string(num_words_);
    }
    tagger_.add_word(text);
    if (tagger_.id(text) != num_words_++) throw py::value_error("a word stands twice");
  }

  // Numbers of the tokens of a string: those that files.lines.split_words gives in Python.
  void add_text(py::handle text, std::vector<std::int32_t>& ids) const {
    const auto bytes =
        py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
    if (!bytes) throw py::error_already_set();
    split_words(
        static_cast<std::string_view>(bytes), [&](std::string_view word) { ids.push_back(tagger_.id(word)); }, [] {});
  }

  // Numbers of the tokens of a string, or of a list of strings.
  void add_sentence(py::handle sentence, std::vector<std::int32_t>& ids) const {
    if (PyUnicode_Check(sentence.ptr())) {
      add_text(sentence, ids);
      return;
    }
    PyObject* listed = PySequence_Fast(sentence.ptr(), "not iterable");
    if (listed == nullptr) {
      if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
      PyErr_Clear();
      throw py::type_error("a context must be a string or a list of tokens; got " + std::string(py::repr(sentence)));
    }
    add_tokens(listed, ids);
  }

  // Takes `listed`, a list or tuple.
  void add_tokens(PyObject* listed, std::vector<std::int32_t>& ids) const {
    if (listed == nullptr) throw py::error_already_set();
    const auto tokens = py::reinterpret_steal<py::object>(listed);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(listed); ++i) {
      PyObject* token = PySequence_Fast_GET_ITEM(listed, i);
      if (!PyUnicode_Check(token))
        throw py::type_error("a context must be a string or a list of tokens; it holds " +
                             std::string(py::repr(token)));
      Py_ssize_t size = 0;
      const char* data = PyUnicode_AsUTF8AndSize(token, &size);
      if (data == nullptr) PyErr_Clear();  // a lone surrogate: no word of any text
      ids.push_back(data == nullptr ? -1 : tagger_.id({data, static_cast<std::size_t>(size)}));
    }
  }

  py::tuple owners_;
  Tagger tagger_;
  std::int32_t num_words_ = 0;
};

}  // namespace
}  // namespace muse::bindings

void register_selection(pybind11::module_& m) {
  using namespace muse::bindings;
  py::class_<muse::SelectionOptions>(m, "SelectionOptions", "How a context becomes sense scores.")
      .def(py::init<>())
      .def_readwrite("window", &muse::SelectionOptions::window)
      .def_readwrite("mean", &muse::SelectionOptions::mean)
      .def_readwrite("cross_sentences", &muse::SelectionOptions::cross_sentences)
      .def_readwrite("full_text", &muse::SelectionOptions::full_text)
      .def_readwrite("distance", &muse::SelectionOptions::distance);
  m.def("sense_scores", &py_sense_scores, py::arg("context_vectors"), py::arg("selection_vectors"),
        py::arg("sense_offset"), py::arg("context_weights"), py::arg("options"), py::arg("tokens"), py::arg("offsets"),
        py::arg("positions"), py::arg("words"),
        "Scores of each word's senses in its context, one word after another; position -1: not in the context.");
  m.def("select_senses", &py_select_senses, py::arg("context_vectors"), py::arg("selection_vectors"),
        py::arg("sense_offset"), py::arg("context_weights"), py::arg("options"), py::arg("tokens"), py::arg("offsets"),
        py::arg("temperature") = 1.0f, py::arg("workers") = 1,
        "The best sense (local number) of every token, and its probability.");
  py::class_<muse::DeviceSelector>(m, "DeviceSelector", "What selects senses for a Tagger, in place of the core.");
  py::class_<TextTagger>(m, "Tagger", "Senses of running text.")
      .def(py::init<const py::sequence&, const FloatArray&, const FloatArray&, const IndexArray&, const WeightArray&,
                    const muse::SelectionOptions&, float, const py::object&>(),
           py::arg("words"), py::arg("context_vectors"), py::arg("selection_vectors"), py::arg("sense_offset"),
           py::arg("context_weights"), py::arg("options"), py::arg("temperature") = 1.0f,
           py::arg("device") = py::none())
      .def(
          "select", &TextTagger::select, py::arg("sentences"), py::arg("workers") = 1,
          "Sense, probability and margin of each token of all sentences, and where each sentence begins; -1, 0, 0 for\n"
          "unknown words.")
      .def("tag", &TextTagger::tag, py::arg("text"), py::arg("mark") = "#", py::arg("min_margin") = 0.0f,
           py::arg("workers") = 1, py::arg("source") = "text", py::arg("line") = 1,
           "The text with senses behind its known words, how many tokens it has, and how many have a sense.");
}
