// One step by hand, and what must hold after any step; tests/test_step.py compares every option with numpy.
#include "train/step.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "train/train.h"

namespace {

using muse::Collocates;
using muse::Formulation;
using muse::Options;
using muse::Reward;
using muse::SelectionUpdate;
using muse::Strategy;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// A matrix that owns its rows, padded and aligned as training needs them.
struct Rows {
  struct alignas(64) Line {
    float x[muse::kRowPad] = {};
    bool operator==(const Line&) const = default;
  };
  std::vector<Line> data;
  muse::Matrix view;

  Rows(std::int64_t rows, int dim, unsigned seed) : data(at(rows * muse::padded(dim) / muse::kRowPad)) {
    view = {data.front().x, rows, dim, muse::padded(dim)};
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0f, 0.4f);
    for (std::int64_t r = 0; r < rows; ++r)
      for (int d = 0; d < dim; ++d) view.row(r)[d] = normal(generator);
  }
  Rows(const Rows&) = delete;

  bool padding_is_zero() const {
    for (std::int64_t r = 0; r < view.rows; ++r)
      for (std::int64_t d = view.dim; d < view.stride; ++d)
        if (view.row(r)[d] != 0.0f) return false;
    return true;
  }
};

// Six words with 1, 2, 3, 1, 2, 3 senses, and a text of them.
struct Toy {
  static constexpr int kDim = 10, kSelection = 5;
  std::vector<std::int64_t> offset = {0, 1, 3, 6, 7, 9, 12};
  Rows p{6, kSelection, 1}, q{12, kSelection, 2}, u{12, kDim, 3}, v{12, kDim, 4}, word_v{6, kDim, 5};
  Rows forward{6, kSelection, 6}, backward{6, kSelection, 7};
  muse::Corpus corpus;
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(6, 0);

  Toy() {
    std::mt19937 generator(8);
    std::vector<std::int32_t> tokens;
    std::vector<std::int64_t> offsets = {0};
    for (const int length : {1, 6, 2, 60, 3, 9, 1, 20}) {
      for (int i = 0; i < length; ++i) tokens.push_back(static_cast<std::int32_t>(generator() % 6));
      offsets.push_back(static_cast<std::int64_t>(tokens.size()));
    }
    for (const std::int32_t t : tokens) ++counts[at(t)];
    corpus = {tokens, offsets};
  }

  muse::Model model(bool words_collocate = false) const {
    muse::Model m;
    m.context = p.view;
    m.selection = q.view;
    m.sense = u.view;
    m.collocation = words_collocate ? word_v.view : v.view;
    m.forward = forward.view;
    m.backward = backward.view;
    m.sense_offset = offset.data();
    m.num_words = 6;
    return m;
  }

  muse::RunStats train(const Options& options, bool words_collocate = false, std::vector<float> weights = {}) const {
    muse::Trainer trainer(model(words_collocate), corpus, counts, options, 0.3, 0.75, std::move(weights));
    return trainer.run(0, 0, trainer.num_batches(), 1, [](std::int64_t) { return muse::Tick::kGoOn; });
  }
};

Options small_options() {
  Options options;
  options.window = 3;
  options.selection.window = 3;
  options.negative = 3;
  options.batch_tokens = 20;
  options.selection_alpha = 0.5f;
  return options;
}

bool finite(const Rows& rows) {
  for (const Rows::Line& line : rows.data)
    for (const float x : line.x)
      if (!std::isfinite(x)) return false;
  return true;
}

}  // namespace

TEST_CASE("step: two words, one sense each, no negatives, by hand") {
  Rows p(2, 3, 1), q(2, 3, 2), u(2, 3, 3), v(2, 3, 4);
  const std::vector<std::int64_t> offset = {0, 1, 2};
  muse::Model model;
  model.context = p.view;
  model.selection = q.view;
  model.sense = u.view;
  model.collocation = v.view;
  model.sense_offset = offset.data();
  model.num_words = 2;
  Options options;
  options.negative = 0;
  options.alpha = options.min_alpha = 0.5f;

  // U_0 learns from V_1, then U_1 from V_0; each pair moves both by alpha * (1 - sigmoid(u·v)).
  double u0[3], u1[3], v0[3], v1[3];
  for (int d = 0; d < 3; ++d)
    u0[d] = u.view.row(0)[d], u1[d] = u.view.row(1)[d], v0[d] = v.view.row(0)[d], v1[d] = v.view.row(1)[d];
  double loss = 0.0;
  const auto learn = [&](double* a, double* b) {
    const double likelihood = 1.0 / (1.0 + std::exp(-(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])));
    for (int d = 0; d < 3; ++d) {
      const double before = a[d];
      a[d] += 0.5 * (1.0 - likelihood) * b[d];
      b[d] += 0.5 * (1.0 - likelihood) * before;
    }
    return likelihood;
  };
  const double first = learn(u0, v1), second = learn(u1, v0);
  loss = -std::log(first);  // of tokens whose number is a multiple of 16: the first alone

  muse::Trainer trainer(model, muse::Corpus({0, 1}, {0, 2}), {1, 1}, options, 0.0, 0.75, {});
  const muse::RunStats stats = trainer.run(0, 0, 1, 1, [](std::int64_t) { return muse::Tick::kGoOn; });
  for (int d = 0; d < 3; ++d) {
    CHECK(u.view.row(0)[d] == doctest::Approx(u0[d]));
    CHECK(u.view.row(1)[d] == doctest::Approx(u1[d]));
    CHECK(v.view.row(0)[d] == doctest::Approx(v0[d]));
    CHECK(v.view.row(1)[d] == doctest::Approx(v1[d]));
  }
  CHECK(stats.step.targets == 2);
  CHECK(stats.step.pairs == 2);
  CHECK(stats.step.reward == doctest::Approx(first + second).epsilon(1e-4));
  CHECK(stats.step.loss == doctest::Approx(loss).epsilon(1e-4));
  CHECK(stats.step.loss_pairs == 1);
  CHECK(stats.step.entropy_targets == 0);
  CHECK(stats.sense_use == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("step: with any options the padding stays zero, numbers finite and counts consistent") {
  int runs = 0;
  for (const Strategy strategy :
       {Strategy::kGreedy, Strategy::kEpsGreedy, Strategy::kBoltzmann, Strategy::kPolicy, Strategy::kSmoothPolicy})
    for (const Formulation formulation : {Formulation::kOneSided, Formulation::kTwoSided, Formulation::kFactorized})
      for (const SelectionUpdate update :
           {SelectionUpdate::kPaper, SelectionUpdate::kPosterior, SelectionUpdate::kNone})
        for (const Collocates collocates : {Collocates::kOne, Collocates::kAll})
          for (const int group_size : {1, 3, 32}) {
            if (muse::is_policy(strategy) && formulation == Formulation::kFactorized) continue;
            Options options = small_options();
            options.strategy = strategy;
            options.formulation = formulation;
            options.selection_update = update;
            options.collocates = collocates;
            options.group_size = group_size;
            ++runs;  // the other options turn with the runs
            options.reward = runs % 2 == 0 ? Reward::kLikelihood : Reward::kSampledLikelihood;
            options.negative = runs % 7;
            options.selection.mean = runs % 3 == 0;
            options.selection.full_text = runs % 4 == 0;
            options.selection.window = 1 + runs % 6;
            options.shrink_selection = runs % 11 < 5;
            options.sibling_share = runs % 3 == 1 ? 0.2f : 0.0f;
            options.max_norm = runs % 4 == 1 ? 1.0f : 0.0f;
            options.train_context_vectors = runs % 3 != 2;
            options.batch_tokens = runs % 9 == 0 ? 1 : 20;
            if (runs % 2 == 0) options.selection.distance = {0.0f, 1.0f, 0.7f, 0.5f, 0.4f, 0.3f, 0.2f};
            const bool words_collocate = formulation == Formulation::kOneSided && runs % 3 == 0;
            const Toy toy;
            CAPTURE(runs);
            const muse::RunStats stats =
                toy.train(options, words_collocate, runs % 2 == 0 ? std::vector<float>{} : std::vector<float>(6, 0.5f));
            CHECK(stats.step.targets > 40);
            CHECK(stats.step.pairs >= stats.step.targets);
            CHECK((stats.step.pairs == stats.step.targets) == (collocates == Collocates::kOne));
            CHECK(stats.step.reward > 0.0);
            CHECK(stats.step.reward < static_cast<double>(stats.step.pairs));
            CHECK(std::accumulate(stats.sense_use.begin(), stats.sense_use.end(), std::int64_t{0}) ==
                  stats.step.targets);
            CHECK(stats.tokens == toy.corpus.n_tokens());
            CHECK_FALSE(stats.diverged);
            for (const Rows* rows : {&toy.p, &toy.q, &toy.u, &toy.v, &toy.word_v, &toy.forward, &toy.backward}) {
              CHECK(rows->padding_is_zero());
              CHECK(finite(*rows));
            }
          }
  CHECK(runs == (3 * 3 + 2 * 2) * 3 * 2 * 3);
}

TEST_CASE("step: what is not to move does not move") {
  const Toy start;
  SUBCASE("P when it is frozen") {
    Options options = small_options();
    options.train_context_vectors = false;
    const Toy toy;
    toy.train(options);
    CHECK(toy.p.data == start.p.data);
    CHECK(toy.q.data != start.q.data);
  }
  SUBCASE("P and Q without a selection update") {
    Options options = small_options();
    options.selection_update = SelectionUpdate::kNone;
    const Toy toy;
    toy.train(options);
    CHECK(toy.p.data == start.p.data);
    CHECK(toy.q.data == start.q.data);
    CHECK(toy.u.data != start.u.data);
  }
  SUBCASE("Q of words with one sense, and the state values of another formulation") {
    const Toy toy;
    toy.train(small_options());
    for (const std::int64_t z : {0, 6})
      for (int d = 0; d < Toy::kSelection; ++d) CHECK(toy.q.view.row(z)[d] == start.q.view.row(z)[d]);
    CHECK(toy.p.data != start.p.data);
    CHECK(toy.forward.data == start.forward.data);
    CHECK(toy.backward.data == start.backward.data);
  }
  SUBCASE("a sense that is never selected and never a negative") {
    Options options = small_options();
    options.strategy = Strategy::kGreedy;
    options.selection_update = SelectionUpdate::kNone;
    options.negative = 0;
    Toy toy;
    for (Rows::Line& line : toy.p.data)
      for (float& x : line.x) x = std::abs(x);
    for (int d = 0; d < Toy::kSelection; ++d) toy.q.view.row(4)[d] = -10.0f;
    const muse::RunStats stats = toy.train(options);
    CHECK(stats.sense_use[4] == 0);
    CHECK(stats.sense_use[3] + stats.sense_use[5] > 0);
    for (int d = 0; d < Toy::kDim; ++d) {
      CHECK(toy.u.view.row(4)[d] == start.u.view.row(4)[d]);
      CHECK(toy.v.view.row(4)[d] == start.v.view.row(4)[d]);
    }
    CHECK(toy.v.data != start.v.data);
  }
}

TEST_CASE("step: max_norm bounds each row of P and Q that moves") {
  Options options = small_options();
  options.max_norm = 0.7f;
  options.selection_alpha = 50.0f;
  const Toy toy;
  toy.train(options);
  for (std::int64_t w = 0; w < 6; ++w) {
    double square = 0.0;
    for (int d = 0; d < Toy::kSelection; ++d)
      square += static_cast<double>(toy.p.view.row(w)[d]) * toy.p.view.row(w)[d];
    CHECK(std::sqrt(square) < 0.7 + 1e-5);
  }
}

TEST_CASE("step: greedy on zero scores spreads a word over its senses") {
  Options options = small_options();
  options.strategy = Strategy::kGreedy;
  options.selection_update = SelectionUpdate::kNone;
  Toy toy;
  std::fill(toy.q.data.begin(), toy.q.data.end(), Rows::Line{});
  std::vector<std::int64_t> use(12, 0);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    options.seed = seed;
    const muse::RunStats stats = toy.train(options);
    for (std::int64_t z = 0; z < 12; ++z) use[at(z)] += stats.sense_use[at(z)];
  }
  for (std::int64_t w = 0; w < 6; ++w) {
    std::int64_t total = 0;
    const std::int64_t senses = toy.offset[at(w) + 1] - toy.offset[at(w)];
    for (std::int64_t z = toy.offset[at(w)]; z < toy.offset[at(w) + 1]; ++z) total += use[at(z)];
    CHECK(total > 1000);
    for (std::int64_t z = toy.offset[at(w)]; z < toy.offset[at(w) + 1]; ++z) {
      const double expected = static_cast<double>(total) / static_cast<double>(senses);
      CHECK(std::abs(static_cast<double>(use[at(z)]) - expected) <= 5.0 * std::sqrt(expected));
    }
  }
}

TEST_CASE("step: numbers that are not finite stop the run") {
  for (const float poison : {NAN, INFINITY}) {
    const Toy toy;
    for (std::int64_t z = 0; z < 12; ++z) toy.u.view.row(z)[2] = poison;
    const muse::RunStats stats = toy.train(small_options());
    CHECK(stats.diverged);
    CHECK(stats.next_batch < 3);
  }
}

TEST_CASE("step: divergence is noticed while all values are still finite") {
  for (const bool selector : {false, true}) {
    CAPTURE(selector);
    const Toy toy;
    muse::Options options = small_options();
    (selector ? options.selection_alpha : options.alpha) = 1e5f;
    options.train_context_vectors = true;
    options.max_norm = 0.0f;
    muse::Trainer trainer(toy.model(), toy.corpus, toy.counts, options, 0.0, 0.75, {});
    bool diverged = false;
    for (int epoch = 0; epoch < 40 && !diverged; ++epoch)
      diverged =
          trainer.run(epoch, 0, trainer.num_batches(), 1, [](std::int64_t) { return muse::Tick::kGoOn; }).diverged;
    CHECK(diverged);
    for (const Rows* rows : {&toy.p, &toy.q, &toy.u, &toy.v})
      for (const Rows::Line& line : rows->data)
        for (const float x : line.x) REQUIRE(std::isfinite(x));
  }
}
