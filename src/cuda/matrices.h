// The model's matrices between the host and the device.
#pragma once

#include "math/panel.h"
#include "model/model.h"
#include "runtime.h"
#include "work.h"

namespace muse::cuda {

inline unsigned blocks_for(std::int64_t count, int each) { return static_cast<unsigned>((count + each - 1) / each); }
inline int rounded_up(int n, int to) { return (n + to - 1) / to * to; }

constexpr int kThreads = 128;  // of a block in which every warp works alone
constexpr int kWarps = kThreads / 32;

inline void ask_for(DeviceMemory& memory, Rows& device, const Matrix& host) {
  device.dim = host.empty() ? 0 : host.padded_dim();
  memory.ask(device.data, host.empty() ? 0 : at(host.rows * host.padded_dim()));
}

inline void upload(const Rows& device, const Matrix& host) {
  if (device.data == nullptr || host.rows == 0) return;
  check(cudaMemcpy2D(device.data, sizeof(float) * at(device.dim), host.data, sizeof(float) * at(host.stride),
                     sizeof(float) * at(host.dim), at(host.rows), cudaMemcpyHostToDevice),
        "copying the model to the device");
}

inline void download(const Matrix& host, const Rows& device) {
  if (device.data == nullptr || host.rows == 0) return;
  check(cudaMemcpy2D(host.data, sizeof(float) * at(host.stride), device.data, sizeof(float) * at(device.dim),
                     sizeof(float) * at(host.dim), at(host.rows), cudaMemcpyDeviceToHost),
        "copying the model from the device");
}

}  // namespace muse::cuda
