#include "senses/tagger.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "math/parallel.h"
#include "text/text.h"

namespace muse {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

/// Some lines of a text: one thread's work.
struct Piece {
  std::string_view text;
  std::vector<std::int32_t> ids;      // of its known words
  std::vector<std::size_t> ends;      // where each of them ends in `text`
  std::vector<std::int64_t> lengths;  // known words of each line
  std::int64_t tokens = 0;
  std::int64_t tagged = 0;
  std::size_t first = 0;  // number of its first known word in all of the text
  std::string out;
};

std::vector<Piece> cut(std::string_view text) {
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const std::size_t newline = text.size() > kPieceBytes ? text.find('\n', kPieceBytes) : std::string_view::npos;
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    pieces.emplace_back().text = text.substr(0, size);
    text.remove_prefix(size);
  }
  return pieces;
}

void look_up(const Tagger& tagger, Piece& piece) {
  std::size_t begun = 0;
  const auto end_line = [&] {
    piece.lengths.push_back(static_cast<std::int64_t>(piece.ids.size() - begun));
    begun = piece.ids.size();
  };
  split_words(
      piece.text,
      [&](std::string_view word) {
        ++piece.tokens;
        const std::int32_t id = tagger.id(word);
        if (id < 0) return;
        piece.ids.push_back(id);
        piece.ends.push_back(static_cast<std::size_t>(word.data() + word.size() - piece.text.data()));
      },
      end_line);
  end_line();
}

void write(Piece& piece, std::string_view mark, float min_margin, const std::int32_t* sense, const float* margin) {
  piece.out.reserve(piece.text.size() + piece.ids.size() * (mark.size() + 1));
  std::size_t done = 0;
  char digits[16];
  for (std::size_t i = 0; i < piece.ends.size(); ++i) {
    if (margin[piece.first + i] < min_margin) continue;
    piece.out.append(piece.text, done, piece.ends[i] - done);
    done = piece.ends[i];
    piece.out.append(mark);
    piece.out.append(digits, std::to_chars(digits, digits + sizeof digits, sense[piece.first + i]).ptr);
    ++piece.tagged;
  }
  piece.out.append(piece.text, done);
}

template <typename Work>
void for_each_piece(std::vector<Piece>& pieces, int workers, const Work& work) {
  parallel_chunks(static_cast<std::int64_t>(pieces.size()), 1, workers, [&] {
    return [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) work(pieces[static_cast<std::size_t>(i)]);
    };
  });
}

}  // namespace

Tagger::Tagger(const SelectorParts& parts, const DeviceSelector* device)
    : Tagger([parts, device](const Contexts& contexts, int workers, const Choices& choices) {
        if (device != nullptr) return device->select(contexts, choices);
        select_senses(parts.model, parts.options, parts.weights, contexts, parts.temperature, workers, choices);
      }) {}

Tagger::Tagger(const UseSelector& selector)
    : Tagger([selector](const Contexts& contexts, int workers, const Choices& choices) {
        select_uses(selector, contexts, workers, choices);
      }) {}

void Tagger::add_word(std::string_view word) {
  const std::size_t before = table_.size();
  table_.find_or_add(word, WordTable::hash(word));
  if (table_.size() == before) throw std::invalid_argument("a word stands twice");
}

// What stands for it is no UTF-8.
void Tagger::add_no_word() { add_word("\xff" + std::to_string(num_words())); }

void Tagger::read(std::string_view sentence, std::vector<std::int32_t>& ids) const {
  split_words(
      sentence, [&](std::string_view word) { ids.push_back(id(word)); }, [] {});
}

TokenSenses Tagger::select_tokens(std::span<const std::int32_t> ids, std::span<const std::int64_t> offsets,
                                  int workers) const {
  std::vector<std::int32_t> known;
  std::vector<std::int64_t> known_offsets{0};
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    std::copy_if(ids.begin() + offsets[i - 1], ids.begin() + offsets[i], std::back_inserter(known),
                 [](std::int32_t id) { return id >= 0; });
    known_offsets.push_back(static_cast<std::int64_t>(known.size()));
  }
  std::vector<std::int32_t> sense(known.size());
  std::vector<float> probability(known.size()), margin(known.size());
  select_({known, known_offsets}, workers, {sense.data(), probability.data(), margin.data()});
  TokenSenses all{std::vector<std::int32_t>(ids.size(), -1), std::vector<float>(ids.size()),
                  std::vector<float>(ids.size())};
  for (std::size_t i = 0, next = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) continue;
    all.sense[i] = sense[next];
    all.probability[i] = probability[next];
    all.margin[i] = margin[next++];
  }
  return all;
}

TaggedText Tagger::tag(std::string_view text, std::string_view mark, float min_margin, int workers,
                       const std::string& source, std::int64_t line) const {
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos)
    throw InvalidText(source, line + count_newlines(text.substr(0, bad)), static_cast<unsigned char>(text[bad]));
  std::vector<Piece> pieces = cut(text);
  for_each_piece(pieces, workers, [this](Piece& piece) { look_up(*this, piece); });

  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> offsets{0};
  for (Piece& piece : pieces) {
    piece.first = ids.size();
    ids.insert(ids.end(), piece.ids.begin(), piece.ids.end());
    for (const std::int64_t length : piece.lengths) offsets.push_back(offsets.back() + length);
  }
  std::vector<std::int32_t> sense(ids.size());
  std::vector<float> margin(ids.size());
  select_({ids, offsets}, workers, {sense.data(), nullptr, margin.data()});

  for_each_piece(pieces, workers, [&](Piece& piece) { write(piece, mark, min_margin, sense.data(), margin.data()); });
  TaggedText result;
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.out.size();
  result.text.reserve(size);
  for (const Piece& piece : pieces) {
    result.text += piece.out;
    result.tokens += piece.tokens;
    result.tagged += piece.tagged;
  }
  return result;
}

}  // namespace muse
