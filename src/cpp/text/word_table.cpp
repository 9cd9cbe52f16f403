#include "text/word_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace muse {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

template <class T>
std::uint64_t load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t bytes) {
  h = (h ^ bytes) * kMultiplier;
  return h ^ (h >> 32);
}

}  // namespace

const char* Arena::copy(std::string_view text) {
  if (text.size() > left_) {
    const std::size_t size = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = blocks_.back().get();
    left_ = size;
  }
  char* const to = next_;
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  next_ += text.size();
  left_ -= text.size();
  return to;
}

void Arena::clear() {
  blocks_.clear();
  next_ = nullptr;
  left_ = 0;
}

WordTable::WordTable() : slots_(kFirstSlots, Slot{0, -1}) {}

std::uint32_t WordTable::hash(std::string_view word) {
  const char* p = word.data();
  const std::size_t size = word.size();
  std::uint64_t h = size * kMultiplier;
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8) h = mix(h, load<std::uint64_t>(p + i));
    h = mix(h, load<std::uint64_t>(p + size - 8));  // the last eight bytes overlap those before: no short tail
  } else if (size >= 4) {
    h = mix(h, load<std::uint32_t>(p) | load<std::uint32_t>(p + size - 4) << 32);
  } else if (size > 0) {
    h = mix(h, load<std::uint8_t>(p) | load<std::uint8_t>(p + size / 2) << 8 | load<std::uint8_t>(p + size - 1) << 16);
  }
  h *= kMultiplier;
  return static_cast<std::uint32_t>(h >> 32);
}

std::size_t WordTable::probe(std::string_view word, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  for (; slots_[i].position >= 0; i = (i + 1) & mask) {
    if (slots_[i].hash != hash) continue;
    if (entries_[static_cast<std::size_t>(slots_[i].position)].word() == word) break;
  }
  return i;
}

std::int32_t WordTable::find(std::string_view word, std::uint32_t hash) const {
  return slots_[probe(word, hash)].position;
}

std::int32_t WordTable::find_or_add(std::string_view word, std::uint32_t hash) {
  std::size_t slot = probe(word, hash);
  if (slots_[slot].position >= 0) return slots_[slot].position;
  if (word.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("a word of " + std::to_string(word.size()) + " bytes: is this file text?");
  }
  if (next_id_ == std::numeric_limits<std::int32_t>::max()) {
    throw std::length_error("more than 2,147,483,647 distinct words: set max_vocab_size");
  }
  if ((entries_.size() + 1) * 4 > slots_.size() * 3) {
    rebuild_slots(slots_.size() * 2);
    slot = probe(word, hash);
  }
  const auto position = static_cast<std::int32_t>(entries_.size());
  entries_.push_back({arena_.copy(word), 0, static_cast<std::uint32_t>(word.size()), hash, next_id_});
  slots_[slot] = {hash, position};
  ++next_id_;
  return position;
}

void WordTable::rebuild_slots(std::size_t n_slots) {
  slots_.assign(n_slots, Slot{0, -1});
  const std::size_t mask = n_slots - 1;
  for (std::size_t position = 0; position < entries_.size(); ++position) {
    const std::uint32_t hash = entries_[position].hash;
    std::size_t i = hash & mask;
    while (slots_[i].position >= 0) i = (i + 1) & mask;
    slots_[i] = {hash, static_cast<std::int32_t>(position)};
  }
}

void WordTable::prune(const std::function<bool(const WordEntry&)>& keep) {
  Arena arena;
  std::vector<WordEntry> kept;
  for (WordEntry entry : entries_) {
    if (!keep(entry)) continue;
    entry.data = arena.copy(entry.word());
    kept.push_back(entry);
  }
  if (kept.size() == entries_.size()) return;
  entries_ = std::move(kept);
  arena_ = std::move(arena);
  rebuild_slots(slots_.size());
}

void WordTable::clear() {
  entries_.clear();
  arena_.clear();
  slots_.assign(slots_.size(), Slot{0, -1});
  next_id_ = 0;
}

}  // namespace muse
