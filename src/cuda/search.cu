// The host's side of the search for nearest rows: the matrix on the device, queries in panels, answers back.
#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "matrices.h"
#include "runtime.h"
#include "search.cuh"

namespace muse::cuda {

namespace {

constexpr std::int64_t kPanelQueries = 256;   // scored at once
constexpr std::int64_t kLeastSegment = 4096;  // rows of which a block finds the best; more where top is large
constexpr std::int64_t kBlocks = 2048;        // that keep a device busy

}  // namespace

struct CudaSearch::State {
  State(const Matrix& matrix, const float* scale, std::int64_t panel)
      : num_rows(matrix.rows), dim(matrix.dim), most_scores(panel) {
    if (num_rows >= INT_MAX)
      throw std::invalid_argument("on the device a search can go over at most 2^31 - 2 rows; use device='cpu'");
    ask_for(memory, rows, matrix);
    memory.ask(scales, scale == nullptr ? 0 : at(num_rows));
    memory.allocate();
    upload(rows, matrix);
    if (scale != nullptr) upload(scales, scale, at(num_rows));
    finish_uploads();
    while (bytes_of_hits(2 * most_capacity) <= at(shared_limit())) most_capacity *= 2;
  }

  std::int64_t most_hits() const { return most_capacity - kBestThreads; }

  void top_k(const Matrix& queries, std::int64_t end, const SearchOptions& options, std::int64_t* found,
             float* scores) {
    const std::lock_guard lock(mutex);
    const std::uint8_t* keep = nullptr;
    if (options.keep != nullptr) {
      std::uint8_t* mask = masks.of(at(end));
      upload(mask, options.keep, at(end));
      keep = mask;
    }
    const std::int64_t top = std::min(options.top, end);
    for (std::int64_t q = 0; q < queries.rows; q += kPanelQueries) {
      const Matrix some{queries.row(q), std::min(kPanelQueries, queries.rows - q), queries.dim, queries.stride};
      if (top > 0) search(some, end, top, keep);
      write(some.rows, top, options.top, found + q * options.top, scores + q * options.top);
    }
  }

 private:
  // Leaves the best of some queries, (queries, top), in `answers`.
  void search(const Matrix& some, std::int64_t end, std::int64_t top, const std::uint8_t* keep) {
    Rows there{query_rows.of(at(some.rows * rows.dim)), rows.dim};
    check(cudaMemset(there.data, 0, sizeof(float) * at(some.rows * rows.dim)), "clearing queries");
    upload(there, some);
    const std::int64_t panel = std::min(end, std::max<std::int64_t>(kTile, most_scores / some.rows));
    const std::int64_t segment = std::min(panel, std::max({kLeastSegment, 8 * top, panel * some.rows / kBlocks}));
    // The best so far, then those of each segment of a panel.
    const std::int64_t lists = 1 + (panel + segment - 1) / segment, stride = lists * top;
    Hit* best = listed.of(at(some.rows * stride));
    Hit* merged = answers.of(at(some.rows * top));
    float* scores = panels.of(at(some.rows * panel));
    finish_uploads();
    const int capacity = capacity_for(top);
    for (std::int64_t first = 0; first < end; first += panel) {
      const int count = static_cast<int>(std::min(panel, end - first));
      score({there.data, static_cast<int>(some.rows), rows, first, count, scores});
      const std::int64_t parts = (count + segment - 1) / segment, before = first == 0 ? 0 : 1;
      launch(keep_best<ScoredRows>, dim3(static_cast<unsigned>(parts), static_cast<unsigned>(some.rows)), kBestThreads,
             bytes_of_hits(capacity), stream, ScoredRows{scores, first, count, scales, keep}, std::int64_t{count},
             segment, capacity, static_cast<int>(top), best + before * top, stride);
      const std::int64_t hits = (before + parts) * top;
      const bool done = first + panel >= end;
      launch(keep_best<ListedHits>, dim3(1, static_cast<unsigned>(some.rows)), kBestThreads, bytes_of_hits(capacity),
             stream, ListedHits{best, stride}, hits, hits, capacity, static_cast<int>(top), done ? merged : best,
             done ? top : stride);
    }
    stream.wait();
  }

  void score(const Panel& panel) const {
    if (panel.num_queries > kFewQueries || rows.dim > kLongestRow) {
      launch(score_tiles, dim3(blocks_for(panel.num_rows, kTile), blocks_for(panel.num_queries, kTile)), kTileThreads,
             bytes_of_tiles(), stream, panel);
      return;
    }
    with_quads(rows.dim, [&](auto quads) {
      launch(score_rows<decltype(quads)::value>, dim3(blocks_for(panel.num_rows, kWarps)), kThreads, 0, stream, panel);
    });
  }

  // A few times `top`, so that sorting is rare.
  int capacity_for(std::int64_t top) const {
    std::int64_t capacity = 1024;
    while (capacity < most_capacity && capacity < 2 * top + 2 * kBestThreads) capacity *= 2;
    return static_cast<int>(capacity);
  }

  void write(std::int64_t queries, std::int64_t top, std::int64_t wanted, std::int64_t* found, float* scores) {
    std::vector<Hit> hits(at(queries * top));
    if (!hits.empty())
      check(cudaMemcpy(hits.data(), answers.of(0), sizeof(Hit) * hits.size(), cudaMemcpyDeviceToHost),
            "copying answers from the device");
    std::fill_n(found, queries * wanted, -1);
    std::fill_n(scores, queries * wanted, -std::numeric_limits<float>::infinity());
    for (std::int64_t q = 0; q < queries; ++q)
      for (std::int64_t i = 0; i < top && hits[at(q * top + i)].row != INT_MAX; ++i) {
        found[q * wanted + i] = hits[at(q * top + i)].row;
        scores[q * wanted + i] = hits[at(q * top + i)].score;
      }
  }

 public:
  const std::int64_t num_rows;
  const int dim;

 private:
  const std::int64_t most_scores;
  DeviceMemory memory{"searching on the device", ""};
  Rows rows;
  const float* scales = nullptr;
  std::int64_t most_capacity = 1024;  // hits in shared memory
  Buffer<std::uint8_t> masks{"searching on the device"};
  Buffer<float> query_rows{"searching on the device"}, panels{"searching on the device"};
  Buffer<Hit> listed{"searching on the device"}, answers{"searching on the device"};
  Stream stream;
  std::mutex mutex;
};

CudaSearch::CudaSearch(const Matrix& matrix, const float* scale, std::int64_t panel)
    : state_(std::make_unique<State>(matrix, scale, panel)) {}
CudaSearch::~CudaSearch() = default;
std::int64_t CudaSearch::rows() const { return state_->num_rows; }
int CudaSearch::dim() const { return state_->dim; }
std::int64_t CudaSearch::most_hits() const { return state_->most_hits(); }
void CudaSearch::top_k(const Matrix& queries, std::int64_t rows, const SearchOptions& options, std::int64_t* found,
                       float* scores) const {
  state_->top_k(queries, rows, options, found, scores);
}

}  // namespace muse::cuda
