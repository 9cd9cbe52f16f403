// The host's side of training on the device: the model there and back, slices of the corpus streamed to it, waves of
// batches started.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "learn.cuh"
#include "matrices.h"
#include "representation.cuh"
#include "runtime.h"
#include "scan.cuh"
#include "select.cuh"
#include "slices.h"
#include "stored.cuh"

namespace muse::cuda {

namespace {

constexpr int kMostWorkers = 65535;  // the grid's second dimension

Knobs knobs_of(const Options& o, const Model& model) {
  const bool collocates_choose = !model.word_collocation() || o.formulation != Formulation::kOneSided;
  return {o, o.selection, o.group_size > 1 ? o.shared_negatives() : 0, model.num_senses() > model.num_words,
          collocates_choose ? o.window : 0};
}

// One run on the device.
class Run {
 public:
  Run(const Trainer& plan, int epoch, std::int64_t first, std::int64_t last, int workers, std::int64_t slice_tokens,
      bool bfloat16)
      : plan_(plan),
        options_(plan.options()),
        epoch_(epoch),
        workers_(std::clamp(workers, 1, kMostWorkers)),
        work_{knobs_of(options_, plan.model()), Draws(options_.seed, at(epoch)), {}, {}, {}, {}},
        planner_(plan, epoch, work_.knobs.halo, workers_),
        bfloat16_(bfloat16) {
    check_limits();
    slices_ = planner_.plan(first, last, slice_tokens);
    if (slices_.empty()) return;
    ask_for_memory();
    memory_.allocate();
    upload_all();
    for (Stage& stage : stages_) stage.pin(planner_.most_tokens(), planner_.most_sentences(), planner_.most_batches());
  }

  RunStats go(const std::function<Tick(std::int64_t)>& tick) {
    RunStats stats;
    stats.sense_use.assign(at(plan_.model().num_senses()), 0);
    if (slices_.empty()) return stats;
    stats.next_batch = slices_.front().first;
    std::size_t next = 0;
    for (; next < slices_.size() && !stats.stopped && !stats.diverged; ++next) {
      Stage& stage = stages_[next % 2];
      finish(stage, stats, tick);
      if (stats.stopped || stats.diverged) break;
      start(slices_[next], stage);
      if (!ask(stats, tick)) stats.stopped = true;
    }
    finish(stages_[next % 2], stats, tick);
    finish(stages_[(next + 1) % 2], stats, tick);
    download_all(stats);
    return stats;
  }

 private:
  // What holds one of the two slices that are on the device.
  struct Stage {
    std::int32_t* tokens = nullptr;
    int* sentences = nullptr;
    BatchPlan* batches = nullptr;
    BatchStats* stats = nullptr;
    std::optional<Pinned<std::int32_t>> host_tokens;
    std::optional<Pinned<int>> host_sentences;
    std::optional<Pinned<BatchPlan>> host_batches;
    std::optional<Pinned<BatchStats>> host_stats;
    Event copied, done;
    const SlicePlan* slice = nullptr;  // under way

    void pin(std::int64_t most_tokens, std::int64_t most_sentences, std::int64_t most_batches) {
      host_tokens.emplace(at(most_tokens));
      host_sentences.emplace(at(most_sentences + 1));
      host_batches.emplace(at(most_batches));
      host_stats.emplace(at(most_batches));
    }
  };

  // --- limits ---

  void check_limits() const {
    const Model& model = plan_.model();
    if (model.sense.dim > kLongestRow || model.context.dim > kLongestRow)
      throw std::invalid_argument("on the device vector_size and selection_size can be at most 1024; use device='cpu'");
    if (model.num_senses() > (std::int64_t{1} << 31) - 1)
      throw std::invalid_argument("on the device a model can have at most 2^31 - 1 senses; use device='cpu'");
    const std::int64_t needed = bytes_of_representation(work_.knobs, model.sense.padded_dim());
    if (needed > shared_limit())
      throw std::invalid_argument("the targets of a group with their columns need " + std::to_string(needed) +
                                  " bytes of shared memory, and a block of this device has " +
                                  std::to_string(shared_limit()) +
                                  "; lower group_size, negative, window or vector_size, or use device='cpu'");
  }

  // --- memory ---

  void ask_for_memory() {
    const Model& model = plan_.model();
    for (const auto& [device, host] : selectors()) ask_for(memory_, *device, host);
    for (const auto& [device, host] : representations()) copies_.ask_for(memory_, *device, host);
    work_.model.word_collocation = model.word_collocation();
    memory_.ask(work_.model.sense_offset, at(model.num_words + 1));
    memory_.ask(work_.tables.keep, at(model.num_words));
    memory_.ask(work_.tables.context_weights, plan_.context_weights().size());
    memory_.ask(work_.tables.distance, options_.selection.distance.size());
    memory_.ask(work_.tables.alias, plan_.negatives().table().size());
    work_.tables.alias_size = plan_.negatives().table().size();
    for (Stage& stage : stages_) {
      memory_.ask(stage.tokens, at(planner_.most_tokens()));
      memory_.ask(stage.sentences, at(planner_.most_sentences() + 1));
      memory_.ask(stage.batches, at(planner_.most_batches()));
      memory_.ask(stage.stats, at(planner_.most_batches()));
    }
    Slice& slice = work_.slice;
    const std::size_t n = at(planner_.most_tokens());
    for (int** array : {&slice.kept_before, &slice.slot_before, &slice.score_before}) memory_.ask(*array, n + 1);
    for (int** array : {&slice.word, &slice.token, &slice.window, &slice.sentence, &slice.sense, &slice.chooser})
      memory_.ask(*array, n);
    memory_.ask(slice.sense_use, at(model.num_senses()));
    memory_.ask(sums_, blocks_for(planner_.most_tokens() + 1, kScanThreads));
    if (work_.knobs.any_choice) ask_for_wave();
  }

  void ask_for_wave() {
    const Model& model = plan_.model();
    const bool factorized = options_.formulation == Formulation::kFactorized;
    Wave& wave = work_.wave;
    const std::size_t slots = at(planner_.most_positions()), floats = slots * at(model.context.padded_dim());
    const std::size_t scores = slots * at(planner_.most_senses());
    memory_.ask(wave.context, floats);
    memory_.ask(wave.total, slots);
    memory_.ask(wave.moves, slots);
    memory_.ask(wave.input_gradient, learns() && options_.train_context_vectors ? floats : 0);
    for (float** array : {&wave.forward, &wave.backward, &wave.forward_gradient, &wave.backward_gradient})
      memory_.ask(*array, factorized ? slots : 0);
    memory_.ask(wave.scores, scores);
    memory_.ask(wave.gradient, scores);
    const bool posterior = options_.selection_update == SelectionUpdate::kPosterior;
    memory_.ask(wave.evidence, posterior ? scores : 0);
    memory_.ask(wave.scratch, posterior ? 2 * scores : 0);
    const bool bound = options_.max_norm > 0.0f && learns();
    memory_.ask(wave.context_moved, bound && options_.train_context_vectors ? at(model.num_words) : 0);
    memory_.ask(wave.selection_moved, bound ? at(model.num_senses()) : 0);
    memory_.ask(wave.state_moved, bound && factorized ? at(model.num_words) : 0);
  }

  bool learns() const { return work_.knobs.any_choice && options_.selection_update != SelectionUpdate::kNone; }

  // The matrices of the model on the device and here; those of the state values are empty unless they are trained.
  std::array<std::pair<Rows*, Matrix>, 4> selectors() {
    const Model& host = plan_.model();
    DeviceModel& device = work_.model;
    const bool factorized = options_.formulation == Formulation::kFactorized;
    return {{{&device.context, host.context},
             {&device.selection, host.selection},
             {&device.forward, factorized ? host.forward : Matrix{}},
             {&device.backward, factorized ? host.backward : Matrix{}}}};
  }
  std::array<std::pair<StoredRows*, Matrix>, 2> representations() {
    return {{{&work_.model.sense, plan_.model().sense}, {&work_.model.collocation, plan_.model().collocation}}};
  }

  void upload_all() {
    for (const auto& [device, host] : selectors()) upload(*device, host);
    for (const auto& [device, host] : representations()) copies_.upload(*device, host);
    const Model& model = plan_.model();
    upload(work_.model.sense_offset, model.sense_offset, at(model.num_words + 1));
    upload(work_.tables.keep, plan_.keep().data(), plan_.keep().size());
    upload(work_.tables.context_weights, plan_.context_weights().data(), plan_.context_weights().size());
    upload(work_.tables.distance, options_.selection.distance.data(), options_.selection.distance.size());
    upload(work_.tables.alias, plan_.negatives().table().data(), plan_.negatives().table().size());
    finish_uploads();
  }

  void download_all(RunStats& stats) {
    compute_.wait();
    for (const auto& [device, host] : selectors()) download(host, *device);
    for (const auto& [device, host] : representations()) copies_.download(host, *device);
    static_assert(sizeof(unsigned long long) == sizeof(std::int64_t));
    check(cudaMemcpy(stats.sense_use.data(), work_.slice.sense_use, sizeof(std::int64_t) * stats.sense_use.size(),
                     cudaMemcpyDeviceToHost),
          "copying counts from the device");
  }

  // --- slices ---

  // Sends a slice to the device and starts all of its work there.
  void start(const SlicePlan& plan, Stage& stage) {
    const Corpus& corpus = plan_.corpus();
    const std::int64_t origin = plan.tokens.first, count = plan.tokens.last - origin;
    std::memcpy(stage.host_tokens->data(), corpus.tokens().data() + origin, sizeof(std::int32_t) * at(count));
    const auto [first, last] = planner_.sentences_of(plan);
    for (std::int64_t s = first; s <= last; ++s)
      (*stage.host_sentences)[at(s - first)] =
          static_cast<int>(std::clamp(corpus.offsets()[at(s)], origin, plan.tokens.last) - origin);
    for (std::int64_t b = plan.first; b < plan.last; ++b)
      (*stage.host_batches)[at(b - plan.first)] = {static_cast<int>(plan_.boundaries()[at(b)] - origin),
                                                   static_cast<int>(plan_.boundaries()[at(b + 1)] - origin),
                                                   plan_.alpha_at(epoch_, b), plan_.selection_alpha_at(epoch_, b)};
    const std::size_t batches = at(plan.last - plan.first);
    copy_async(stage.tokens, stage.host_tokens->data(), at(count), cudaMemcpyHostToDevice, copy_);
    copy_async(stage.sentences, stage.host_sentences->data(), at(last - first + 1), cudaMemcpyHostToDevice, copy_);
    copy_async(stage.batches, stage.host_batches->data(), batches, cudaMemcpyHostToDevice, copy_);
    check(cudaMemsetAsync(stage.stats, 0, sizeof(BatchStats) * batches, copy_), "clearing counts");
    stage.copied.record(copy_);
    stage.copied.hold(compute_);

    Slice& slice = work_.slice;
    slice.tokens = stage.tokens;
    slice.first_token = origin;
    slice.num_tokens = static_cast<int>(count);
    slice.sentences = stage.sentences;
    slice.num_sentences = static_cast<int>(last - first);
    slice.batches = stage.batches;
    slice.num_batches = static_cast<int>(batches);
    slice.stats = stage.stats;
    const unsigned blocks = blocks_for(count + 1, kScanThreads);
    const std::size_t shared = sizeof(Counts) * (kScanThreads / kWarp);
    launch(count_tokens, dim3(blocks), kScanThreads, shared, compute_, work_, sums_);
    launch(add_up_blocks, dim3(1), kScanThreads, shared, compute_, sums_, static_cast<int>(blocks));
    launch(place_tokens, dim3(blocks), kScanThreads, shared, compute_, work_, static_cast<const Counts*>(sums_));
    for (const SlicePlan::WavePlan& wave : plan.waves) start_wave(plan, wave);
    copy_async(stage.host_stats->data(), stage.stats, batches, cudaMemcpyDeviceToHost, compute_);
    stage.done.record(compute_);
    stage.slice = &plan;
  }

  void start_wave(const SlicePlan& slice, const SlicePlan::WavePlan& plan) {
    work_.wave.first_batch = static_cast<int>(plan.first - slice.first);
    work_.wave.num_batches = static_cast<int>(plan.last - plan.first);
    const dim3 slots(blocks_for(plan.positions, kWarps)), places(blocks_for(plan.places, kWarps));
    const int selection_dim = work_.model.context.dim;
    if (work_.knobs.any_choice)
      with_quads(selection_dim, [&](auto quads) {
        launch(select_senses<decltype(quads)::value>, slots, kThreads, 0, compute_, work_);
      });
    represent(plan);
    if (!learns()) return;
    launch(read_gradients, slots, kThreads, 0, compute_, work_);
    if (options_.train_context_vectors)
      with_quads(selection_dim, [&](auto quads) {
        launch(move_context<decltype(quads)::value>, places, kThreads, 0, compute_, work_);
      });
    launch(move_selection, slots, kThreads, 0, compute_, work_);
    if (options_.max_norm <= 0.0f) return;
    launch(cap_selection, slots, kThreads, 0, compute_, work_);
    if (options_.train_context_vectors) launch(cap_context, places, kThreads, 0, compute_, work_);
  }

  void represent(const SlicePlan::WavePlan& plan) {
    if (bfloat16_)
      start_representation<Bfloat16>(work_, plan.longest, compute_);
    else
      start_representation<float>(work_, plan.longest, compute_);
  }

  // Waits for a stage's slice, if one is under way, and adds up what it did.
  void finish(Stage& stage, RunStats& stats, const std::function<Tick(std::int64_t)>& tick) {
    if (stage.slice == nullptr) return;
    while (!stage.done.has_come()) {
      if (!ask(stats, tick)) stats.stopped = true;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const SlicePlan& slice = *stage.slice;
    stage.slice = nullptr;
    for (std::size_t b = 0; b < at(slice.last - slice.first); ++b) {
      const BatchStats& s = (*stage.host_stats)[b];
      StepStats one;
      one.targets = static_cast<std::int64_t>(s.targets);
      one.pairs = static_cast<std::int64_t>(s.pairs);
      one.reward = s.reward;
      one.loss = s.loss;
      one.loss_pairs = static_cast<std::int64_t>(s.loss_pairs);
      one.entropy = s.entropy;
      one.entropy_targets = static_cast<std::int64_t>(s.entropy_targets);
      one.diverged = s.diverged != 0;
      stats.diverged = stats.diverged || !one.finite();
      stats.step.add(one.rounded());
    }
    stats.tokens += plan_.boundaries()[at(slice.last)] - plan_.boundaries()[at(slice.first)];
    stats.next_batch = slice.last;
  }

  // Calls tick about ten times a second; false: it asked to stop.
  bool ask(const RunStats& stats, const std::function<Tick(std::int64_t)>& tick) {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(100)) return true;
    asked_ = now;
    return tick(stats.tokens) == Tick::kGoOn;
  }

  const Trainer& plan_;
  const Options& options_;
  const int epoch_, workers_;
  std::vector<SlicePlan> slices_;
  Work work_;
  SlicePlanner planner_;
  Counts* sums_ = nullptr;
  DeviceMemory memory_{"training on the device",
                       "lower vector_size or senses, keep fewer words with a higher min_count or max_final_vocab, or "};
  Stage stages_[2];
  Stream copy_, compute_;
  const bool bfloat16_;
  StoredCopies copies_{bfloat16_, compute_};
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

}  // namespace

CudaTrainer::CudaTrainer(const Model& model, Corpus corpus, std::vector<std::int64_t> word_counts,
                         const Options& options, double sample, double ns_exponent, std::vector<float> context_weights)
    : plan_(model, std::move(corpus), std::move(word_counts), options, sample, ns_exponent,
            std::move(context_weights)) {}

RunStats CudaTrainer::run(int epoch, std::int64_t first, std::int64_t last, int workers,
                          const std::function<Tick(std::int64_t)>& tick) {
  if (first < 0 || first > last || last > num_batches()) throw std::invalid_argument("batches out of range");
  RunStats stats = Run(plan_, epoch, first, last, workers, slice_tokens, bfloat16).go(tick);
  if (first == last) stats.next_batch = first;
  return stats;
}

std::string missing() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  cudaGetLastError();  // or the next launch would be blamed for it
  if (error == cudaErrorInsufficientDriver || error == cudaErrorStubLibrary) return "driver";
  if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0)) {
    int version = 0;
    return cudaDriverGetVersion(&version) != cudaSuccess || version == 0 ? "driver" : "device";
  }
  if (error != cudaSuccess) return std::string("CUDA cannot be used: ") + cudaGetErrorString(error);
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, count_tokens) == cudaSuccess) return "";
  cudaGetLastError();
  return "this build has no code for the device (" + describe_device() + "); set CMAKE_CUDA_ARCHITECTURES";
}

std::string describe_device() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "reading the device's properties");
  return std::string(properties.name) + ", " + size_in_words(properties.totalGlobalMem) + ", " +
         std::to_string(properties.multiProcessorCount) + " multiprocessors, compute capability " +
         std::to_string(properties.major) + "." + std::to_string(properties.minor);
}

}  // namespace muse::cuda
