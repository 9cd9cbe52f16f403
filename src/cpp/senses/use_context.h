// The context of a use of a word (extension; docs/algorithm.md), which sense trees are made of and chosen by: two
// blocks, each of unit length, joined as [topic, order_weight * order] and of unit length together.
//
//   topic  Σ_j weight_j distance(|j - t|) P[w_j] over a wide window; P is centred and whitened, which the length undoes
//   order  (h_t - mean) · transform, with the encoder's h_t (train/context_encoder.h); the transform whitens
//
// Windows end with the sentence, and the word itself takes no part. A block that nothing stands in is zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "math/kernels.h"
#include "model/model.h"
#include "model/options.h"
#include "senses/window_sums.h"
#include "text/corpus.h"

namespace muse {

// What contexts are made with; the memory belongs to somebody else. Without `words` there is no order.
struct UseSpace {
  Matrix topic;                    // P (V, Dt)
  SelectionOptions topic_options;  // its window, and the weights of distances, that of the word itself 0
  std::span<const float> weights;  // (V,) of words in the topic, or empty
  Matrix words;                    // (V, De) the encoder's, each with its weight
  Matrix positions;                // (2 W + 1, De) the encoder's A, that of position 0 zeros
  Matrix transform;                // (De, Do)
  std::span<const float> mean;     // (De,)
  float order_weight = 0.75f;

  bool has_order() const { return !words.empty(); }
  int order_window() const { return static_cast<int>(positions.rows) / 2; }
  int dim() const { return topic.dim + (has_order() ? transform.dim : 0); }  // S
};

// Contexts of some uses at a time; one thread's work and memory.
class UseContexts {
 public:
  // `space` must stay where it is.
  explicit UseContexts(const UseSpace& space);

  int dim() const { return space_.dim(); }
  int stride() const { return stride_; }  // of rows of contexts: dim, padded

  void clear();
  // Adds uses of the words at places `at`, which rise, of a sentence, and asks the memory for what they need. A use
  // should be computed together with few tens of others: what they need must fit into the second cache.
  void add(std::span<const std::int32_t> sentence, std::span<const std::int64_t> at);
  // Adds a use of no place in the sentence: all of its words weigh as much as neighbours, and there is no order.
  void add_whole(std::span<const std::int32_t> sentence);
  int size() const { return static_cast<int>(windows_.size()); }

  // The contexts of the uses, rows of `stride` floats, zeros behind the dimension. scales[i] times the first block of a
  // row is the mean of the rows of words in its window.
  void compute(float* out, float* scales = nullptr);
  // Sums of other rows, or means, over other windows around the same uses: rows of padded `matrix.dim` floats.
  void compute_means(const Matrix& matrix, const SelectionOptions& options, float* out);
  // What the encoder makes of the uses, (n, De).
  void compute_encoded(float* out);

 private:
  // Columns of the transform, and its rows from the first on that is not zero in them: half of a triangle's are.
  struct Columns {
    int first, count, first_row;
    std::vector<float> values, shift;  // (De - first_row, count); the mean, transformed
  };

  void pack_transform();
  void add_words(std::span<const std::int32_t> words);
  void transform();
  void sum(WindowSums& sums, const SelectionOptions& options, const std::vector<const float*>& rows, int dim,
           float* out);
  void encode();
  void join(float* out, float* scales) const;
  bool has_neighbours(int use) const;

  const UseSpace& space_;
  const Kernels& kernels_;
  int stride_, topic_stride_, order_dim_ = 0, encoder_dim_ = 0;
  WindowSums sums_;
  std::vector<Columns> columns_;
  std::vector<float> positions_, zeros_;  // A; a row
  std::vector<std::int32_t> words_;       // of the sentences' parts that windows reach
  std::vector<const float*> rows_, order_rows_, other_rows_;
  std::vector<float> weights_, topic_, totals_, encoded_;
  std::vector<float> order_;  // block by block of columns, those of all uses
  std::vector<Window> windows_, cut_;
  std::vector<int> starts_;  // of a use's window in order_rows_
  std::vector<bool> placed_;
};

// The sentence of a place: its tokens, and where it begins in the corpus.
struct FoundSentence {
  std::span<const std::int32_t> tokens;
  std::int64_t begin;
};
FoundSentence find_sentence(const Corpus& corpus, std::int64_t place);

// Calls found(first, contexts) for the uses at `places` of a corpus, some at a time: `contexts` holds them.
template <typename Found>
void for_uses(UseContexts& contexts, const Corpus& corpus, std::span<const std::int64_t> places, const Found& found) {
  constexpr std::size_t kAtOnce = 24;
  for (std::size_t first = 0; first < places.size(); first += kAtOnce) {
    contexts.clear();
    for (const std::int64_t place : places.subspan(first, std::min(kAtOnce, places.size() - first))) {
      const FoundSentence sentence = find_sentence(corpus, place);
      const std::int64_t within = place - sentence.begin;
      contexts.add(sentence.tokens, {&within, 1});
    }
    found(first, contexts);
  }
}

}  // namespace muse
