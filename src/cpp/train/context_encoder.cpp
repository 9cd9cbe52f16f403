#include "train/context_encoder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "math/kernels.h"
#include "math/panel.h"
#include "math/parallel.h"
#include "math/prefetch.h"
#include "math/random.h"
#include "train/sampler.h"

namespace muse {

namespace {

constexpr std::int64_t kBlocksAtOnce = 16;  // that a thread takes from the others
constexpr float kLeastRate = 1e-3f;         // of the rate at the start
constexpr std::int32_t kNear = 1000;        // words before, usually the most frequent, have rows that lie near anyway
constexpr double kLastPart = 0.9;           // from here on the loss is noted

// What is read and drawn for a block before any parameter is.
struct Block {
  float rate = 0.0f;
  std::vector<std::int32_t> words;         // a text with gaps: word, or -1 for none
  std::vector<std::int32_t> target_words;  // (T,)
  std::vector<int> targets;                // (T,) places in `words`
  std::vector<int> learners;            // places in `words` of those that learn: targets, and such as they are around
  std::vector<std::int32_t> negatives;  // (groups * shared,)

  int groups(int size) const { return (static_cast<int>(targets.size()) + size - 1) / size; }
};

// What all threads share.
struct Shared {
  const EncoderModel& model;
  const Corpus& corpus;
  std::span<const float> weights, keep;
  const EncoderOptions& options;
  NegativeSampler sampler;
  RandomStream draw;
  std::vector<float> squares;  // (2 W + 1, De) of AdaGrad
  std::int64_t blocks;         // in the whole text
  std::int64_t used;           // of them

  // The first token of the i-th block that is read.
  std::int64_t begin(std::int64_t i) const {
    const std::int64_t block = used == blocks
                                   ? i
                                   : static_cast<std::int64_t>(static_cast<double>(i) * static_cast<double>(blocks) /
                                                               static_cast<double>(used));
    return block * options.block_tokens;
  }
};

// One thread's work and memory.
class Worker {
 public:
  explicit Worker(Shared& shared)
      : shared_(shared),
        options_(shared.options),
        kernels_(kernels()),
        dim_(shared.model.words.padded_dim()),
        positions_(2 * options_.window + 1),
        zeros_(at(dim_), 0.0f) {
    for (auto* panel : {&forward_, &backward_, &gradient_}) panel->assign(at(positions_ * dim_), 0.0f);
    errors_.resize(at(options_.group * options_.shared) + kRowPad);
    scores_.resize(at(options_.group) + kRowPad);
    negative_rows_.resize(at(options_.shared));
    negatives_.resize(at(options_.shared * dim_));
  }

  // Lays out block `i`, draws what is random in it, and asks the memory for its rows.
  void prepare(std::int64_t i, Block& block) const {
    const std::int64_t begin = shared_.begin(i);
    const std::int64_t end = std::min(shared_.corpus.n_tokens(), begin + options_.block_tokens);
    block.rate =
        options_.alpha *
        std::max(kLeastRate, 1.0f - static_cast<float>(static_cast<double>(i) / static_cast<double>(shared_.used)));
    block.words.assign(at(options_.window), -1);
    block.targets.clear();
    block.learners.clear();
    block.target_words.clear();
    block.negatives.clear();
    const auto offsets = shared_.corpus.offsets();
    auto sentence = std::upper_bound(offsets.begin(), offsets.end(), begin) - 1;
    for (; sentence + 1 != offsets.end() && *sentence < end; ++sentence)
      add_sentence(*sentence, *(sentence + 1), begin, end, block);
    const int drawn = block.groups(options_.group) * options_.shared;
    for (int k = 0; k < drawn; ++k) {
      block.negatives.push_back(shared_.sampler.draw(
          shared_.draw.bits(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(k) + 1)));
      prefetch_row(shared_.model.outputs.row(block.negatives.back()), dim_);
    }
  }

  void run(const Block& block, EncoderStats* stats) {
    const int n = static_cast<int>(block.targets.size());
    if (n == 0) return;
    copy_positions();
    const Matrix& words = shared_.model.words;
    rows_.clear();
    for (const std::int32_t word : block.words) rows_.push_back(word < 0 ? zeros_.data() : words.row(word));
    starts_.clear();
    for (const int target : block.targets) starts_.push_back(target - options_.window);
    reserve(contexts_, std::int64_t{n} * dim_);
    reserve(errors_of_contexts_, std::int64_t{n} * dim_);
    kernels_.slide(forward_.data(), positions_, rows_.data(), starts_.data(), n, dim_, contexts_.data());
    for (int first = 0, group = 0; first < n; first += options_.group, ++group)
      step_group(block, first, std::min(n, first + options_.group), group, stats);
    std::fill(gradient_.begin(), gradient_.end(), 0.0f);
    kernels_.slide_gradient(errors_of_contexts_.data(), rows_.data(), starts_.data(), n, positions_, dim_,
                            gradient_.data());
    if (options_.learn_words) step_words(block);
    step_positions(1.0f / block.rate);
  }

 private:
  void add_sentence(std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t end, Block& block) const {
    const auto tokens = shared_.corpus.tokens();
    const std::int64_t low = std::max(from, begin - options_.window), high = std::min(to, end + options_.window);
    for (std::int64_t t = low; t < high; ++t) {
      const std::int32_t word = tokens[at(t)];
      if (shared_.draw.uniform(static_cast<std::uint64_t>(t)) < shared_.keep[at(word)]) {
        block.learners.push_back(static_cast<int>(block.words.size()));
        if (t >= begin && t < end) {
          block.targets.push_back(block.learners.back());
          block.target_words.push_back(word);
          prefetch_row(shared_.model.outputs.row(word), dim_);
        }
      }
      if (word >= kNear) prefetch_row(shared_.model.words.row(word), dim_);
      block.words.push_back(word);
    }
    block.words.insert(block.words.end(), at(options_.window), -1);
  }

  // A as it stands, and turned round for the way back.
  void copy_positions() {
    for (int p = 0; p < positions_; ++p) {
      const float* row = shared_.model.positions.row(p);
      kernels_.gather(&row, 1, dim_, forward_.data() + std::int64_t{p} * dim_);
      std::memcpy(backward_.data() + std::int64_t{positions_ - 1 - p} * dim_, forward_.data() + std::int64_t{p} * dim_,
                  sizeof(float) * at(dim_));
    }
  }

  // Targets [first, last), which share negatives: O moves, and the gradient of h, times the rate, is left behind.
  void step_group(const Block& block, int first, int last, int group, EncoderStats* stats) {
    const int m = last - first, shared = options_.shared;
    const float* h = contexts_.data() + std::int64_t{first} * dim_;
    float* g = errors_of_contexts_.data() + std::int64_t{first} * dim_;
    const std::int32_t* drawn = block.negatives.data() + std::int64_t{group} * shared;
    for (int k = 0; k < shared; ++k) negative_rows_[at(k)] = shared_.model.outputs.row(drawn[k]);
    kernels_.gather(negative_rows_.data(), shared, dim_, negatives_.data());
    kernels_.scores(h, m, negatives_.data(), shared, dim_, errors_.data(), shared);
    kernels_.sigmoid(errors_.data(), m * shared, errors_.data());
    const float weight = static_cast<float>(options_.negative) / static_cast<float>(std::max(1, shared));
    double loss = 0.0;
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < shared; ++k) {
        float& e = errors_[at(i * shared + k)];
        const bool same = drawn[k] == block.target_words[at(first + i)];
        if (stats != nullptr && !same) loss -= weight * std::log(std::max(1e-9f, 1.0f - e));
        e = same ? 0.0f : -weight * block.rate * e;
      }
    kernels_.combine(errors_.data(), shared, 1, m, shared, negatives_.data(), dim_, g);
    kernels_.combine_add(errors_.data(), 1, shared, shared, m, h, dim_, negative_rows_.data());
    step_targets(std::span(block.target_words).subspan(at(first), at(m)), h, g, block.rate);
    if (stats == nullptr) return;
    for (int i = 0; i < m; ++i) loss -= std::log(std::max(1e-9f, scores_[at(i)]));
    stats->loss += loss;
    stats->loss_targets += m;
  }

  // The targets' own rows, which are scored before any of them moves.
  void step_targets(std::span<const std::int32_t> words, const float* h, float* g, float rate) {
    target_rows_.clear();
    for (const std::int32_t word : words) target_rows_.push_back(shared_.model.outputs.row(word));
    target_rows_.push_back(target_rows_.back());  // one to ask for behind the last
    for (std::size_t i = 0; i < words.size(); ++i)
      scores_[i] = kernels_.dot(h + static_cast<std::int64_t>(i) * dim_, target_rows_[i], dim_);
    kernels_.sigmoid(scores_.data(), static_cast<int>(words.size()), scores_.data());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) * dim_;
      const float step = rate * (1.0f - scores_[i]);
      const float* next = target_rows_[i + 1];
      kernels_.step_rows(h + row, &step, &target_rows_[i], &next, 1, dim_, g + row);
    }
  }

  // Words of the block: the gradients of the targets around them, through A. A token takes part with the probability
  // that it is a target with, and then for all that do not, whose gradients would cost most of the time.
  void step_words(const Block& block) {
    const int count = static_cast<int>(block.words.size()), window = options_.window;
    error_rows_.assign(at(count + 2 * window), zeros_.data());
    for (std::size_t i = 0; i < block.targets.size(); ++i)
      error_rows_[at(block.targets[i] + window)] = errors_of_contexts_.data() + static_cast<std::int64_t>(i) * dim_;
    const auto learners = static_cast<int>(block.learners.size());
    reserve(word_gradients_, std::int64_t{learners} * dim_);
    kernels_.slide(backward_.data(), positions_, error_rows_.data(), block.learners.data(), learners, dim_,
                   word_gradients_.data());
    const float* gradient = word_gradients_.data();
    for (const int k : block.learners) {
      const std::int32_t word = block.words[at(k)];
      const float weight = shared_.weights.empty() ? 1.0f : shared_.weights[at(word)];
      kernels_.axpy(weight * weight / std::min(1.0f, shared_.keep[at(word)]), gradient, shared_.model.words.row(word),
                    dim_);
      gradient += dim_;
    }
  }

  void step_positions(float scale) {
    for (float& x : gradient_) x *= scale;
    for (int p = 0; p < positions_; ++p) {
      if (p == options_.window) continue;
      const std::int64_t row = std::int64_t{p} * dim_;
      kernels_.adagrad(gradient_.data() + row, options_.position_alpha, dim_, shared_.squares.data() + row,
                       shared_.model.positions.row(p));
    }
  }

  Shared& shared_;
  const EncoderOptions& options_;
  const Kernels& kernels_;
  int dim_, positions_;
  std::vector<float> zeros_, forward_, backward_, gradient_, errors_, scores_, negatives_, contexts_,
      errors_of_contexts_, word_gradients_;
  std::vector<float*> negative_rows_, target_rows_;
  std::vector<const float*> rows_, error_rows_;
  std::vector<int> starts_;
};

}  // namespace

EncoderStats train_encoder(const EncoderModel& model, const Corpus& corpus, std::span<const float> weights,
                           std::span<const float> keep, std::span<const std::int64_t> counts,
                           const EncoderOptions& options, int workers, const std::function<void(std::int64_t)>& poll) {
  const std::int64_t blocks = (corpus.n_tokens() + options.block_tokens - 1) / options.block_tokens;
  const std::int64_t wanted =
      options.max_tokens > 0 ? (options.max_tokens + options.block_tokens - 1) / options.block_tokens : blocks;
  const int dim = model.words.padded_dim();
  Shared shared{model,
                corpus,
                weights,
                keep,
                options,
                NegativeSampler(counts, 0.75),
                RandomStream(options.seed, 0, Purpose::kEncoder),
                std::vector<float>(at(std::int64_t{2 * options.window + 1} * dim), 1e-6f),
                blocks,
                std::min(blocks, wanted)};
  EncoderStats total;
  std::mutex mutex;
  const auto caller = std::this_thread::get_id();
  const auto last_part = static_cast<std::int64_t>(kLastPart * static_cast<double>(shared.used));
  parallel_chunks(shared.used, kBlocksAtOnce, workers, [&] {
    return [&, worker = Worker(shared), now = Block(), next = Block()](std::int64_t first, std::int64_t last) mutable {
      if (std::this_thread::get_id() == caller) poll(first * options.block_tokens);
      EncoderStats stats;
      worker.prepare(first, next);
      for (std::int64_t i = first; i < last; ++i) {
        std::swap(now, next);
        if (i + 1 < last) worker.prepare(i + 1, next);
        stats.targets += static_cast<std::int64_t>(now.targets.size());
        worker.run(now, i >= last_part ? &stats : nullptr);
      }
      const std::lock_guard lock(mutex);
      total.targets += stats.targets;
      total.loss += stats.loss;
      total.loss_targets += stats.loss_targets;
    };
  });
  return total;
}

}  // namespace muse
