// The whole of the CUDA backend, without a CUDA type: what src/cuda/bindings.cpp sees.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "senses/search.h"
#include "senses/tagger.h"
#include "train/train.h"

namespace muse::cuda {

// A model, or what training needs beside it, does not fit into the device's memory.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What keeps the backend from working: "driver" or "device" is missing; empty: nothing.
std::string missing();

// Name, memory and number of processors of the device in use, for people to read.
std::string describe_device();

// The trainer (train.h) on the device, with the same random decisions. `workers` is the number of batches that are
// trained at once.
class CudaTrainer {
 public:
  CudaTrainer(const Model& model, Corpus corpus, std::vector<std::int64_t> word_counts, const Options& options,
              double sample, double ns_exponent, std::vector<float> context_weights);

  std::int64_t num_batches() const { return plan_.num_batches(); }
  float alpha_at(int epoch, std::int64_t batch) const { return plan_.alpha_at(epoch, batch); }

  // As Trainer::run: copies the model to the device, runs, and copies it back. A tick() that asks to stop ends
  // the run with the slices of the corpus that are under way.
  RunStats run(int epoch, std::int64_t first, std::int64_t last, int workers,
               const std::function<Tick(std::int64_t)>& tick);

  // About how many tokens of the corpus are on the device at once, twice.
  std::int64_t slice_tokens = std::int64_t{1} << 20;
  // Whether U and V are bfloat16 on the device, rounded at random, and take half the memory.
  bool bfloat16 = false;

 private:
  Trainer plan_;
};

// Selects the senses of running text with P and Q on the device, where they are copied once. Safe to use from several
// threads at once, which take turns.
class CudaSelector : public DeviceSelector {
 public:
  // `chunk` tokens are copied while as many others are worked on.
  explicit CudaSelector(const SelectorParts& parts, std::int64_t chunk = std::int64_t{1} << 16);
  ~CudaSelector() override;
  void select(const Contexts& contexts, const Choices& choices) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Finds the rows of a matrix that score highest against a query (search.h), on the device, where the matrix and the
// factors on its rows' scores (null: all one) are copied once. Safe to use from several threads, which take turns.
class CudaSearch {
 public:
  // `panel` scores are held at once.
  CudaSearch(const Matrix& matrix, const float* scale, std::int64_t panel = std::int64_t{1} << 25);
  ~CudaSearch();

  // As muse::top_k over the first `rows` rows. options.top is at most most_hits(); options.scale is not read.
  void top_k(const Matrix& queries, std::int64_t rows, const SearchOptions& options, std::int64_t* found,
             float* scores) const;
  std::int64_t rows() const;
  int dim() const;
  std::int64_t most_hits() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muse::cuda
