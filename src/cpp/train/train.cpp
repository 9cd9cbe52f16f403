#include "train/train.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "math/parallel.h"
#include "train/batch.h"

namespace muse {

namespace {

constexpr int kMostDrawn = 1 << 16;  // negatives of a pair or a group, targets of a group

void check(bool fits, const char* message) {
  if (!fits) throw std::invalid_argument(message);
}

void check_matrix(const Matrix& m, std::int64_t rows, int dim, const char* name) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(m.data) % (kRowPad * sizeof(float)) == 0;
  const bool padded = aligned && m.stride % kRowPad == 0 && m.stride >= m.padded_dim();
  if (m.empty() || m.rows != rows || m.dim != dim || !padded)
    throw std::invalid_argument(std::string(name) +
                                " has the wrong shape or unpadded rows: make it with aligned_zeros");
}

void check_model(const Model& model, const Corpus& corpus, const Options& options) {
  const std::int64_t words = model.num_words, senses = model.num_senses();
  check_matrix(model.context, words, model.context.dim, "context_vectors");
  check_matrix(model.selection, senses, model.context.dim, "selection_vectors");
  check_matrix(model.sense, senses, model.sense.dim, "sense_vectors");
  check_matrix(model.collocation, model.word_collocation() ? words : senses, model.sense.dim, "collocation_vectors");
  if (options.formulation == Formulation::kFactorized) {
    check_matrix(model.forward, words, model.context.dim, "forward_values");
    check_matrix(model.backward, words, model.context.dim, "backward_values");
    check(!is_policy(options.strategy), "the factorized formulation needs a value strategy, not policy");
  }
  check(model.senses_of(0) > 0, "a word without senses");
  check(options.formulation == Formulation::kOneSided || !model.word_collocation() || senses == words,
        "two-sided formulations need one collocation vector a sense");
  check(options.selection.fits(options.window) && options.selection.fits(options.selection.window),
        "window must be at least 1, and distance weights must cover it");
  check(options.negative >= 0 && options.negative <= kMostDrawn && options.group_size >= 1 &&
            options.group_size <= kMostDrawn && options.batch_tokens >= 1 && options.temperature > 0.0f,
        "option out of range");
  corpus.check_words(words);
}

}  // namespace

Trainer::Trainer(const Model& model, Corpus corpus, std::vector<std::int64_t> word_counts, const Options& options,
                 double sample, double ns_exponent, std::vector<float> context_weights)
    : model_(model),
      corpus_(std::move(corpus)),
      options_(options),
      word_counts_(std::move(word_counts)),
      keep_(keep_probabilities(word_counts_, sample)),
      context_weights_(std::move(context_weights)),
      negatives_(word_counts_, ns_exponent),
      boundaries_(batch_boundaries(corpus_.offsets(), options.batch_tokens)) {
  check(static_cast<std::int64_t>(word_counts_.size()) == model_.num_words, "word_counts has the wrong length");
  check(context_weights_.empty() || context_weights_.size() == word_counts_.size(),
        "context_weights must hold one number a word");
  check_model(model_, corpus_, options_);
}

void Trainer::place(const Corpus& corpus, const Stretch& stretch) {
  if (runs_ > 0) throw std::logic_error("a trainer that is running cannot be placed elsewhere");
  std::vector<std::int64_t> boundaries = batch_boundaries(corpus.offsets(), options_.batch_tokens);
  check(stretch.fits(static_cast<std::int64_t>(boundaries.size()) - 1),
        "a stretch must lie in the corpus, and progress from 0 to 1");
  corpus.check_words(model_.num_words);
  corpus_ = corpus;
  boundaries_ = std::move(boundaries);
  stretch_ = stretch;
}

float Trainer::alpha_at(int epoch, std::int64_t batch) const {
  const auto boundary = [this](std::int64_t b) { return boundaries_[static_cast<std::size_t>(b)]; };
  double progress = 0.0;
  if (stretch_.is_set()) {
    const std::int64_t first = boundary(stretch_.first_batch);
    progress = stretch_.progress(boundary(batch) - first, boundary(stretch_.last_batch) - first);
  } else {
    const double tokens = static_cast<double>(corpus_.n_tokens());
    const double done = epoch + static_cast<double>(boundary(batch)) / std::max(tokens, 1.0);
    progress = std::min(1.0, done / std::max(options_.epochs, 1));
  }
  return static_cast<float>(options_.alpha + (options_.min_alpha - options_.alpha) * progress);
}

float Trainer::selection_alpha_at(int epoch, std::int64_t batch) const {
  const float decay = options_.alpha > 0.0f ? alpha_at(epoch, batch) / options_.alpha : 1.0f;
  return options_.selection_alpha * decay;
}

// What the threads of a run share.
struct Trainer::Crew {
  Crew(std::int64_t first, std::int64_t last, int workers, std::int64_t num_senses)
      : last(last), workers(workers), next(first) {
    sense_use.assign(static_cast<std::size_t>(num_senses), 0);
  }

  const std::int64_t last;
  const int workers;
  std::atomic<std::int64_t> next, tokens{0};
  std::atomic<bool> stop{false}, abandon{false}, diverged{false};
  std::vector<std::int64_t> sense_use;  // added to atomically

  std::mutex mutex;  // of what follows
  std::condition_variable finished;
  int running = 0;
  StepStats sum;
  std::exception_ptr error;  // the first one

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex);
    if (!error) error = std::move(failure);
  }
};

// One thread: trains batches until there are no more.
void Trainer::work(int epoch, Crew& crew) const {
  StepStats mine;
  try {
    const BatchBuilder builder(corpus_, keep_, options_, epoch, stretch_.first_token);
    Step step({model_, options_, negatives_, context_weights_, epoch, crew.workers}, crew.sense_use.data(),
              &crew.abandon);
    Batch batch;
    while (!crew.stop) {
      const std::int64_t b = crew.next.fetch_add(1);
      if (b >= crew.last) break;
      const std::int64_t begin = boundaries_[static_cast<std::size_t>(b)];
      const std::int64_t end = boundaries_[static_cast<std::size_t>(b) + 1];
      builder.build(begin, end, batch);
      const StepStats one = step.run(batch, alpha_at(epoch, b), selection_alpha_at(epoch, b)).rounded();
      mine.add(one);
      crew.tokens += end - begin;
      if (!one.finite()) crew.diverged = crew.stop = true;
    }
  } catch (...) {
    crew.fail(std::current_exception());
    crew.stop = true;
  }
  const std::lock_guard lock(crew.mutex);
  crew.sum.add(mine);
  if (--crew.running == 0) crew.finished.notify_all();
}

// Starts the threads, and asks `tick` now and then until they are done. Returns whether it asked to stop.
bool Trainer::watch(Crew& crew, int epoch, int workers, const std::function<Tick(std::int64_t)>& tick,
                    std::vector<std::thread>& pool) const {
  bool stopped = false;
  std::unique_lock lock(crew.mutex);  // no thread can finish before `running` is known
  start_threads(pool, std::max(1, workers), [this, epoch, &crew] { work(epoch, crew); });
  crew.running = static_cast<int>(pool.size());
  if (pool.empty()) throw std::runtime_error("the system gives this process no thread to train on");
  std::optional<std::chrono::steady_clock::time_point> deadline;
  while (!crew.finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return crew.running == 0; })) {
    lock.unlock();
    Tick asked = Tick::kGoOn;
    try {
      if (!crew.stop) asked = tick(crew.tokens);
    } catch (...) {
      asked = Tick::kStopNow;
      crew.fail(std::current_exception());
    }
    if (asked != Tick::kGoOn) stopped = crew.stop = true;
    if (asked == Tick::kStopNow) deadline = std::chrono::steady_clock::now() + kPatience;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) crew.abandon = true;
    lock.lock();
  }
  return stopped;
}

RunStats Trainer::run(int epoch, std::int64_t first, std::int64_t last, int workers,
                      const std::function<Tick(std::int64_t)>& tick) {
  check(0 <= first && first <= last && last <= num_batches(), "batches out of range");
  struct Running {
    explicit Running(std::atomic<int>& runs) : runs(runs) { ++runs; }
    ~Running() { --runs; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    std::atomic<int>& runs;
  } const running(runs_);
  Crew crew(first, last, workers, model_.num_senses());
  std::vector<std::thread> pool;
  RunStats stats;
  stats.stopped = watch(crew, epoch, workers, tick, pool);
  for (std::thread& thread : pool) thread.join();
  if (crew.error) std::rethrow_exception(crew.error);
  stats.step = crew.sum;
  stats.tokens = crew.tokens;
  stats.next_batch = std::min<std::int64_t>(crew.next, last);
  stats.diverged = crew.diverged;
  stats.sense_use = std::move(crew.sense_use);
  return stats;
}

}  // namespace muse
