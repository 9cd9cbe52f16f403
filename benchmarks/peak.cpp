// What this machine can do at most: fused multiply-adds a second on registers alone, the bandwidth of memory, and that
// of rows of a matrix which are read and written in random order, as training does.
//
// Compiled by benchmarks.throughput with the flags of the instruction set in use, and run in the same round as what it
// is compared with. Prints one line of JSON. Usage: peak [threads]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
// Independent sums: more than latency times units, fewer than registers.
#if defined(__aarch64__)
constexpr int kSums = 24;
#else
constexpr int kSums = kLanes == 4 ? 12 : 14;
#endif
constexpr double kSeconds = 0.15;  // of each measurement
constexpr int kRounds = 5;         // the best counts: a limit is what nothing else disturbs

typedef float Vector __attribute__((vector_size(kLanes * 4)));

// Processor time of this thread: other programs then disturb less.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Multiply-adds on registers; returns GFLOP/s (a multiply-add is two).
double multiply_adds(float seed) {
  Vector sums[kSums], factor{}, term{};
  factor += 0.999f * seed;
  term += 0.001f * seed;
  for (int i = 0; i < kSums; ++i) sums[i] = term * static_cast<float>(i);
  constexpr int kInner = 100000;
  double start = now(), seconds = 0.0;
  long long rounds = 0;
  do {
    for (int n = 0; n < kInner; ++n)
      for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + term;
    ++rounds;
    seconds = now() - start;
  } while (seconds < kSeconds);
  Vector total{};
  for (int i = 0; i < kSums; ++i) total += sums[i];
  volatile float keep = total[0];
  (void)keep;
  return 2.0 * kLanes * kSums * kInner * static_cast<double>(rounds) / seconds / 1e9;
}

// a = b + s c over arrays far larger than any cache; returns GB/s of the three streams.
double triad() {
  constexpr std::size_t kCount = 12u << 20;  // 48 MB each
  std::vector<float> a(kCount, 1.0f), b(kCount, 2.0f), c(kCount, 3.0f);
  double start = now(), seconds = 0.0;
  long long rounds = 0;
  do {
    const float s = 0.5f + static_cast<float>(rounds);
    for (std::size_t i = 0; i < kCount; ++i) a[i] = b[i] + s * c[i];
    ++rounds;
    seconds = now() - start;
  } while (seconds < kSeconds);
  volatile float keep = a[kCount / 2];
  (void)keep;
  return 3.0 * sizeof(float) * static_cast<double>(kCount) * static_cast<double>(rounds) / seconds / 1e9;
}

// Random rows of 1.2 KB (dimension 300) of a matrix of some MB on 2 MB pages, each read, changed and written; the
// memory is asked for each of them eight rows ahead. Returns GB/s read; as much is written.
double random_rows(std::size_t megabytes) {
  constexpr std::size_t kPage = std::size_t{2} << 20, kLine = 16 / kLanes, kRow = 19 * kLine, kAhead = 8, kMany = 4096;
  const std::size_t bytes = (megabytes << 20) / kPage * kPage, rows = bytes / sizeof(Vector) / kRow;
  auto* matrix = static_cast<Vector*>(std::aligned_alloc(kPage, bytes));
#if defined(__linux__)
  madvise(matrix, bytes, MADV_HUGEPAGE);
#endif
  for (std::size_t i = 0; i < bytes / sizeof(Vector); ++i) matrix[i] = Vector{} + 1.0f;
  std::vector<Vector*> order(kMany + kAhead);
  unsigned long long random = 1;
  double spent = 0.0;
  long long rounds = 0;
  do {
    for (Vector*& row : order) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      row = matrix + (random >> 33) % rows * kRow;
    }
    const double start = now();
    for (std::size_t r = 0; r < kMany; ++r) {
      Vector* row = order[r];
      const Vector* ahead = order[r + kAhead];
      for (std::size_t line = 0; line < kRow; line += kLine) {
        __builtin_prefetch(ahead + line, 0, 2);
        for (std::size_t i = line; i < line + kLine; ++i) row[i] *= 0.999f;
      }
    }
    spent += now() - start;
    ++rounds;
  } while (spent < kSeconds);
  std::free(matrix);
  return static_cast<double>(sizeof(Vector) * kRow * kMany) * static_cast<double>(rounds) / spent / 1e9;
}

// The sum over threads of one measurement, in the best of kRounds rounds.
template <typename Measure>
double best(int threads, const Measure& measure) {
  double top = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> found(static_cast<std::size_t>(threads));
    std::vector<std::thread> pool;
    for (double& one : found) pool.emplace_back([&] { one = measure(); });
    double total = 0.0;
    for (std::thread& thread : pool) thread.join();
    for (const double one : found) total += one;
    top = total > top ? total : top;
  }
  return top;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 && std::atoi(argv[1]) > 0 ? std::atoi(argv[1]) : 1;
  const float one = argc > 2 ? 2.0f : 1.0f;  // not known to the compiler
  const double gflops = best(threads, [&] { return multiply_adds(one); });
  const double gigabytes = best(threads, [] { return triad(); });
  const double near = best(threads, [] { return random_rows(16); });
  const double far = best(threads, [] { return random_rows(256); });
  std::printf(
      "{\"threads\": %d, \"lanes\": %d, \"gflops\": %.1f, \"triad_gb_per_second\": %.2f, "
      "\"rows_gb_per_second\": {\"16\": %.2f, \"256\": %.2f}}\n",
      threads, kLanes, gflops, gigabytes, near, far);
}
