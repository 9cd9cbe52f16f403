#include "senses/selection.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "senses/window_sums.h"

namespace {

using muse::Options;
using muse::Strategy;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// How often each of k outcomes comes up for u spread evenly over [0, 1).
std::vector<double> shares(int k, const std::function<int(float)>& pick) {
  constexpr int kSteps = 1 << 16;
  std::vector<double> share(at(k), 0.0);
  for (int i = 0; i < kSteps; ++i) share[at(pick(static_cast<float>(i) / kSteps))] += 1.0 / kSteps;
  return share;
}

std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(at(count));
  for (float& v : values) v = normal(generator);
  return values;
}

// d loss / d s_k by central differences.
std::vector<double> numeric(const std::vector<double>& s,
                            const std::function<double(const std::vector<double>&)>& loss) {
  std::vector<double> gradient;
  for (std::size_t k = 0; k < s.size(); ++k) {
    std::vector<double> up = s, down = s;
    up[k] += 1e-5;
    down[k] -= 1e-5;
    gradient.push_back((loss(up) - loss(down)) / 2e-5);
  }
  return gradient;
}

double log_pi(const std::vector<double>& s, std::size_t k, double temperature) {
  double total = 0.0;
  for (const double x : s) total += std::exp(x / temperature);
  return s[k] / temperature - std::log(total);
}

const std::vector<double> kScores = {0.7, -1.2, 2.1, 0.0};
const std::vector<float> kFloatScores(kScores.begin(), kScores.end());

}  // namespace

TEST_CASE("sigmoid and log_sigmoid hold for any score") {
  for (const double x : {-700.0, -90.0, -20.0, -1.0, 0.0, 1.0, 20.0, 90.0, 700.0}) {
    const double expected = x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
    CHECK(muse::log_sigmoid(static_cast<float>(x)) == doctest::Approx(expected));
    CHECK(muse::sigmoid(static_cast<float>(x)) == doctest::Approx(std::exp(expected)));
  }
}

TEST_CASE("softmax does not overflow") {
  const float s[] = {1000.0f, 999.0f, -1000.0f};
  float p[3];
  muse::softmax(s, 3, 1.0f, p);
  CHECK(p[0] == doctest::Approx(1.0 / (1.0 + std::exp(-1.0))));
  CHECK(p[0] + p[1] + p[2] == doctest::Approx(1.0));
  CHECK(p[2] == 0.0f);
  muse::softmax(s, 2, 10.0f, p);
  CHECK(p[0] == doctest::Approx(1.0 / (1.0 + std::exp(-0.1))));
}

TEST_CASE("argmax: ties are even, all else loses") {
  const float all[] = {0.0f, 0.0f, 0.0f};
  const float two[] = {1.0f, 3.0f, -2.0f, 3.0f};
  const float one[] = {-5.0f, -1.0f};
  const std::vector<double> thirds = shares(3, [&](float u) { return muse::argmax(all, 3, u); });
  for (const double share : thirds) CHECK(share == doctest::Approx(1.0 / 3).epsilon(1e-3));
  CHECK(shares(4, [&](float u) { return muse::argmax(two, 4, u); }) == std::vector<double>{0.0, 0.5, 0.0, 0.5});
  CHECK(shares(2, [&](float u) { return muse::argmax(one, 2, u); }) == std::vector<double>{0.0, 1.0});
  const float largest_u = 16777215.0f / 16777216.0f;
  for (int k = 1; k <= 3; ++k) CHECK(muse::argmax(all, k, largest_u) == k - 1);
  const float nan[] = {NAN, NAN, 1.0f};
  for (const float u : {0.0f, largest_u}) {
    CHECK(muse::argmax(nan, 3, u) >= 0);
    CHECK(muse::argmax(nan, 3, u) < 3);
  }
}

TEST_CASE("sample_softmax draws the policy") {
  for (const float temperature : {1.0f, 0.5f, 3.0f}) {
    float p[4];
    muse::softmax(kFloatScores.data(), 4, temperature, p);
    const auto share = shares(4, [&](float u) { return muse::sample_softmax(kFloatScores.data(), 4, temperature, u); });
    for (int k = 0; k < 4; ++k) CHECK(share[at(k)] == doctest::Approx(p[k]).epsilon(2e-3));
  }
  // And with the draws that training uses: chi-square with 3 degrees of freedom, 99.99 %.
  const muse::RandomStream draw(5, 0, muse::Purpose::kSense);
  float p[4];
  muse::softmax(kFloatScores.data(), 4, 1.0f, p);
  constexpr int kDraws = 100000;
  double seen[4] = {}, chi = 0.0;
  for (std::uint64_t i = 0; i < kDraws; ++i)
    ++seen[muse::sample_softmax(kFloatScores.data(), 4, 1.0f, draw.uniform(i))];
  for (int k = 0; k < 4; ++k) chi += std::pow(seen[k] - kDraws * p[k], 2) / (kDraws * p[k]);
  CHECK(chi < 21.1);
  const float largest_u = 16777215.0f / 16777216.0f;
  CHECK(muse::sample_softmax(kFloatScores.data(), 4, 1.0f, largest_u) == 3);
}

TEST_CASE("choose_sense: what each strategy does") {
  Options options;
  const auto best = static_cast<int>(std::max_element(kScores.begin(), kScores.end()) - kScores.begin());
  options.strategy = Strategy::kGreedy;
  options.epsilon = 1.0f;  // of no interest to greedy
  for (const float u : {0.0f, 0.4f, 0.99f}) CHECK(muse::choose_sense(options, kFloatScores.data(), 4, 0.0f, u) == best);

  options.strategy = Strategy::kEpsGreedy;
  options.epsilon = 0.25f;
  const auto choose = [&](float explore) {
    return shares(4, [&, explore](float u) { return muse::choose_sense(options, kFloatScores.data(), 4, explore, u); });
  };
  CHECK(choose(0.249f) == std::vector<double>{0.25, 0.25, 0.25, 0.25});
  CHECK(choose(0.25f)[at(best)] == 1.0);
  const float largest_u = 16777215.0f / 16777216.0f;
  for (int k = 1; k <= 100; ++k) {  // the explored sense is one of k, whatever is drawn
    const std::vector<float> zeros(at(k), 0.0f);
    CHECK(muse::choose_sense(options, zeros.data(), k, 0.0f, largest_u) == k - 1);
  }

  for (const Strategy strategy : {Strategy::kBoltzmann, Strategy::kPolicy, Strategy::kSmoothPolicy}) {
    options.strategy = strategy;
    options.temperature = 2.0f;
    for (const float u : {0.0f, 0.3f, 0.6f, 0.95f})
      CHECK(muse::choose_sense(options, kFloatScores.data(), 4, 0.0f, u) ==
            muse::sample_softmax(kFloatScores.data(), 4, 2.0f, u));
  }
}

TEST_CASE("value_gradient is the derivative of the cross-entropy with the reward (eq. 9)") {
  for (const double reward : {0.0, 0.3, 1.0})
    for (const double state : {0.0, -0.8})
      for (std::size_t chosen = 0; chosen < 4; ++chosen) {
        const auto loss = [&](const std::vector<double>& s) {
          const double q = 1.0 / (1.0 + std::exp(-(s[chosen] + state)));
          return -0.5 * (reward * std::log(q) + (1.0 - reward) * std::log(1.0 - q));
        };
        const std::vector<double> expected = numeric(kScores, loss);
        const float g =
            muse::value_gradient(kFloatScores[chosen], static_cast<float>(state), static_cast<float>(reward), 0.5f);
        CHECK(g == doctest::Approx(expected[chosen]).epsilon(1e-4));  // the state's too, since it is added to the score
        for (std::size_t k = 0; k < 4; ++k) CHECK((k == chosen || expected[k] == 0.0));
      }
}

TEST_CASE("policy_gradient is the derivative of -reward log pi (appendix A)") {
  for (const double reward : {-3.0, 0.4})
    for (const double temperature : {1.0, 0.6})
      for (std::size_t chosen = 0; chosen < 4; ++chosen) {
        const auto loss = [&](const std::vector<double>& s) { return -0.5 * reward * log_pi(s, chosen, temperature); };
        const std::vector<double> expected = numeric(kScores, loss);
        float gradient[4] = {};
        muse::policy_gradient(kFloatScores.data(), 4, static_cast<int>(chosen), static_cast<float>(reward),
                              static_cast<float>(temperature), 0.5f, [&](int k, float g) { gradient[k] += g; });
        for (std::size_t k = 0; k < 4; ++k) CHECK(gradient[k] == doctest::Approx(expected[k]).epsilon(1e-4));
        CHECK(std::abs(gradient[0] + gradient[1] + gradient[2] + gradient[3]) < 1e-6);
      }
}

TEST_CASE("posterior_gradient is the derivative of the cross-entropy with the posterior, held fixed") {
  const std::vector<double> evidence = {-1.0, 0.5, 0.2, 2.0};
  std::vector<double> joint = kScores;
  for (std::size_t k = 0; k < 4; ++k) joint[k] += evidence[k];
  const auto loss = [&](const std::vector<double>& s) {
    double sum = 0.0;
    for (std::size_t k = 0; k < 4; ++k) sum -= std::exp(log_pi(joint, k, 1.0)) * log_pi(s, k, 1.0);
    return sum;
  };
  const std::vector<double> expected = numeric(kScores, loss);
  const std::vector<float> ll(evidence.begin(), evidence.end());
  float scratch[8], gradient[4] = {};
  muse::posterior_gradient(kFloatScores.data(), ll.data(), 4, scratch, gradient);
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(gradient[k] == doctest::Approx(expected[k]).epsilon(1e-4));
    CHECK(scratch[k] == doctest::Approx(std::exp(log_pi(joint, k, 1.0))).epsilon(1e-5));
  }
}

TEST_CASE("WindowSums: sliding, fresh, weighted, by distance and as means, all agree with plain sums") {
  constexpr int kTokens = 300, kDim = 19, kStride = 32;  // 19: neither padded nor a multiple of any register
  const std::vector<float> matrix = random_floats(kTokens * kStride, 1);
  std::vector<float> weights = random_floats(kTokens, 2);
  for (float& w : weights) w = std::abs(w);
  std::vector<const float*> rows;
  for (int j = 0; j < kTokens; ++j) rows.push_back(matrix.data() + j * kStride);

  for (const bool mean : {false, true})
    for (const bool by_distance : {false, true})
      for (const bool weighted : {false, true})
        for (const int reach : {1, 4, 9}) {
          CAPTURE(mean);
          CAPTURE(by_distance);
          CAPTURE(weighted);
          CAPTURE(reach);
          muse::SelectionOptions options;
          options.window = reach;
          options.mean = mean;
          if (by_distance)
            for (int d = 0; d <= reach; ++d) options.distance.push_back(d == 0 ? 0.0f : 1.0f / static_cast<float>(d));
          // Sentences of 37 tokens, windows of changing size, and every seventh word without a choice.
          std::vector<muse::Window> windows;
          for (int i = 0; i < kTokens; ++i) {
            const int begin = i / 37 * 37, end = std::min(kTokens, begin + 37), drawn = 1 + i * 7 % reach;
            if (i % 7 != 3) windows.push_back({std::max(begin, i - drawn), std::min(end - 1, i + drawn), i});
          }
          std::vector<float> out(windows.size() * kStride, 77.0f), totals(windows.size());
          std::size_t ready = 0;
          muse::WindowSums(muse::kernels(), options, kDim)
              .run({rows.data(), weighted ? weights.data() : nullptr}, windows, out.data(), totals.data(),
                   [&](std::size_t count) {
                     CHECK(count > ready);
                     ready = count;
                   });
          CHECK(ready == windows.size());
          double worst = 0.0, worst_total = 0.0;
          for (std::size_t i = 0; i < windows.size(); ++i) {
            std::vector<double> sum(kDim, 0.0);
            double total = 0.0;
            for (int j = windows[i].low; j <= windows[i].high; ++j) {
              double w = weighted ? weights[at(j)] : 1.0f;
              if (by_distance) w *= options.distance[at(std::abs(j - windows[i].centre))];
              for (int d = 0; d < kDim; ++d) sum[at(d)] += w * rows[at(j)][d];
              total += w;
            }
            for (int d = 0; d < kDim; ++d) {
              const double expected = mean && total > 0.0 ? sum[at(d)] / total : mean ? 0.0 : sum[at(d)];
              worst = std::max(worst, std::abs(out[i * kStride + at(d)] - expected));
            }
            for (int d = kDim; d < kStride; ++d) worst = std::max(worst, 1.0 * std::abs(out[i * kStride + at(d)]));
            worst_total = std::max(worst_total, std::abs(totals[i] - total));
          }
          CHECK(worst < 2e-5);
          CHECK(worst_total < 1e-5);
        }
}

TEST_CASE("select_senses: the same for any number of workers and however long a context is") {
  constexpr std::int64_t kWords = 20, kTokens = 20000;
  constexpr int kDim = 17;
  std::vector<std::int64_t> offset = {0};
  for (std::int64_t w = 0; w < kWords; ++w) offset.push_back(offset.back() + 1 + w % 3);
  std::vector<float> p = random_floats(kWords * kDim, 3), q = random_floats(offset.back() * kDim, 4);
  muse::Model model;
  model.context = {p.data(), kWords, kDim, kDim};
  model.selection = {q.data(), offset.back(), kDim, kDim};
  model.sense_offset = offset.data();
  model.num_words = kWords;
  std::mt19937 generator(1);
  std::vector<std::int32_t> tokens;
  for (std::int64_t t = 0; t < kTokens; ++t) tokens.push_back(static_cast<std::int32_t>(generator() % kWords));
  const std::vector<std::int64_t> contexts = {0, 1, 1, 30, 9000, 9003, kTokens};  // one longer than a chunk

  muse::SelectionOptions options;
  std::vector<std::int32_t> sense(kTokens, -1), other(kTokens, -1);
  std::vector<float> probability(kTokens), other_probability(kTokens), margin(kTokens);
  muse::select_senses({model, options, {}}, {tokens, contexts}, 1, {sense.data(), probability.data(), margin.data()});
  muse::select_senses({model, options, {}}, {tokens, contexts}, 3, {other.data(), other_probability.data()});
  CHECK(sense == other);
  muse::select_senses({model, options, {}}, {tokens, contexts}, 3, {other.data()});
  CHECK(sense == other);
  // Against one score at a time.
  const auto one = muse::make_scorer(muse::SelectorParts{model, options, {}});
  std::int64_t wrong = 0;
  for (std::size_t c = 0; c + 1 < contexts.size(); ++c)
    for (std::int64_t t = contexts[c]; t < std::min(contexts[c + 1], contexts[c] + 5000); ++t) {
      const std::vector<std::int64_t> limits = {contexts[c], contexts[c + 1]}, position = {t - contexts[c]};
      const std::int32_t word = tokens[at(t)];
      std::vector<float> s(at(model.senses_of(word)));
      one->score({{tokens, limits}, position, {&word, 1}}, 0, 1, s.data());
      wrong += muse::argmax(s.data(), static_cast<int>(s.size()), 0.0f) != sense[at(t)];
      std::vector<float> pi(s.size());
      muse::softmax(s.data(), static_cast<int>(s.size()), 1.0f, pi.data());
      wrong += std::abs(pi[at(sense[at(t)])] - probability[at(t)]) > 1e-4f;
      std::sort(pi.rbegin(), pi.rend());
      wrong += std::abs(pi[0] - (pi.size() > 1 ? pi[1] : 0.0f) - margin[at(t)]) > 1e-4f;
    }
  CHECK(wrong == 0);
}
