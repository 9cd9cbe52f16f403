// Starts the representation step of a wave. Each of represent_*.cu compiles it for one kind of numbers in U and V,
// since these kernels take the compiler longer than all others together.
#pragma once

#include <algorithm>

#include "matrices.h"
#include "represent_alone.cuh"
#include "represent_groups.cuh"

namespace muse::cuda {

// Shared memory of a group's block, or of a target's warp.
inline std::int64_t bytes_of_representation(const Knobs& knobs, int dim) {
  return knobs.group_size > 1 ? bytes_of_group(knobs, dim) : bytes_alone(knobs);
}

// `longest` is the number of tokens of the longest batch.
template <typename Number>
void start_representation(const Work& work, std::int64_t longest, const Stream& stream);

#ifdef MUSE_REPRESENT_NUMBER
template <typename Number>
void start_representation(const Work& work, std::int64_t longest, const Stream& stream) {
  const int dim = work.model.sense.dim, most = most_columns(work.knobs), group = work.knobs.group_size;
  const std::int64_t bytes = bytes_of_representation(work.knobs, dim);
  const auto batches = static_cast<unsigned>(work.wave.num_batches);
  with_quads(dim, [&](auto quads) {
    constexpr int kQuads = decltype(quads)::value;
    if (group > 1) {  // a thread for two numbers of a row
      const int threads = std::clamp(rounded_up(dim / 2, kWarp), 2 * kWarp, kGroupThreads);
      launch(represent_groups<kQuads, Number>, dim3(blocks_for(longest, group), batches), threads, at(bytes), stream,
             work, most);
    } else {
      const auto warps = static_cast<int>(std::clamp<std::int64_t>(shared_limit() / bytes, 1, kWarps));
      launch(represent_alone<kQuads, Number>, dim3(blocks_for(longest, warps), batches), warps * kWarp,
             at(warps * bytes), stream, work, most);
    }
  });
}
template void start_representation<MUSE_REPRESENT_NUMBER>(const Work&, std::int64_t, const Stream&);
#endif

}  // namespace muse::cuda
