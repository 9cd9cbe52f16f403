// Words and their counts, by order of first occurrence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace muse {

/// Keeps the bytes of many words in few allocations.
class Arena {
 public:
  const char* copy(std::string_view text);
  void clear();

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

/// One word of a WordTable.
struct WordEntry {
  const char* data;
  std::int64_t count;
  std::uint32_t length;
  std::uint32_t hash;
  std::int32_t id;  // never given to another word, not even after this one is pruned

  std::string_view word() const { return {data, length}; }
};

/// A hash map from words to entries that stay in order of first occurrence; open addressing with linear probing.
class WordTable {
 public:
  WordTable();

  static std::uint32_t hash(std::string_view word);

  /// Position of the word in entries(), or -1.
  std::int32_t find(std::string_view word, std::uint32_t hash) const;
  /// The same, after adding the word with count 0 if it is new.
  std::int32_t find_or_add(std::string_view word, std::uint32_t hash);

  std::size_t size() const { return entries_.size(); }
  const std::vector<WordEntry>& entries() const { return entries_; }
  WordEntry& operator[](std::int32_t position) { return entries_[static_cast<std::size_t>(position)]; }
  /// One more than the largest id ever given.
  std::int32_t next_id() const { return next_id_; }

  /// Removes the words for which `keep` is false. The others keep their ids and their order; their positions change.
  void prune(const std::function<bool(const WordEntry&)>& keep);

  void clear();

 private:
  struct Slot {
    std::uint32_t hash;
    std::int32_t position;  // in entries_, -1 when empty
  };

  /// The slot of the word, or the empty slot where it belongs.
  std::size_t probe(std::string_view word, std::uint32_t hash) const;
  void rebuild_slots(std::size_t n_slots);

  std::vector<Slot> slots_;  // a power of two
  std::vector<WordEntry> entries_;
  Arena arena_;
  std::int32_t next_id_ = 0;
};

}  // namespace muse
