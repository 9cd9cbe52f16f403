// U and V between the host, where they are floats, and the device, where they may be bfloat16.
#pragma once

#include <algorithm>

#include "floats.cuh"
#include "matrices.h"

namespace muse::cuda {

__global__ void narrow_numbers(const float* from, Bfloat16* to, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) to[i] = round_to_nearest(from[i]);
}
__global__ void widen_numbers(const Bfloat16* from, float* to, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) to[i] = widen(from[i]);
}

// Copies matrices of either kind; those of bfloat16 go through some floats on the device, a few rows at a time.
class StoredCopies {
 public:
  StoredCopies(bool bfloat16, const Stream& stream) : bfloat16_(bfloat16), stream_(stream) {}

  void ask_for(DeviceMemory& memory, StoredRows& device, const Matrix& host) {
    device.dim = host.padded_dim();
    memory.ask(device.data, at(host.rows * host.padded_dim()) * (bfloat16_ ? sizeof(Bfloat16) : sizeof(float)));
    if (bfloat16_ && floats_.dim == 0) {
      floats_.dim = device.dim;  // that of both
      memory.ask(floats_.data, at(kRows * device.dim));
    }
  }

  void upload(const StoredRows& device, const Matrix& host) const {
    if (!bfloat16_) return cuda::upload(device.of<float>(), host);
    in_pieces(device, host, [&](const Matrix& piece, Bfloat16* there, int count) {
      cuda::upload(floats_, piece);
      finish_uploads();
      start(narrow_numbers, count, static_cast<const float*>(floats_.data), there);
    });
  }

  void download(const Matrix& host, const StoredRows& device) const {
    if (!bfloat16_) return cuda::download(host, device.of<float>());
    in_pieces(device, host, [&](const Matrix& piece, Bfloat16* there, int count) {
      start(widen_numbers, count, static_cast<const Bfloat16*>(there), floats_.data);
      cuda::download(piece, floats_);
    });
  }

 private:
  static constexpr std::int64_t kRows = 4096;

  template <typename Copy>
  void in_pieces(const StoredRows& device, const Matrix& host, const Copy& copy) const {
    for (std::int64_t first = 0; first < host.rows; first += kRows) {
      const std::int64_t rows = std::min(kRows, host.rows - first);
      copy(Matrix{host.row(first), rows, host.dim, host.stride}, device.of<Bfloat16>().row(first),
           static_cast<int>(rows) * device.dim);
    }
  }

  template <typename From, typename To>
  void start(void (*kernel)(const From*, To*, int), int count, const From* from, To* to) const {
    launch(kernel, dim3(blocks_for(count, kThreads)), kThreads, 0, stream_, from, to, count);
    stream_.wait();
  }

  bool bfloat16_;
  const Stream& stream_;
  Rows floats_;
};

}  // namespace muse::cuda
