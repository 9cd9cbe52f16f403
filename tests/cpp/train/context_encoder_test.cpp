#include "train/context_encoder.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr int kDim = 16, kWords = 30, kWindow = 3;

// A text in which word 2 i + 1 follows word 2 i, and an encoder that knows nothing of it.
struct Case {
  explicit Case(int tokens) {
    std::mt19937 generator(7);
    std::vector<std::int32_t> text;
    std::vector<std::int64_t> offsets{0};
    while (static_cast<int>(text.size()) < tokens) {
      const auto first = static_cast<std::int32_t>(2 * (generator() % (kWords / 2)));
      text.insert(text.end(), {first, first + 1});
      if (text.size() % 10 == 0) offsets.push_back(static_cast<std::int64_t>(text.size()));
    }
    if (offsets.back() != static_cast<std::int64_t>(text.size()))
      offsets.push_back(static_cast<std::int64_t>(text.size()));
    corpus = muse::Corpus(std::move(text), std::move(offsets));
    std::normal_distribution<float> normal(0.0f, 0.1f);
    for (auto* matrix : {&words, &outputs}) {
      matrix->resize(kWords * kDim);
      for (float& x : *matrix) x = normal(generator);
    }
    positions.assign((2 * kWindow + 1) * kDim, 0.3f);
    std::fill_n(positions.begin() + kWindow * kDim, kDim, 0.0f);
    options.window = kWindow;
    options.block_tokens = 32;
    options.alpha = 0.1f;
  }

  muse::EncoderStats train(
      int workers, const std::function<void(std::int64_t)>& poll = [](std::int64_t) {}) {
    const auto matrix = [](std::vector<float>& data, int rows) { return muse::Matrix{data.data(), rows, kDim, kDim}; };
    return muse::train_encoder({matrix(words, kWords), matrix(outputs, kWords), matrix(positions, 2 * kWindow + 1)},
                               corpus, {}, std::vector<float>(kWords, 1.0f), std::vector<std::int64_t>(kWords, 1),
                               options, workers, poll);
  }

  muse::Corpus corpus;
  std::vector<float> words, outputs, positions;
  muse::EncoderOptions options;
};

}  // namespace

TEST_CASE("context encoder: learns with one thread and with many, and one repeats itself") {
  Case one(4000), again(4000), many(4000);
  const muse::EncoderStats first = one.train(1), repeated = again.train(1), threads = many.train(4);
  CHECK(first.targets == 4000);
  CHECK(threads.targets == 4000);
  CHECK(one.words == again.words);
  CHECK(one.positions == again.positions);
  CHECK(first.loss == repeated.loss);
  const double before = first.loss / static_cast<double>(first.loss_targets);
  double after = before;
  for (int epoch = 0; epoch < 4; ++epoch) {
    const muse::EncoderStats stats = many.train(4);
    after = stats.loss / static_cast<double>(stats.loss_targets);
  }
  CHECK(after < 0.8 * before);
  for (int d = 0; d < kDim; ++d) CHECK(many.positions[at(kWindow * kDim + d)] == 0.0f);
}

TEST_CASE("context encoder: an empty text, and an exception of the caller's") {
  Case none(0);
  CHECK(none.train(2).targets == 0);
  Case text(4000);
  CHECK_THROWS_AS(text.train(1, [](std::int64_t) { throw std::runtime_error("stop"); }), std::runtime_error);
}
