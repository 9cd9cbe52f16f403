// The kernels of rows kept in 16 bits a number: part of kernels.cpp, which includes this within its namespaces, once
// for each instruction set. See kernels.h.

constexpr float kShortScale = 32767.0f;

void shorten(const float* x, int count, std::int16_t* out) {
  for (int i = 0; i < count; ++i) {
    const float y = x[i] * kShortScale;
    out[i] = static_cast<std::int16_t>(static_cast<int>(y + (y < 0.0f ? -0.5f : 0.5f)));
  }
}

void lengthen(const std::int16_t* x, int count, float* out) {
  for (int i = 0; i < count; ++i) out[i] = static_cast<float>(x[i]) * (1.0f / kShortScale);
}
