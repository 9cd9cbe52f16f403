// The trainer end to end on tiny text. tests/test_step.py checks its arithmetic against the numpy reference; here every
// option runs under the sanitizers, on buffers of exactly the size that it may touch.
#include "train/train.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

constexpr int kWords = 40;
constexpr int kSelectionDim = 20;  // not a multiple of the padding
constexpr int kDim = 24;

// Rows of one matrix, padded as training needs them; the padding is zero.
class Rows {
 public:
  Rows(std::int64_t rows, int dim, unsigned seed) : rows_(rows), dim_(dim), stride_(muse::padded(dim)) {
    const auto size = static_cast<std::size_t>(rows * stride_);
    data_.reset(static_cast<float*>(std::aligned_alloc(64, size * sizeof(float))));
    std::fill_n(data_.get(), size, 0.0f);
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-0.3f, 0.3f);
    for (std::int64_t i = 0; i < rows; ++i)
      for (int j = 0; j < dim; ++j) data_[static_cast<std::size_t>(i * stride_ + j)] = uniform(generator);
  }

  muse::Matrix view() const { return {data_.get(), rows_, dim_, stride_}; }
  std::vector<float> values() const { return {data_.get(), data_.get() + rows_ * stride_}; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::int64_t rows_;
  int dim_;
  std::int64_t stride_;
  std::unique_ptr<float[], Free> data_;
};

std::vector<std::int64_t> sense_offsets() {  // one, two and three senses in turn
  std::vector<std::int64_t> offsets{0};
  for (int word = 0; word < kWords; ++word) offsets.push_back(offsets.back() + 1 + word % 3);
  return offsets;
}

struct TinyModel {
  explicit TinyModel(bool word_collocation = false)
      : offsets(sense_offsets()),
        context(kWords, kSelectionDim, 1),
        selection(offsets.back(), kSelectionDim, 2),
        sense(offsets.back(), kDim, 3),
        collocation(word_collocation ? kWords : offsets.back(), kDim, 4),
        forward(kWords, kSelectionDim, 5),
        backward(kWords, kSelectionDim, 6) {}

  muse::Model view(const muse::Options& options) const {
    muse::Model model{context.view(), selection.view(), sense.view(), collocation.view(), {}, {}, offsets.data(),
                      kWords};
    if (options.formulation == muse::Formulation::kFactorized) {
      model.forward = forward.view();
      model.backward = backward.view();
    }
    return model;
  }

  std::vector<std::vector<float>> values() const {
    return {context.values(), selection.values(), sense.values(), collocation.values()};
  }

  std::vector<std::int64_t> offsets;
  Rows context, selection, sense, collocation, forward, backward;
};

muse::Corpus tiny_corpus() {
  std::mt19937 generator(7);
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets{0};
  for (int sentence = 0; sentence < 300; ++sentence) {
    const int length = sentence % 12;  // sentences of no, one and two tokens among them
    for (int i = 0; i < length; ++i) tokens.push_back(static_cast<std::int32_t>(generator() % kWords));
    offsets.push_back(static_cast<std::int64_t>(tokens.size()));
  }
  return {std::move(tokens), std::move(offsets)};
}

std::vector<std::int64_t> word_counts(const muse::Corpus& corpus) {
  std::vector<std::int64_t> counts(kWords, 0);
  for (const std::int32_t token : corpus.tokens()) ++counts[static_cast<std::size_t>(token)];
  return counts;
}

muse::Options small_options() {
  muse::Options options;
  options.negative = 3;
  options.batch_tokens = 64;
  options.selection_mean = false;
  options.epochs = 2;
  return options;
}

muse::RunStats train(const TinyModel& model, const muse::Options& options, int workers) {
  const muse::Corpus corpus = tiny_corpus();
  muse::Trainer trainer(model.view(options), corpus, word_counts(corpus), options, 0.05, 0.75, {});
  muse::RunStats stats;
  for (int epoch = 0; epoch < options.epochs; ++epoch)
    stats = trainer.run(epoch, 0, trainer.num_batches(), workers, [](std::int64_t) { return muse::Tick::kGoOn; });
  return stats;
}

void check_trained(const TinyModel& model, const muse::RunStats& stats) {
  CHECK(stats.tokens == tiny_corpus().n_tokens());
  CHECK_FALSE(stats.stopped);
  CHECK_FALSE(stats.diverged);
  CHECK(stats.step.finite());
  const TinyModel untouched;
  CHECK(model.sense.values() != untouched.sense.values());
  for (const auto& matrix : model.values())
    CHECK(std::all_of(matrix.begin(), matrix.end(), [](float x) { return std::isfinite(x); }));
  const auto used = std::accumulate(stats.sense_use.begin(), stats.sense_use.end(), std::int64_t{0});
  CHECK(used > 0);
  CHECK(used <= stats.tokens);
}

}  // namespace

TEST_CASE("every strategy, formulation, reward and collocate choice trains") {
  using namespace muse;
  for (const Strategy strategy :
       {Strategy::kGreedy, Strategy::kEpsGreedy, Strategy::kBoltzmann, Strategy::kPolicy, Strategy::kSmoothPolicy})
    for (const Formulation formulation : {Formulation::kOneSided, Formulation::kTwoSided, Formulation::kFactorized})
      for (const Reward reward : {Reward::kLikelihood, Reward::kSampledLikelihood})
        for (const Collocates collocates : {Collocates::kOne, Collocates::kAll}) {
          if (formulation == Formulation::kFactorized && is_policy(strategy)) continue;
          CAPTURE(static_cast<int>(strategy));
          CAPTURE(static_cast<int>(formulation));
          CAPTURE(static_cast<int>(reward));
          CAPTURE(static_cast<int>(collocates));
          Options options = small_options();
          options.strategy = strategy;
          options.formulation = formulation;
          options.reward = reward;
          options.collocates = collocates;
          const TinyModel model;
          check_trained(model, train(model, options, 1));
        }
}

TEST_CASE("extensions train, alone and with word-level collocation vectors") {
  using namespace muse;
  for (const bool word_collocation : {false, true})
    for (const bool full_text : {false, true})
      for (const int group_size : {1, 7, 16})
        for (const SelectionUpdate update :
             {SelectionUpdate::kPaper, SelectionUpdate::kPosterior, SelectionUpdate::kNone}) {
          CAPTURE(word_collocation);
          CAPTURE(full_text);
          CAPTURE(group_size);
          CAPTURE(static_cast<int>(update));
          Options options = small_options();
          options.collocates = Collocates::kAll;
          options.group_size = group_size;
          options.selection_update = update;
          options.selection.mean = full_text;
          options.selection.full_text = full_text;
          options.selection.window = 9;
          options.shrink_selection = false;
          options.sibling_share = 0.5f;
          options.max_norm = 2.0f;
          options.train_context_vectors = !full_text;
          const TinyModel model(word_collocation);
          check_trained(model, train(model, options, 1));
        }
}

TEST_CASE("no negatives, a window of one, and a batch of one token") {
  muse::Options options = small_options();
  options.negative = 0;
  options.window = options.selection.window = 1;
  options.batch_tokens = 1;
  const TinyModel model;
  check_trained(model, train(model, options, 1));
}

TEST_CASE("one worker gives the same bytes each time, and another seed gives others") {
  muse::Options options = small_options();
  const TinyModel first, second, third;
  train(first, options, 1);
  train(second, options, 1);
  CHECK(first.values() == second.values());
  options.seed = 2;
  train(third, options, 1);
  CHECK(first.values() != third.values());
}

TEST_CASE("an epoch in two parts ends with the bytes of an unbroken one") {
  const muse::Options options = small_options();
  const muse::Corpus corpus = tiny_corpus();
  const auto run_on = [](std::int64_t) { return muse::Tick::kGoOn; };
  const TinyModel whole, parts;
  muse::Trainer unbroken(whole.view(options), corpus, word_counts(corpus), options, 0.05, 0.75, {});
  const muse::RunStats all = unbroken.run(0, 0, unbroken.num_batches(), 1, run_on);
  muse::Trainer broken(parts.view(options), corpus, word_counts(corpus), options, 0.05, 0.75, {});
  const muse::RunStats head = broken.run(0, 0, 5, 1, run_on);
  CHECK(head.next_batch == 5);
  const muse::RunStats tail = broken.run(0, 5, broken.num_batches(), 1, run_on);
  CHECK(whole.values() == parts.values());
  CHECK(head.tokens + tail.tokens == all.tokens);
  CHECK(head.step.reward + tail.step.reward == all.step.reward);
}

TEST_CASE("several workers train all tokens and leave the padding alone") {
  // Ways to reach the shared rows, for the thread sanitizer: alone and in groups, P and Q plain, capped, factorised.
  muse::Options plain = small_options(), grouped = plain, factorized = plain;
  plain.collocates = grouped.collocates = muse::Collocates::kAll;
  grouped.group_size = 16;
  grouped.selection_update = muse::SelectionUpdate::kPosterior;
  grouped.sibling_share = 0.3f;
  factorized.formulation = muse::Formulation::kFactorized;
  for (muse::Options* capped : {&grouped, &factorized}) capped->max_norm = 0.5f;
  for (muse::Options* options : {&plain, &grouped, &factorized}) {
    options->epochs = 4;
    const TinyModel model;
    check_trained(model, train(model, *options, 4));
    const muse::Matrix sense = model.sense.view();
    for (std::int64_t i = 0; i < sense.rows; ++i)
      for (std::int64_t j = sense.dim; j < sense.stride; ++j) CHECK(sense.row(i)[j] == 0.0f);
  }
}

TEST_CASE("a tick that says stop, or throws, ends the run") {
  muse::Options options = small_options();
  options.negative = 25;
  options.collocates = muse::Collocates::kAll;
  std::vector<std::int32_t> tokens(300'000);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * i % kWords);
  const auto end = static_cast<std::int64_t>(tokens.size());
  const muse::Corpus corpus({std::move(tokens)},
                            {0, end});  // long enough for ticks, which come every tenth of a second
  const TinyModel model;
  muse::Trainer trainer(model.view(options), corpus, word_counts(corpus), options, 0.0, 0.75, {});
  const muse::RunStats stats =
      trainer.run(0, 0, trainer.num_batches(), 2, [](std::int64_t) { return muse::Tick::kFinishBatches; });
  CHECK(stats.stopped);
  CHECK(stats.next_batch < trainer.num_batches());
  CHECK(stats.tokens < end);
  const auto fail = [](std::int64_t) -> muse::Tick { throw std::domain_error("from the tick"); };
  CHECK_THROWS_AS(trainer.run(0, 0, trainer.num_batches(), 2, fail), std::domain_error);
}

TEST_CASE("a batch that takes too long is cut short when the caller cannot wait") {
  muse::Options options = small_options();
  options.collocates = muse::Collocates::kAll;
  options.batch_tokens = 1 << 18;  // one batch, of seconds
  options.window = 50;
  std::vector<std::int32_t> tokens(1 << 18);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * i % kWords);
  const auto end = static_cast<std::int64_t>(tokens.size());
  const muse::Corpus corpus({std::move(tokens)}, {0, end});
  const TinyModel model;
  muse::Trainer trainer(model.view(options), corpus, word_counts(corpus), options, 0.0, 0.75, {});
  REQUIRE(trainer.num_batches() == 1);
  const std::clock_t start = std::clock();  // of the processor: how busy the machine is does not count
  const muse::RunStats stats = trainer.run(0, 0, 1, 1, [](std::int64_t) { return muse::Tick::kStopNow; });
  CHECK((std::clock() - start) / CLOCKS_PER_SEC < 30);  // 1 s, but for sanitizers
  CHECK(stats.stopped);
  CHECK(stats.step.cut);
  CHECK(stats.step.targets < end);
  CHECK(stats.next_batch == 1);
}

TEST_CASE("what does not fit is refused") {
  const muse::Options options = small_options();
  const muse::Corpus corpus = tiny_corpus();
  const TinyModel model;
  const auto make = [&](muse::Model view, std::vector<std::int64_t> counts, muse::Options changed) {
    muse::Trainer(view, corpus, std::move(counts), changed, 0.05, 0.75, {});
  };
  CHECK_THROWS_AS(make(model.view(options), std::vector<std::int64_t>(3, 1), options), std::invalid_argument);
  muse::Model unpadded = model.view(options);
  unpadded.sense.stride = kDim;
  CHECK_THROWS_AS(make(unpadded, word_counts(corpus), options), std::invalid_argument);
  muse::Options wrong = options;
  wrong.formulation = muse::Formulation::kFactorized;
  wrong.strategy = muse::Strategy::kPolicy;
  CHECK_THROWS_AS(make(model.view(wrong), word_counts(corpus), wrong), std::invalid_argument);
}
