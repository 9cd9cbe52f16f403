// The host's side of selection with a trained model: P and Q on the device, tokens streamed to it, choices back.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "choose.cuh"
#include "matrices.h"
#include "runtime.h"

namespace muse::cuda {

namespace {

// What holds the tokens of a chunk, with their neighbours, there and here.
struct Stage {
  std::int32_t* tokens = nullptr;
  int* sentences = nullptr;
  Chosen chosen{};
  std::optional<Pinned<std::int32_t>> host_tokens, host_sense;
  std::optional<Pinned<int>> host_sentences;
  std::optional<Pinned<float>> host_probability, host_margin;
  Stream stream;
  std::int64_t first = 0, count = 0;  // tokens under way
  int before = 0;                     // neighbours in front of them

  void ask(DeviceMemory& memory, std::size_t tokens_at_once) {
    memory.ask(tokens, tokens_at_once);
    memory.ask(sentences, tokens_at_once + 1);
    memory.ask(chosen.sense, tokens_at_once);
    memory.ask(chosen.probability, tokens_at_once);
    memory.ask(chosen.margin, tokens_at_once);
  }
  void pin(std::size_t tokens_at_once) {
    host_tokens.emplace(tokens_at_once);
    host_sentences.emplace(tokens_at_once + 1);
    host_sense.emplace(tokens_at_once);
    host_probability.emplace(tokens_at_once);
    host_margin.emplace(tokens_at_once);
  }
};

Knobs knobs_of(const SelectionOptions& options) {
  Knobs k{};
  k.context = options;
  k.context.full_text = true;
  return k;
}

template <typename T>
void take(const Pinned<T>& from, std::int64_t count, T* to, std::int64_t first) {
  if (to != nullptr) std::memcpy(to + first, from.data(), sizeof(T) * at(count));
}

}  // namespace

struct CudaSelector::State {
  State(const SelectorParts& parts, std::int64_t chunk_tokens)
      : chunk(chunk_tokens), reach(parts.options.window), temperature(parts.temperature), work{knobs_of(parts.options),
                                                                                               Draws(0, 0),
                                                                                               {},
                                                                                               {},
                                                                                               {},
                                                                                               {}} {
    const Model& model = parts.model;
    if (model.context.dim > kLongestRow)
      throw std::invalid_argument("on the device selection_size can be at most 1024; use device='cpu'");
    ask_for(memory, work.model.context, model.context);
    ask_for(memory, work.model.selection, model.selection);
    memory.ask(work.model.sense_offset, at(model.num_words + 1));
    memory.ask(work.tables.context_weights, parts.weights.size());
    memory.ask(work.tables.distance, parts.options.distance.size());
    memory.ask(prior, parts.prior.size());
    const std::size_t tokens_at_once = at(chunk + 2 * reach);
    for (Stage& stage : stages) stage.ask(memory, tokens_at_once);
    memory.allocate();
    upload(work.model.context, model.context);
    upload(work.model.selection, model.selection);
    upload(work.model.sense_offset, model.sense_offset, at(model.num_words + 1));
    upload(work.tables.context_weights, parts.weights.data(), parts.weights.size());
    upload(work.tables.distance, parts.options.distance.data(), parts.options.distance.size());
    upload(prior, parts.prior.data(), parts.prior.size());
    finish_uploads();
    for (Stage& stage : stages) stage.pin(tokens_at_once);
  }

  // Sends tokens [begin, end) with their neighbours, and starts all of the work on them.
  void start(Stage& stage, const Contexts& contexts, std::int64_t begin, std::int64_t end) {
    const std::int64_t low = std::max(contexts.offsets.front(), begin - reach);
    const std::int64_t high = std::min(contexts.offsets.back(), end + reach);
    stage.first = begin;
    stage.count = end - begin;
    stage.before = static_cast<int>(begin - low);
    std::memcpy(stage.host_tokens->data(), contexts.tokens.data() + low, sizeof(std::int32_t) * at(high - low));
    const int sentences = place_sentences(stage, contexts, low, high);
    copy_async(stage.tokens, stage.host_tokens->data(), at(high - low), cudaMemcpyHostToDevice, stage.stream);
    copy_async(stage.sentences, stage.host_sentences->data(), at(sentences + 1), cudaMemcpyHostToDevice, stage.stream);
    Work mine = work;
    mine.slice.tokens = stage.tokens;
    mine.slice.num_tokens = static_cast<int>(high - low);
    mine.slice.sentences = stage.sentences;
    mine.slice.num_sentences = sentences;
    const Range tokens{stage.before, static_cast<int>(end - low)};
    with_quads(work.model.context.dim, [&](auto quads) {
      launch(choose_senses<decltype(quads)::value>, dim3(blocks_for(stage.count, kWarps)), kThreads, 0, stage.stream,
             mine, tokens, temperature, prior, stage.chosen);
    });
    const auto fetch = [&](const auto& to, const auto* from) {
      copy_async(to->data(), from + stage.before, at(stage.count), cudaMemcpyDeviceToHost, stage.stream);
    };
    fetch(stage.host_sense, stage.chosen.sense);
    fetch(stage.host_probability, stage.chosen.probability);
    fetch(stage.host_margin, stage.chosen.margin);
  }

  // Where the sentences of tokens [low, high) begin among them, and the end; how many there are. Empty ones are left
  // out.
  static int place_sentences(const Stage& stage, const Contexts& contexts, std::int64_t low, std::int64_t high) {
    const auto& offsets = contexts.offsets;
    int* begins = stage.host_sentences->data();
    int count = 0;
    begins[0] = 0;
    for (auto next = std::upper_bound(offsets.begin(), offsets.end(), low); next != offsets.end() && *next < high;
         ++next)
      if (const int begin = static_cast<int>(*next - low); begin > begins[count]) begins[++count] = begin;
    begins[++count] = static_cast<int>(high - low);
    return count;
  }

  // Waits for what is under way, and copies the choices out.
  static void finish(Stage& stage, const Choices& choices) {
    stage.stream.wait();
    take(*stage.host_sense, stage.count, choices.sense, stage.first);
    take(*stage.host_probability, stage.count, choices.probability, stage.first);
    take(*stage.host_margin, stage.count, choices.margin, stage.first);
    stage.count = 0;
  }

  void select(const Contexts& contexts, const Choices& choices) {
    const std::lock_guard lock(mutex);
    for (Stage& stage : stages) {  // a call that failed may have left something
      stage.stream.wait();
      stage.count = 0;
    }
    Stage* stage = stages;
    for (std::int64_t begin = contexts.offsets.front(); begin < contexts.offsets.back(); begin += chunk) {
      finish(*stage, choices);
      start(*stage, contexts, begin, std::min(contexts.offsets.back(), begin + chunk));
      stage = stage == stages ? stages + 1 : stages;
    }
    for (Stage& last : stages) finish(last, choices);
  }

  const std::int64_t chunk, reach;
  const float temperature;
  Work work;
  const float* prior = nullptr;  // (Z,), or null: words without context are scored like others
  DeviceMemory memory{"selecting senses on the device", ""};
  Stage stages[2];
  std::mutex mutex;
};

CudaSelector::CudaSelector(const SelectorParts& parts, std::int64_t chunk)
    : state_(std::make_unique<State>(parts, chunk)) {}
CudaSelector::~CudaSelector() = default;
void CudaSelector::select(const Contexts& contexts, const Choices& choices) const { state_->select(contexts, choices); }

}  // namespace muse::cuda
