// What a step of training costs on rows of floats, and on rows of bfloat16 that are rounded at random when they are
// written: both in turn, on the rows that a text of Zipf-distributed words and its negatives read and write.
//
// The kernels are those of the core (included here), and so is the order of the step: rows of the next target, or
// group, are asked for while this one is computed. What is drawn is drawn before, so that rows alone are measured: the
// whole step of the trainer, with its draws and tables, gains less. Compiled and run by benchmarks.half, which says
// with what. Usage: half words dim targets_of_a_group threads rounds. Prints a line of JSON: ns of the processor a
// pair.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "math/kernels.cpp"
#include "math/panel.h"
#include "math/prefetch.h"
#include "train/group_products.cpp"

namespace muse {
namespace {

#include "half_rows.h"

constexpr const Kernels& kFloats = MUSE_JOIN(kKernels_, MUSE_ISA);
constexpr int kWindow = 5, kNegative = 5, kSentence = 20;
constexpr double kSample = 1e-3;
constexpr int kDrawn = 240000;  // targets of a thread's text
constexpr float kAlpha = 0.01f;
constexpr int kRowsAtOnce = 8;

// Processor time of this thread: other programs then disturb less.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The kernels for rows of one kind, and how long a row is.
struct Storage {
  Kernels kernels;
  int stride;  // floats
};

Storage storage_of(bool half, int dim) {
  Storage made{kFloats, padded(dim)};
  if (!half) return made;
  made.kernels.gather = half_gather;
  made.kernels.scatter_add = half_scatter_add;
  made.kernels.score_rows = half_score_rows;
  made.kernels.step_rows = half_step_rows;
  made.kernels.combine_add = half_combine_add;
  made.stride = padded(padded(dim) / 2);
  return made;
}

// Rows of small random numbers on large pages, as the trainer has them.
class Rows {
 public:
  Rows(std::int64_t words, int dim, bool half) : stride_(storage_of(half, dim).stride) {
    constexpr std::size_t kPage = std::size_t{2} << 20;
    const std::size_t bytes = (at(words * stride_) * sizeof(float) + kPage - 1) / kPage * kPage;
    data_ = static_cast<float*>(std::aligned_alloc(kPage, bytes));
    if (data_ == nullptr) std::abort();
#if defined(__linux__)
    madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    unsigned long long random = 1;
    auto* numbers = reinterpret_cast<std::uint16_t*>(data_);
    for (std::size_t i = 0; i < at(words * stride_) * 2; ++i) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      numbers[i] = static_cast<std::uint16_t>(0x3c00u | (random >> 49 & 0x80ffu));  // .008 to .03, either sign
    }
  }
  Rows(const Rows&) = delete;
  ~Rows() { std::free(data_); }
  float* row(std::int64_t word) const { return data_ + word * stride_; }

 private:
  const int stride_;
  float* data_ = nullptr;
};

struct Matrices {
  Storage storage;
  Rows u, v;
  Matrices(std::int64_t words, int dim, bool half)
      : storage(storage_of(half, dim)), u(words, dim, half), v(words, dim, half) {}
};

// Groups of targets, in the order of the text: the words of targets, collocates and negatives.
struct Work {
  struct Group {
    std::vector<Target> targets;
    std::vector<std::int32_t> words;    // of targets
    std::vector<std::int32_t> columns;  // of collocates, and behind them negatives
    int collocates = 0, pairs = 0;
  };
  std::vector<Group> groups;
};

class Zipf {
 public:
  Zipf(int words, double power) : upto_(at(words)) {
    double sum = 0.0;
    for (int i = 0; i < words; ++i) upto_[at(i)] = sum += std::pow(i + 1.0, -power);
  }
  double share(std::int32_t word) const {
    return (upto_[at(word)] - (word > 0 ? upto_[at(word - 1)] : 0.0)) / upto_.back();
  }
  template <typename Random>
  std::int32_t draw(Random& random) const {
    const double place = std::uniform_real_distribution<double>(0.0, upto_.back())(random);
    const auto found = std::upper_bound(upto_.begin(), upto_.end() - 1, place);
    return static_cast<std::int32_t>(found - upto_.begin());
  }

 private:
  std::vector<double> upto_;
};

class Text {
 public:
  Text(int words, unsigned seed) : random_(seed), words_(words, 1.0), negatives_(words, 0.75) {}

  Work draw(int groups, int size) {
    Work work;
    std::vector<std::int32_t> sentence;
    while (static_cast<int>(work.groups.size()) < groups) {
      sentence.clear();
      while (sentence.size() < kSentence) {
        const std::int32_t word = words_.draw(random_);
        const double often = words_.share(word) / kSample;
        if (std::uniform_real_distribution<double>()(random_) < std::sqrt(1.0 / often) + 1.0 / often)
          sentence.push_back(word);
      }
      for (int first = 0; first < kSentence; first += size) work.groups.push_back(group(sentence, first, size));
    }
    return work;
  }

 private:
  Work::Group group(const std::vector<std::int32_t>& sentence, int first, int size) {
    Work::Group made;
    const int last = std::min(first + size, kSentence);
    int base = kSentence, top = 0;
    for (int i = first; i < last; ++i) {
      const int window = std::uniform_int_distribution<int>(1, kWindow)(random_);
      const int low = std::max(0, i - window), high = std::min(kSentence - 1, i + window);
      made.targets.push_back({i, low, high + 1, i, high - low});
      made.words.push_back(sentence[at(i)]);
      made.pairs += high - low;
      base = std::min(base, low);
      top = std::max(top, high);
    }
    for (Target& t : made.targets) {
      t.first -= base;
      t.last -= base;
      t.self -= base;
    }
    made.collocates = top - base + 1;
    for (int p = base; p <= top; ++p) made.columns.push_back(sentence[at(p)]);
    const int count = size > 1 ? size : made.pairs * kNegative;
    for (int n = 0; n < count; ++n) made.columns.push_back(negatives_.draw(random_));
    if (size == 1) keep_different(made);
    return made;
  }

  // A target's own step reads and writes each row once.
  static void keep_different(Work::Group& made) {
    made.columns.erase(made.columns.begin() + made.targets.front().self);
    std::sort(made.columns.begin(), made.columns.end());
    made.columns.erase(std::unique(made.columns.begin(), made.columns.end()), made.columns.end());
  }

  std::mt19937_64 random_;
  const Zipf words_, negatives_;
};

// One thread's scratch, and its steps.
class Stepper {
 public:
  Stepper(const Matrices& matrices, int dim) : matrices_(matrices), dim_(padded(dim)) {}

  void run(const Work::Group& group, const Work::Group& next, bool together) {
    fetch(group, rows_, targets_);
    prefetch_.clear(matrices_.storage.stride);
    for (const std::int32_t word : next.words) prefetch_.add(matrices_.u.row(word));
    for (const std::int32_t word : next.columns) prefetch_.add(matrices_.v.row(word));
    together ? step_together(group) : step_alone();
  }

 private:
  void fetch(const Work::Group& group, std::vector<float*>& rows, std::vector<float*>& targets) const {
    rows.clear();
    targets.clear();
    for (const std::int32_t word : group.columns) rows.push_back(matrices_.v.row(word));
    for (const std::int32_t word : group.words) targets.push_back(matrices_.u.row(word));
  }

  void room(int targets, int columns) {
    reserve(a_, std::int64_t{targets} * dim_);
    reserve(delta_, std::int64_t{targets} * dim_);
    reserve(b_, std::int64_t{columns} * dim_);
    reserve(cells_, padded(targets * columns + kRowPad));
  }

  // As in represent_alone.cpp.
  void step_alone() {
    const Kernels& kernels = matrices_.storage.kernels;
    const int count = static_cast<int>(rows_.size());
    room(1, count);
    kernels.gather(targets_.data(), 1, dim_, a_.data());
    std::fill_n(delta_.begin(), dim_, 0.0f);
    prefetch_.spread((count + kRowsAtOnce - 1) / kRowsAtOnce, at(count));
    score(0, count);
    for (int first = 0; first < count; first += kRowsAtOnce) {
      const int some = std::min(kRowsAtOnce, count - first);
      errors(cells_.data() + first, some);
      if (first + kRowsAtOnce < count) score(first + kRowsAtOnce, count);
      prefetch_.advance();
      kernels.step_rows(a_.data(), cells_.data() + first, rows_.data() + first, prefetch_.take(at(some), a_.data()),
                        some, dim_, delta_.data());
    }
    kernels.scatter_add(targets_.data(), 1, dim_, delta_.data(), 1.0f);
  }

  void score(int first, int count) {
    matrices_.storage.kernels.score_rows(a_.data(), rows_.data() + first, std::min(kRowsAtOnce, count - first), dim_,
                                         cells_.data() + first);
  }

  // Scores become errors; which of them are labels does not matter to the time.
  void errors(float* cells, int count) const {
    kFloats.sigmoid(cells, count, cells);
    for (int c = 0; c < count; ++c) cells[c] = kAlpha * (static_cast<float>(c % (1 + kNegative) == 0) - cells[c]);
  }

  // As in represent_together.cpp.
  void step_together(const Work::Group& group) {
    const Kernels& kernels = matrices_.storage.kernels;
    const int targets = static_cast<int>(targets_.size()), columns = static_cast<int>(rows_.size());
    room(targets, columns);
    products_.lay_out(group.targets, group.collocates, columns, dim_);
    prefetch_.spread(products_.calls());
    kernels.gather(rows_.data(), columns, dim_, b_.data());
    kernels.gather(targets_.data(), targets, dim_, a_.data());
    std::fill_n(cells_.begin(), targets * columns, 0.0f);
    products_.scores(kFloats, a_.data(), b_.data(), cells_.data(), prefetch_);
    errors(cells_.data(), targets * columns);
    products_.combine_targets(kFloats, cells_.data(), b_.data(), delta_.data());
    kernels.scatter_add(targets_.data(), targets, dim_, delta_.data(), 1.0f);
    products_.step_columns(kernels, cells_.data(), a_.data(), rows_.data(), prefetch_);
  }

  const Matrices& matrices_;
  const int dim_;
  RowPrefetch prefetch_;
  GroupProducts products_;
  std::vector<float*> rows_, targets_;
  std::vector<float> a_, b_, delta_, cells_;
};

// Processor nanoseconds a pair of some threads at once, each on a text of its own.
double measure(const Matrices& matrices, const std::vector<Work>& works, int dim, bool together, double least) {
  std::vector<double> seconds(works.size()), pairs(works.size());
  std::vector<std::thread> pool;
  for (std::size_t t = 0; t < works.size(); ++t)
    pool.emplace_back([&, t] {
      Stepper stepper(matrices, dim);
      const auto& groups = works[t].groups;
      const double start = now();
      do {
        for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
          stepper.run(groups[g], groups[g + 1], together);
          pairs[t] += groups[g].pairs;
        }
        seconds[t] = now() - start;
      } while (seconds[t] < least);
    });
  for (std::thread& thread : pool) thread.join();
  double spent = 0.0, done = 0.0;
  for (std::size_t t = 0; t < works.size(); ++t) spent += seconds[t], done += pairs[t];
  return spent / done * 1e9;
}

void print(const char* name, std::vector<double>& values) {
  std::printf(", \"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf(i > 0 ? ", %.1f" : "%.1f", values[i]);
  std::printf("]");
}

struct Asked {
  int words, dim, size, threads, rounds, milliseconds;
};

void run(const Asked& asked) {
  const int targets = std::min(kDrawn, 1000 * asked.milliseconds);
  std::vector<Work> works;
  for (int t = 0; t < asked.threads; ++t)
    works.push_back(Text(asked.words, static_cast<unsigned>(t + 1)).draw(targets / asked.size + 2, asked.size));
  const Matrices floats(asked.words, asked.dim, false), halves(asked.words, asked.dim, true);
  std::vector<double> of_floats, of_halves;
  for (int round = 0; round < asked.rounds; ++round)
    for (int turn = 0; turn < 2; ++turn) {
      const bool half = (turn + round) % 2 == 1;
      (half ? of_halves : of_floats)
          .push_back(measure(half ? halves : floats, works, asked.dim, asked.size > 1, 1e-3 * asked.milliseconds));
    }
  std::printf("{\"words\": %d, \"dim\": %d, \"group\": %d, \"threads\": %d", asked.words, asked.dim, asked.size,
              asked.threads);
  print("float32", of_floats);
  print("bfloat16", of_halves);
  std::printf("}\n");
}

// What is wrong with the kernels for rows of bfloat16, beside those for floats; null: nothing.
const char* fault(int dim) {
  constexpr int kRows = 7, kTimes = 4096;
  const int stride = storage_of(true, dim).stride;
  const auto close = [](float a, float b, float relative) {
    return std::fabs(a - b) <= relative * std::fabs(b) + 1e-5f;
  };
  std::vector<float> whole(at(kRows * dim)), half(at(kRows * stride) + kRowPad), back(whole.size());
  std::vector<float> x(at(dim)), e(kRows + kRowPad), sums[2], cells[2];
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<float>(i * 37 % 255) / 128.0f - 1.0f;
  for (int d = 0; d < dim; ++d) x[at(d)] = static_cast<float>(d * 11 % 50) / 50.0f - 0.5f;
  for (int j = 0; j < kRows; ++j) e[at(j)] = 0.1f * static_cast<float>(j) - 0.3f;
  float *rows[kRows], *halves[kRows];
  for (int j = 0; j < kRows; ++j) {
    rows[j] = whole.data() + j * dim;
    halves[j] = half.data() + j * stride;
  }
  half_scatter_add(halves, kRows, dim, whole.data(), 1.0f);  // to zeros; all of it can be kept
  half_gather(halves, kRows, dim, back.data());
  if (back != whole) return "rows do not come back as they were";

  for (auto* of : {&sums[0], &sums[1]}) of->assign(at(dim), 0.0f);
  for (auto* of : {&cells[0], &cells[1]}) of->assign(kRows + kRowPad, 0.0f);
  kFloats.score_rows(x.data(), rows, kRows, dim, cells[0].data());
  half_score_rows(x.data(), halves, kRows, dim, cells[1].data());
  for (int j = 0; j < kRows; ++j)
    if (!close(cells[1][at(j)], cells[0][at(j)], 1e-4f)) return "scores differ";
  kFloats.step_rows(x.data(), e.data(), rows, rows, kRows, dim, sums[0].data());
  half_step_rows(x.data(), e.data(), halves, halves, kRows, dim, sums[1].data());
  kFloats.combine_add(e.data(), 1, kRows, kRows, 1, x.data(), dim, rows);
  half_combine_add(e.data(), 1, kRows, kRows, 1, x.data(), dim, halves);
  half_gather(halves, kRows, dim, back.data());
  for (int d = 0; d < dim; ++d)
    if (!close(sums[1][at(d)], sums[0][at(d)], 1e-4f)) return "sums of rows differ";
  for (std::size_t i = 0; i < back.size(); ++i)
    if (std::fabs(back[i] - whole[i]) > 0x1p-6f) return "rows that moved differ by more than is cut off";

  // Steps of a quarter of what separates neighbours: rounded to the nearest, they would be lost.
  std::fill(half.begin(), half.end(), 0.0f);
  std::fill(whole.begin(), whole.end(), 1.0f);
  half_scatter_add(halves, 1, dim, whole.data(), 1.0f);
  for (int i = 0; i < kTimes; ++i) half_scatter_add(halves, 1, dim, whole.data(), 0x1p-9f);
  half_gather(halves, 1, dim, back.data());
  double mean = 0.0;
  for (int d = 0; d < dim; ++d) mean += back[at(d)] / dim;
  return std::fabs(mean - (1.0 + kTimes * 0x1p-9)) < 0.25 ? nullptr : "what is rounded is not right on average";
}

}  // namespace
}  // namespace muse

int main(int argc, char** argv) {
  int numbers[6] = {};
  for (int i = 0; i < 6 && i + 1 < argc; ++i) numbers[i] = std::atoi(argv[i + 1]);
  for (const int number : numbers)
    if (number < 1) {
      std::fprintf(stderr, "usage: half words dim targets_of_a_group threads rounds milliseconds, all at least 1\n");
      return 2;
    }
  for (const int dim : {16, 112, 304})
    if (const char* wrong = muse::fault(dim)) {
      std::fprintf(stderr, "rows of %d numbers: %s\n", dim, wrong);
      return 1;
    }
  muse::run({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]});
}
