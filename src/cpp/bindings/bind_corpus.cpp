// muse._core.Encoder and muse._core.Corpus.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "gil.h"
#include "text/corpus.h"
#include "text/corpus_encoder.h"
#include "text/file.h"
#include "text/postings.h"
#include "text/text.h"

namespace py = pybind11;

namespace muse {
namespace {

std::string type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

/// A list or tuple as it is, any other iterable as a new list.
py::object as_sequence(PyObject* iterable) {
  PyObject* sequence = PySequence_Fast(iterable, "an iterable is needed");
  if (sequence == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(sequence);
}

/// A CorpusEncoder with the sentence number that messages need.
class SentenceEncoder {
 public:
  explicit SentenceEncoder(CorpusEncoderOptions options) : encoder(std::move(options)) {}

  /// Takes one sentence at a time, so that a generator may reuse its list. Returns how many there were.
  std::int64_t add_sentences(const py::iterable& sentences) {
    const std::int64_t before = number_;
    for (const py::handle sentence : sentences) {
      ++number_;
      add_sentence(sentence.ptr());
    }
    return number_ - before;
  }

  CorpusEncoder encoder;

 private:
  void add_sentence(PyObject* sentence) {
    if (PyUnicode_Check(sentence) || PyBytes_Check(sentence)) {
      throw py::type_error(name() + " is a string; pass a list of tokens, e.g. text.split()");
    }
    if (Py_TYPE(sentence)->tp_iter == nullptr && PySequence_Check(sentence) == 0) {
      throw py::type_error(name() + " is of type " + type_name(sentence) + "; pass a list of tokens");
    }
    const py::object tokens = as_sequence(sentence);
    words_.clear();
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(tokens.ptr()); ++i) {
      words_.push_back(utf8(PySequence_Fast_GET_ITEM(tokens.ptr(), i), i + 1));
    }
    encoder.add_sentence(words_);
  }

  std::string_view utf8(PyObject* token, Py_ssize_t position) const {
    const auto where = [&] { return "token " + std::to_string(position) + " of " + name(); };
    if (!PyUnicode_Check(token)) {
      throw py::type_error(where() + " is of type " + type_name(token) + "; tokens must be strings");
    }
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(token, &size);
    if (data != nullptr) return {data, static_cast<std::size_t>(size)};
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    throw py::value_error(where() + " holds a lone surrogate, which is not text; " +
                          "decode the input with the right encoding, or with errors=\"replace\"");
  }

  std::string name() const { return "sentence " + std::to_string(number_); }

  std::int64_t number_ = 0;
  std::vector<std::string_view> words_;
};

std::unique_ptr<SentenceEncoder> make_encoder(std::optional<std::vector<std::string>> vocab,
                                              std::int64_t max_vocab_size, std::int64_t max_ram,
                                              const std::filesystem::path& spill_dir, KeepRule keep_rule) {
  CorpusEncoderOptions options;
  options.vocabulary = std::move(vocab);
  options.max_vocab_size = max_vocab_size;
  options.max_ram = max_ram;
  options.spill_directory = spill_dir.string();
  options.keep_rule = std::move(keep_rule);
  return std::make_unique<SentenceEncoder>(std::move(options));
}

void add_text(SentenceEncoder& self, const py::bytes& chunk, const std::string& source) {
  const std::string_view text = chunk;
  const bindings::ReleaseGil release;
  self.encoder.add_text(text, source);
}

bool add_file(SentenceEncoder& self, const std::filesystem::path& path, int workers, const py::object& progress) {
  const auto report = [&progress](std::int64_t bytes) {
    const bindings::AcquireGil acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();  // Ctrl-C
    return progress.is_none() || !progress(bytes).is(py::bool_(false));
  };
  const bindings::ReleaseGil release;
  return self.encoder.add_file(path.string(), workers, report);
}

std::pair<py::list, py::array_t<std::int64_t>> vocabulary(SentenceEncoder& self) {
  const std::vector<WordEntry>& entries = self.encoder.words();
  py::list words(entries.size());
  py::array_t<std::int64_t> counts(static_cast<py::ssize_t>(entries.size()));
  auto counts_view = counts.mutable_unchecked<1>();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    words[i] = py::str(entries[i].data, entries[i].length);
    counts_view(static_cast<py::ssize_t>(i)) = entries[i].count;
  }
  return {std::move(words), std::move(counts)};
}

using Mapping32 = py::array_t<std::int32_t, py::array::c_style>;

Corpus finish(SentenceEncoder& self, const Mapping32& mapping) {
  const std::span<const std::int32_t> view(mapping.data(), static_cast<std::size_t>(mapping.size()));
  const bindings::ReleaseGil release;
  return self.encoder.finish(view);
}

template <class T>
std::vector<T> integers(const py::array& array, const std::string& name) {
  if (array.ndim() != 1 || (array.dtype().kind() != 'i' && array.dtype().kind() != 'u')) {
    throw py::type_error(name + " must be a one-dimensional array of integers");
  }
  const py::array_t<std::int64_t, py::array::c_style | py::array::forcecast> values(array);
  std::vector<T> result;
  result.reserve(static_cast<std::size_t>(values.size()));
  for (py::ssize_t i = 0; i < values.size(); ++i) {
    if (values.at(i) > std::numeric_limits<T>::max() || values.at(i) < 0) {
      throw py::value_error(name + "[" + std::to_string(i) + "] = " + std::to_string(values.at(i)) +
                            " is out of range");
    }
    result.push_back(static_cast<T>(values.at(i)));
  }
  return result;
}

/// A read-only array over the memory of `corpus`, which it keeps alive.
template <class T>
py::array view(std::span<const T> values, const py::object& corpus) {
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()), values.data(), corpus);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

template <class Place>
void add_postings_to(const bindings::TokenArray& tokens, std::int64_t base, std::int32_t first,
                     bindings::IndexArray& filled, const bindings::IndexArray& ends, const py::array& places) {
  auto target = places.cast<py::array_t<Place>>();  // of this type already, so no copy
  const std::span<std::int64_t> done(filled.mutable_data(), static_cast<std::size_t>(filled.size()));
  const std::span<Place> out(target.mutable_data(), static_cast<std::size_t>(target.size()));
  const bindings::ReleaseGil release;
  add_postings<Place>(bindings::as_span(tokens), base, first, done, bindings::as_span(ends), out);
}

void py_add_postings(const bindings::TokenArray& tokens, std::int64_t base, std::int32_t first,
                     bindings::IndexArray& filled, const bindings::IndexArray& ends, const py::array& places) {
  if (places.ndim() != 1 || (places.flags() & py::array::c_style) == 0 || !places.writeable() || !filled.writeable())
    throw py::value_error("places and filled must be arrays that can be written");
  if (places.dtype().is(py::dtype::of<std::int32_t>()))
    add_postings_to<std::int32_t>(tokens, base, first, filled, ends, places);
  else if (places.dtype().is(py::dtype::of<std::int64_t>()))
    add_postings_to<std::int64_t>(tokens, base, first, filled, ends, places);
  else
    throw py::type_error("places must be int32 or int64");
}

void register_encoder(py::module_& m) {
  py::class_<SentenceEncoder>(m, "Encoder", "One pass over text: counts the words and encodes them at the same time.")
      .def(py::init(&make_encoder), py::arg("vocab") = py::none(), py::arg("max_vocab_size") = 0,
           py::arg("max_ram") = 0, py::arg("spill_dir") = "", py::arg("keep_rule") = py::none())
      .def("add_sentences", &SentenceEncoder::add_sentences, py::arg("sentences"),
           "Add sentences, each an iterable of strings; returns how many there were.")
      .def("add_text", &add_text, py::arg("chunk"), py::arg("source") = "text",
           "Add the next piece of a UTF-8 text, one sentence a line; it may be cut anywhere.")
      .def(
          "end_text", [](SentenceEncoder& self) { self.encoder.end_text(); },
          "End the text that add_text began; the last line needs no newline.")
      .def("add_file", &add_file, py::arg("path"), py::arg("workers") = 1, py::arg("progress") = py::none(),
           "Add a UTF-8 file, one sentence a line. `progress(bytes_read)` is called about ten times a second;\n"
           "if it returns False the scan stops, and so does this function, with False.")
      .def("vocabulary", &vocabulary, "Words by first occurrence, and their counts.")
      .def("finish", &finish, py::arg("mapping"),
           "Make the corpus: word i of vocabulary() becomes mapping[i], or is dropped where that is negative.")
      .def_property_readonly("raw_tokens", [](const SentenceEncoder& self) { return self.encoder.raw_tokens(); })
      .def_property_readonly("raw_sentences", [](const SentenceEncoder& self) { return self.encoder.raw_sentences(); });
}

}  // namespace

}  // namespace muse

void register_corpus(py::module_& m) {
  using namespace muse;
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const FileError& e) {
      const auto path = py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(e.path().c_str()));
      const std::string message = e.problem() + ": " + e.code().message();
      py::set_error(PyExc_OSError, py::make_tuple(e.code().value(), message, path));
    } catch (const InvalidText& e) {  // which names a file, whose name may be no UTF-8 either
      const std::string_view text(e.what());
      const auto message = py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
      py::set_error(PyExc_ValueError, message);
    }
  });

  register_encoder(m);
  m.def("add_postings", &py_add_postings, py::arg("tokens"), py::arg("base"), py::arg("first"),
        py::arg("filled").noconvert(), py::arg("ends"), py::arg("places").noconvert(),
        "Add the places of the words first, first + 1, ... in a piece of a corpus, which begins at token `base`, to\n"
        "their lists in `places`: list i is filled up to filled[i], which moves on, and ends at ends[i].");

  py::class_<Corpus>(m, "Corpus", "A text as word ids: sentence i is tokens[offsets[i]:offsets[i + 1]].")
      .def_static(
          "from_arrays",
          [](const py::array& tokens, const py::array& offsets) {
            return Corpus(integers<std::int32_t>(tokens, "tokens"), integers<std::int64_t>(offsets, "offsets"));
          },
          py::arg("tokens"), py::arg("offsets"), "A corpus of the given ids, which are copied.")
      .def_property_readonly("n_tokens", &Corpus::n_tokens)
      .def_property_readonly("n_sentences", &Corpus::n_sentences)
      .def_property_readonly("raw_tokens", &Corpus::raw_tokens, "Tokens before any word was dropped.")
      .def_property_readonly("raw_sentences", &Corpus::raw_sentences, "Sentences before any word was dropped.")
      .def_property_readonly("spilled", &Corpus::spilled, "Whether the ids are in a temporary file.")
      .def_property_readonly(
          "tokens", [](const py::object& self) { return view(self.cast<const Corpus&>().tokens(), self); },
          "Word ids, int32, (n_tokens,), read-only.")
      .def_property_readonly(
          "offsets", [](const py::object& self) { return view(self.cast<const Corpus&>().offsets(), self); },
          "Where each sentence begins, int64, (n_sentences + 1,), read-only.")
      .def("__repr__", [](const Corpus& self) {
        return "<Corpus: " + std::to_string(self.n_tokens()) + " tokens in " + std::to_string(self.n_sentences()) +
               " sentences>";
      });
}
