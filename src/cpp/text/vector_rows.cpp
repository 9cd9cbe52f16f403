#include "text/vector_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <version>

#include "math/parallel.h"

namespace muse {
namespace {

constexpr std::size_t kLongestKey = std::size_t{1} << 20;  // bytes of a key in a binary file
constexpr std::size_t kShown = 40;                         // bytes of a file that an error quotes
constexpr std::int64_t kLinesAtOnce = 64;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

std::string quoted(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, kShown)) shown += static_cast<unsigned char>(c) < 32 ? '?' : c;
  return shown + (text.size() > kShown ? "...'" : "'");
}

// A number that the fast way did not take: one beyond the range of float, or none.
bool read_rare_number(std::string_view token, float& value) {
  const bool plus = token.size() > 1 && token[0] == '+' && token[1] != '-' && token[1] != '+';
  const std::string copy(plus ? token.substr(1) : token);
  if (copy.find_first_of("xXpP") != std::string::npos) return false;  // strtod's hexadecimal numbers
  char* end = nullptr;
  value = static_cast<float>(std::strtod(copy.c_str(), &end));
  return !copy.empty() && end == copy.c_str() + copy.size();
}

// A decimal number, inf or nan. What is beyond the range of float becomes zero or infinite, as a cast would make it.
// The caller refuses what is not finite.
bool read_number(std::string_view token, float& value) {
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc{} && end == token.data() + token.size()) return true;
#endif
  return read_rare_number(token, value);
}

std::string_view next_token(std::string_view& rest) {
  std::size_t start = 0;
  while (start < rest.size() && is_blank(rest[start])) ++start;
  std::size_t end = start;
  while (end < rest.size() && !is_blank(rest[end])) ++end;
  const std::string_view token = rest.substr(start, end - start);
  rest.remove_prefix(end);
  return token;
}

struct Line {
  std::string_view text;
  std::int64_t number;
};

std::string_view read_line(const Line& line, bool keyed, float* row, int dim) {
  const auto place = [&] { return "line " + std::to_string(line.number) + ": "; };
  std::string_view rest = line.text, key;
  if (keyed) {
    key = rest.substr(0, rest.find_first_of(" \t"));
    rest.remove_prefix(key.size());
  }
  int count = 0;
  for (std::string_view token; !(token = next_token(rest)).empty(); ++count) {
    if (count >= dim) continue;
    if (!read_number(token, row[count])) throw RowError(place() + quoted(token) + " is not a number");
    if (!std::isfinite(row[count])) throw RowError(place() + quoted(token) + " is not a finite number of 32 bits");
  }
  if (count == dim) return key;
  throw RowError(place() + std::to_string(count) + " numbers" + (keyed ? " after the key " + quoted(key) : "") +
                 ", where " + std::to_string(dim) + " are expected");
}

RowsRead read_text(std::string_view text, const RowFormat& format, std::int64_t first, int workers, const Matrix& out,
                   std::vector<std::string_view>& keys) {
  std::vector<Line> lines;
  RowsRead read;
  while (static_cast<std::size_t>(read.bytes) < text.size() && static_cast<std::int64_t>(lines.size()) < out.rows) {
    const std::string_view rest = text.substr(static_cast<std::size_t>(read.bytes));
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos && !format.final) break;
    const std::string_view line = rest.substr(0, end);
    if (!std::all_of(line.begin(), line.end(), is_blank)) lines.push_back({line, first + read.lines});
    read.lines += end != std::string_view::npos;
    read.bytes += static_cast<std::int64_t>(std::min(line.size() + 1, rest.size()));
  }
  read.rows = static_cast<std::int64_t>(lines.size());
  const std::size_t before = keys.size();
  keys.resize(before + lines.size());
  parallel_chunks(read.rows, kLinesAtOnce, workers, [&] {
    return [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        keys[before + at] = read_line(lines[at], format.keyed, out.row(i), out.dim);
      }
    };
  });
  return read;
}

// Whether no little-endian float is NaN or infinite: not all bits of an exponent are set.
bool all_finite(const float* row, int dim) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(row);
  bool finite = true;
  for (int i = 0; i < dim; ++i) finite &= (bytes[4 * i + 3] & 0x7f) != 0x7f || (bytes[4 * i + 2] & 0x80) == 0;
  return finite;
}

RowsRead read_binary(std::string_view text, std::int64_t first, const Matrix& out,
                     std::vector<std::string_view>& keys) {
  const std::size_t size = static_cast<std::size_t>(out.dim) * sizeof(float);
  RowsRead read;
  for (; read.rows < out.rows; ++read.rows) {
    std::string_view rest = text.substr(static_cast<std::size_t>(read.bytes));
    if (!rest.empty() && rest[0] == '\n') rest.remove_prefix(1);  // word2vec ends a row so, gensim does not
    const std::size_t space = rest.substr(0, kLongestKey + 1).find(' ');
    if (space == std::string_view::npos && rest.size() > kLongestKey)
      throw RowError("row " + std::to_string(first + read.rows) + ": no space ends its key, " + quoted(rest));
    if (space == std::string_view::npos || rest.size() - space - 1 < size) break;
    std::memcpy(out.row(read.rows), rest.data() + space + 1, size);
    if (!all_finite(out.row(read.rows), out.dim))
      throw RowError("row " + std::to_string(first + read.rows) + ": the vector of " + quoted(rest.substr(0, space)) +
                     " holds NaN or infinity");
    keys.push_back(rest.substr(0, space));
    read.bytes = static_cast<std::int64_t>(rest.data() - text.data() + static_cast<std::ptrdiff_t>(space + 1 + size));
  }
  return read;
}

}  // namespace

RowsRead read_rows(std::string_view text, const RowFormat& format, std::int64_t first, int workers, const Matrix& out,
                   std::vector<std::string_view>& keys) {
  return format.binary ? read_binary(text, first, out, keys) : read_text(text, format, first, workers, out, keys);
}

void permute_rows(const Matrix& matrix, std::vector<std::int64_t> order) {
  if (static_cast<std::int64_t>(order.size()) != matrix.rows)
    throw std::invalid_argument("order must hold one row number for each row of the matrix");
  std::vector<char> seen(order.size());
  for (const std::int64_t row : order)
    if (row < 0 || row >= matrix.rows || seen[static_cast<std::size_t>(row)]++ != 0)
      throw std::invalid_argument("order must hold each row number once");
  const std::size_t size = static_cast<std::size_t>(matrix.dim) * sizeof(float);
  std::vector<float> kept(static_cast<std::size_t>(matrix.dim));
  for (std::int64_t start = 0; start < matrix.rows; ++start) {
    if (order[static_cast<std::size_t>(start)] == start) continue;
    std::memcpy(kept.data(), matrix.row(start), size);
    std::int64_t at = start;
    for (;;) {  // once around the cycle that starts here
      std::int64_t& entry = order[static_cast<std::size_t>(at)];
      const std::int64_t source = entry;
      entry = at;
      if (source == start) break;
      std::memcpy(matrix.row(at), matrix.row(source), size);
      at = source;
    }
    std::memcpy(matrix.row(at), kept.data(), size);
  }
}

}  // namespace muse
