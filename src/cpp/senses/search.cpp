#include "senses/search.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "math/kernels.h"
#include "math/parallel.h"

namespace muse {
namespace {

constexpr std::int64_t kBlockRows = 64;      // rows scored at once: a panel that stays in the second-level cache
constexpr std::int64_t kBlockQueries = 64;   // queries scored at once against that panel
constexpr std::int64_t kFewQueries = 2;      // up to this many, reading rows where they lie beats copying them
constexpr std::int64_t kChunkRows = 4096;    // rows that a thread takes from the shared counter
constexpr double kFlopsPerThread = 2e6;      // below this a second thread costs more than it saves
constexpr double kByteFlopsPerThread = 1e8;  // the same with rows of bytes
constexpr std::int64_t kRowsPerHit = 16;     // of a search by bytes; with fewer of them, most would be scored
constexpr std::align_val_t kAlignment{64};

struct Hit {
  float score;
  std::int64_t row;
};

// A total order, so that neither threads nor heaps decide among equal scores.
bool better(const Hit& a, const Hit& b) { return a.score > b.score || (a.score == b.score && a.row < b.row); }

// The best `top` hits seen so far, the worst of them in front.
class BestHits {
 public:
  explicit BestHits(std::int64_t top) : top_(static_cast<std::size_t>(top)) {}

  void offer(Hit hit) {
    if (hit.score != hit.score) return;  // not a number
    if (hits_.size() < top_) {
      hits_.push_back(hit);
      std::push_heap(hits_.begin(), hits_.end(), better);
    } else if (better(hit, hits_.front())) {
      std::pop_heap(hits_.begin(), hits_.end(), better);
      hits_.back() = hit;
      std::push_heap(hits_.begin(), hits_.end(), better);
    }
  }

  // What a score must reach to be among them.
  float least() const { return hits_.size() < top_ ? -std::numeric_limits<float>::infinity() : hits_.front().score; }

  const std::vector<Hit>& hits() const { return hits_; }

 private:
  std::size_t top_;
  std::vector<Hit> hits_;
};

// Rows copied side by side, zeros beyond the dimension, as the kernels want them.
class Panel {
 public:
  Panel(std::int64_t rows, std::int64_t padded_dim)
      : padded_dim_(padded_dim),
        floats_(static_cast<std::size_t>(rows * padded_dim)),
        data_(static_cast<float*>(::operator new(floats_ * sizeof(float), kAlignment))) {
    std::fill_n(data_, floats_, 0.0f);
  }
  ~Panel() { ::operator delete(data_, kAlignment); }
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;

  void fill(const Matrix& matrix, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(data_ + i * padded_dim_, matrix.row(first + i), sizeof(float) * static_cast<std::size_t>(matrix.dim));
  }
  const float* row(std::int64_t i) const { return data_ + i * padded_dim_; }

 private:
  std::int64_t padded_dim_;
  std::size_t floats_;
  float* data_;
};

// What one thread owns.
struct Worker {
  Worker(const Matrix& matrix, std::int64_t num_queries, std::int64_t top)
      : block(kBlockRows, matrix.padded_dim()),
        scores(kBlockRows * kBlockQueries),
        likely(kBlockRows),
        best(static_cast<std::size_t>(num_queries), BestHits(top)) {}

  const Kernels& kernels = muse::kernels();
  Panel block;
  std::vector<float> scores;  // (queries of the block, rows of the block)
  std::vector<int> likely;
  std::vector<BestHits> best;
};

// Whether queries are scored together, as a matrix product: its sums are not those of one query to the last bit.
bool together(std::int64_t queries, const SearchOptions& options) {
  return queries > kFewQueries && options.bytes == nullptr;
}

// Scores of `count` rows for the queries [q0, q0 + q_count) into worker.scores, row by row of the queries.
void score_block(const Matrix& matrix, const Panel& queries, std::int64_t q0, std::int64_t q_count,
                 const SearchOptions& options, std::int64_t first, std::int64_t count, Worker& worker) {
  if (together(q_count, options)) {
    worker.kernels.scores(queries.row(q0), static_cast<int>(q_count), worker.block.row(0), static_cast<int>(count),
                          matrix.padded_dim(), worker.scores.data(), static_cast<int>(count));
    return;
  }
  float* score = worker.scores.data();
  for (std::int64_t q = q0; q < q0 + q_count; ++q)
    for (std::int64_t row = first; row < first + count; ++row)
      *score++ = worker.kernels.dot(queries.row(q), matrix.row(row), matrix.dim);
}

// Multiplies the scores by their scales, if there are any, and returns the largest that is a number.
float largest_of_scaled(float* score, const float* scale, std::int64_t count) {
  constexpr int kLanes = 16;  // side by side, without jumps
  float most[kLanes];
  std::fill_n(most, kLanes, -std::numeric_limits<float>::infinity());
  if (scale != nullptr)
    for (std::int64_t i = 0; i < count; ++i) score[i] *= scale[i];
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) most[lane] = score[i + lane] > most[lane] ? score[i + lane] : most[lane];
  for (; i < count; ++i) most[0] = score[i] > most[0] ? score[i] : most[0];
  for (const float one : most) most[0] = one > most[0] ? one : most[0];
  return most[0];
}

void search_block(const Matrix& matrix, const Panel& queries, std::int64_t num_queries, const SearchOptions& options,
                  std::int64_t first, std::int64_t count, Worker& worker) {
  if (together(num_queries, options)) worker.block.fill(matrix, first, count);
  for (std::int64_t q0 = 0; q0 < num_queries; q0 += kBlockQueries) {
    const std::int64_t q_count = std::min(kBlockQueries, num_queries - q0);
    score_block(matrix, queries, q0, q_count, options, first, count, worker);
    float* score = worker.scores.data();
    for (std::int64_t q = q0; q < q0 + q_count; ++q, score += count) {
      BestHits& best = worker.best[static_cast<std::size_t>(q)];
      if (largest_of_scaled(score, options.scale != nullptr ? options.scale + first : nullptr, count) < best.least())
        continue;  // as in most blocks, but for the first
      for (std::int64_t i = 0; i < count; ++i)
        if (options.keep == nullptr || options.keep[first + i] != 0) best.offer({score[i], first + i});
    }
  }
}

using ByteQueries = std::vector<ByteRows::Query>;

// The same where rows of bytes say which rows are worth it.
void search_likely(const Matrix& matrix, const Panel& queries, const ByteQueries& bytes, const SearchOptions& options,
                   std::int64_t first, std::int64_t count, Worker& worker) {
  for (std::size_t q = 0; q < bytes.size(); ++q) {
    BestHits& best = worker.best[q];
    const int found = bytes[q].find(worker.kernels, first, static_cast<int>(count), best.least(), worker.likely.data());
    for (int i = 0; i < found; ++i) {
      const std::int64_t row = first + worker.likely[static_cast<std::size_t>(i)];
      if (options.keep != nullptr && options.keep[row] == 0) continue;
      const float scale = options.scale != nullptr ? options.scale[row] : 1.0f;
      const float* query = queries.row(static_cast<std::int64_t>(q));
      best.offer({worker.kernels.dot(query, matrix.row(row), matrix.dim) * scale, row});
    }
  }
}

int count_workers(const Matrix& matrix, std::int64_t num_queries, int asked, double flops_per_thread) {
  const int wanted = asked > 0 ? asked : cores();
  const double flops = 2.0 * static_cast<double>(matrix.rows) * matrix.dim * static_cast<double>(num_queries);
  return flops < wanted * flops_per_thread ? std::max(1, static_cast<int>(flops / flops_per_thread)) : wanted;
}

void merge(const std::vector<std::unique_ptr<Worker>>& workers, std::int64_t query, std::int64_t top,
           std::int64_t* rows, float* scores) {
  std::vector<Hit> hits;
  for (const std::unique_ptr<Worker>& worker : workers) {
    const std::vector<Hit>& found = worker->best[static_cast<std::size_t>(query)].hits();
    hits.insert(hits.end(), found.begin(), found.end());
  }
  const std::int64_t count = std::min(top, static_cast<std::int64_t>(hits.size()));
  std::partial_sort(hits.begin(), hits.begin() + count, hits.end(), better);
  for (std::int64_t i = 0; i < top; ++i) {
    rows[i] = i < count ? hits[static_cast<std::size_t>(i)].row : -1;
    scores[i] = i < count ? hits[static_cast<std::size_t>(i)].score : -std::numeric_limits<float>::infinity();
  }
}

}  // namespace

void top_k(const Matrix& matrix, const Matrix& queries, const SearchOptions& options, std::int64_t* rows,
           float* scores) {
  const std::int64_t num_queries = queries.rows;
  const std::int64_t top = std::min(options.top, matrix.rows);
  Panel query_panel(num_queries, queries.padded_dim());
  query_panel.fill(queries, 0, num_queries);
  ByteQueries byte_queries;
  const bool by_bytes = options.bytes != nullptr && top * kRowsPerHit <= matrix.rows;
  for (std::int64_t q = 0; by_bytes && q < num_queries; ++q)
    byte_queries.emplace_back(*options.bytes, query_panel.row(q));

  std::vector<std::unique_ptr<Worker>> workers;
  std::mutex workers_mutex;
  const auto make_task = [&] {
    auto worker = std::make_unique<Worker>(matrix, num_queries, top);
    Worker* mine = worker.get();
    const std::lock_guard lock(workers_mutex);
    workers.push_back(std::move(worker));
    return [&, mine](std::int64_t first, std::int64_t last) {
      for (; first < last; first += kBlockRows) {
        const std::int64_t count = std::min(kBlockRows, last - first);
        if (by_bytes)
          search_likely(matrix, query_panel, byte_queries, options, first, count, *mine);
        else
          search_block(matrix, query_panel, num_queries, options, first, count, *mine);
      }
    };
  };
  const double flops_per_thread = by_bytes ? kByteFlopsPerThread : kFlopsPerThread;
  parallel_chunks(matrix.rows, kChunkRows, count_workers(matrix, num_queries, options.workers, flops_per_thread),
                  make_task);
  for (std::int64_t q = 0; q < num_queries; ++q)
    merge(workers, q, options.top, rows + q * options.top, scores + q * options.top);
}

}  // namespace muse
