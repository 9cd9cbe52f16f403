// AdaGram, after Bartunov, Kondrashkin, Osokin and Vetrov (2016), "Breaking sticks and ambiguities with adaptive
// skip-gram", AISTATS: skip-gram with hierarchical softmax, a Dirichlet process over the senses of every word, and
// stochastic variational inference. A peer to measure against, written from the paper; no part of the package.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <queue>
#include <random>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
struct Text {
  const std::int32_t* tokens;
  const std::int64_t* offsets;  // (sentences + 1)
  std::int64_t sentences;
};

struct Model {
  std::int32_t words, dim, senses, window;
  double alpha;                // concentration of the Dirichlet process
  const std::int64_t* counts;  // (words), how often each occurs
  float* in;                   // (words, senses, dim)
  float* out;                  // (words - 1, dim), inner nodes of the tree
  float* uses;                 // (words, senses), expected uses n_wk
};

struct Schedule {
  double rate, last_rate, sample;
  std::int32_t epochs, threads;
  std::uint64_t seed;
};
}

namespace {

struct Step {
  std::int32_t node;
  float sign;
};

using Paths = std::vector<std::vector<Step>>;

// The path to each word in the Huffman tree of the counts.
Paths huffman(const Model& m) {
  using Item = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
  for (std::int32_t w = 0; w < m.words; ++w) queue.emplace(m.counts[w], w);
  std::vector<std::int32_t> parent(2 * m.words, -1);
  std::vector<float> sign(2 * m.words, 0.F);
  std::int32_t next = m.words;
  while (queue.size() > 1) {
    const Item left = queue.top();
    queue.pop();
    const Item right = queue.top();
    queue.pop();
    parent[left.second] = parent[right.second] = next;
    sign[left.second] = 1.F;
    sign[right.second] = -1.F;
    queue.emplace(left.first + right.first, next++);
  }
  Paths paths(m.words);
  for (std::int32_t w = 0; w < m.words; ++w)
    for (std::int32_t node = w; parent[node] >= 0; node = parent[node])
      paths[w].push_back({parent[node] - m.words, sign[node]});
  return paths;
}

double digamma(double x) {
  double shift = 0;
  for (; x < 6; ++x) shift -= 1 / x;
  const double f = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - f * (1. / 12 - f * (1. / 120 - f / 252));
}

// Stick-breaking prior of a word's senses from their expected uses: E[log p(z = k)], or log E[p(z = k)].
void prior(const Model& m, std::int64_t word, bool expected_log, double* out) {
  const float* n = m.uses + word * m.senses;
  double later = 0, rest = 0;
  for (int k = 0; k < m.senses; ++k) later += n[k];
  for (int k = 0; k < m.senses; ++k) {
    later = std::max(0., later - n[k]);
    const double a = 1 + n[k], b = m.alpha + later;
    const bool last = k + 1 == m.senses;  // takes what is left of the stick
    if (expected_log) {
      const double total = digamma(a + b);
      out[k] = rest + (last ? 0 : digamma(a) - total);
      rest += digamma(b) - total;
    } else {
      out[k] = rest + (last ? 0 : std::log(a / (a + b)));
      rest += std::log(b / (a + b));
    }
  }
}

float dot(const float* a, const float* b, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

float sigmoid(float x) { return 1.F / (1.F + std::exp(-x)); }

// log p(word | sense) of the tree.
double log_likelihood(const Model& m, const std::vector<Step>& path, const float* sense) {
  double product = 1;
  for (const Step& step : path)
    product *= sigmoid(step.sign * dot(sense, m.out + std::int64_t{step.node} * m.dim, m.dim));
  return std::log(std::max(product, 1e-300));
}

void normalise(double* z, int n) {
  const double top = *std::max_element(z, z + n);
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += z[k] = std::exp(z[k] - top);
  for (int k = 0; k < n; ++k) z[k] /= sum;
}

class Worker {
 public:
  Worker(const Model& m, const Paths& paths, std::uint64_t seed)
      : m_(m), paths_(paths), random_(seed), z_(m.senses), step_(std::size_t(m.senses) * m.dim) {}

  void sentence(const std::int32_t* begin, const std::int32_t* end, const Schedule& s, double total, float rate) {
    kept_.clear();
    for (; begin != end; ++begin) {
      const double ratio = s.sample * total / double(m_.counts[*begin]);
      if (s.sample <= 0 || uniform() < std::sqrt(ratio) + ratio) kept_.push_back(*begin);
    }
    const auto size = std::int64_t(kept_.size());
    for (std::int64_t i = 0; i < size; ++i) {
      const auto reach = 1 + std::int64_t(uniform() * m_.window);
      target(i, std::max<std::int64_t>(0, i - reach), std::min(size, i + reach + 1), rate);
    }
  }

 private:
  double uniform() { return double(random_() >> 11) * 0x1p-53; }

  // One stochastic variational step for the token at i with the collocates in [low, high).
  void target(std::int64_t i, std::int64_t low, std::int64_t high, float rate) {
    if (high - low < 2) return;
    const std::int64_t word = kept_[i];
    float* in = m_.in + word * m_.senses * m_.dim;
    float* uses = m_.uses + word * m_.senses;
    prior(m_, word, true, z_.data());
    int open = 1;  // senses up to the first that is unused: those behind it are like it, and less likely
    while (open < m_.senses && uses[open - 1] >= kUsed) ++open;
    for (int k = open; k < m_.senses; ++k)
      if (uses[k] >= kUsed) open = k + 1;
    for (std::int64_t j = low; j < high; ++j)
      for (int k = 0; j != i && k < open; ++k) z_[k] += log_likelihood(m_, paths_[kept_[j]], in + k * m_.dim);
    normalise(z_.data(), open);
    for (std::int64_t j = low; j < high; ++j)
      if (j != i) collocate(paths_[kept_[j]], in, open, rate);
    const auto count = float(m_.counts[word]);
    for (int k = 0; k < m_.senses; ++k) uses[k] += rate * (k < open ? float(z_[k]) * count - uses[k] : -uses[k]);
  }

  // Gradient of the expected log-likelihood of one collocate.
  void collocate(const std::vector<Step>& path, float* in, int open, float rate) {
    std::fill_n(step_.begin(), std::size_t(open) * m_.dim, 0.F);
    for (const Step& step : path) {
      float* out = m_.out + std::int64_t{step.node} * m_.dim;
      for (int k = 0; k < open; ++k) {
        if (z_[k] < kIgnored) continue;
        const float* sense = in + k * m_.dim;
        float* change = step_.data() + k * m_.dim;
        const float g = rate * float(z_[k]) * step.sign * (1 - sigmoid(step.sign * dot(sense, out, m_.dim)));
        for (int d = 0; d < m_.dim; ++d) change[d] += g * out[d];
        for (int d = 0; d < m_.dim; ++d) out[d] += g * sense[d];
      }
    }
    for (int e = 0; e < open * m_.dim; ++e) in[e] += step_[e];
  }

  static constexpr float kUsed = 1e-3F;
  static constexpr double kIgnored = 1e-10;
  Model m_;
  const Paths& paths_;
  std::mt19937_64 random_;
  std::vector<double> z_;
  std::vector<float> step_;
  std::vector<std::int32_t> kept_;
};

}  // namespace

extern "C" {

Paths* adagram_tree(const Model* model) { return new Paths(huffman(*model)); }

void adagram_free(Paths* paths) { delete paths; }

void adagram_train(const Model* model, const Paths* tree, const Text* text, const Schedule* schedule) {
  const Model& m = *model;
  const Paths& paths = *tree;
  double total = 0;
  for (std::int32_t w = 0; w < m.words; ++w) total += double(m.counts[w]);
  std::atomic<std::int64_t> done{0};
  const double all = double(text->offsets[text->sentences]) * schedule->epochs;
  auto run = [&](int number) {
    Worker worker(m, paths, schedule->seed * 1000 + number);
    const std::int64_t from = text->sentences * number / schedule->threads;
    const std::int64_t to = text->sentences * (number + 1) / schedule->threads;
    for (int epoch = 0; epoch < schedule->epochs; ++epoch)
      for (std::int64_t s = from; s < to; ++s) {
        const double part = double(done.load(std::memory_order_relaxed)) / all;
        const double rate = std::max(schedule->last_rate, schedule->rate * (1 - part));
        worker.sentence(text->tokens + text->offsets[s], text->tokens + text->offsets[s + 1], *schedule, total,
                        float(rate));
        done.fetch_add(text->offsets[s + 1] - text->offsets[s], std::memory_order_relaxed);
      }
  };
  std::vector<std::thread> threads;
  for (int number = 1; number < schedule->threads; ++number) threads.emplace_back(run, number);
  run(0);
  for (auto& thread : threads) thread.join();
}

// Expected share of each sense, (words, senses).
void adagram_shares(const Model* model, double* shares) {
  for (std::int64_t w = 0; w < model->words; ++w) {
    double* mine = shares + w * model->senses;
    prior(*model, w, false, mine);
    for (int k = 0; k < model->senses; ++k) mine[k] = std::exp(mine[k]);
  }
}

// p(sense | word, context) at places of a text, (places, senses); senses with a share below `least` do not count.
void adagram_disambiguate(const Model* model, const Paths* tree, const Text* text, const std::int64_t* places,
                          std::int64_t n, double least, double* found) {
  const Model& m = *model;
  const Paths& paths = *tree;
  std::vector<double> z(m.senses);
  for (std::int64_t p = 0; p < n; ++p) {
    const std::int64_t* bound = std::upper_bound(text->offsets, text->offsets + text->sentences, places[p]);
    const std::int64_t low = std::max(bound[-1], places[p] - m.window),
                       high = std::min(*bound, places[p] + m.window + 1);
    const std::int64_t word = text->tokens[places[p]];
    double* mine = found + p * m.senses;
    std::fill_n(mine, m.senses, 0.);
    std::vector<int> active;
    prior(m, word, false, z.data());
    for (int k = 0; k < m.senses; ++k)
      if (z[k] >= std::log(least)) active.push_back(k);
    for (std::size_t a = 0; a < active.size(); ++a) {
      const int k = active[a];
      double sum = z[k];
      for (std::int64_t j = low; j < high; ++j)
        if (j != places[p]) sum += log_likelihood(m, paths[text->tokens[j]], m.in + (word * m.senses + k) * m.dim);
      z[a] = sum;  // a <= k: what is overwritten was read
    }
    normalise(z.data(), int(active.size()));
    for (std::size_t a = 0; a < active.size(); ++a) mine[active[a]] = z[a];
  }
}
}
