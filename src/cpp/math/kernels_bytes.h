// The kernel that compares a vector with rows of bytes: part of kernels.cpp, which includes this within its namespaces,
// once for each instruction set. See kernels.h.

#if defined(MUSE_NEON)
constexpr int kByteRows = 4;

inline Quad load_tile(const float* p) { return load_quad(p); }

// x · row for kByteRows rows.
inline int32x4_t byte_tile(const std::int16_t* x, const std::int8_t* rows, int dim) {
  int32x4_t high[kByteRows] = {}, low[kByteRows] = {};
  for (int d = 0; d < dim; d += 16) {
    const int16x8_t a = vld1q_s16(x + d), b = vld1q_s16(x + d + 8);
#if defined(__ARM_FEATURE_DOTPROD)
    // A number is 256 times a byte and another byte, both with a sign.
    const int8x16_t a_high = vrshrn_high_n_s16(vrshrn_n_s16(a, 8), b, 8);
    const int8x16_t a_low = vuzp1q_s8(vreinterpretq_s8_s16(a), vreinterpretq_s8_s16(b));
#pragma GCC unroll 4
    for (int j = 0; j < kByteRows; ++j) {
      const int8x16_t row = vld1q_s8(rows + static_cast<std::int64_t>(j) * dim + d);
      high[j] = vdotq_s32(high[j], a_high, row);
      low[j] = vdotq_s32(low[j], a_low, row);
    }
  }
  for (int j = 0; j < kByteRows; ++j) low[j] = vaddq_s32(low[j], vshlq_n_s32(high[j], 8));
#else
#pragma GCC unroll 4
    for (int j = 0; j < kByteRows; ++j) {
      const int8x16_t row = vld1q_s8(rows + static_cast<std::int64_t>(j) * dim + d);
      const int16x8_t first = vmovl_s8(vget_low_s8(row)), second = vmovl_high_s8(row);
      low[j] = vmlal_s16(low[j], vget_low_s16(first), vget_low_s16(a));
      high[j] = vmlal_high_s16(high[j], first, a);
      low[j] = vmlal_s16(low[j], vget_low_s16(second), vget_low_s16(b));
      high[j] = vmlal_high_s16(high[j], second, b);
    }
  }
  for (int j = 0; j < kByteRows; ++j) low[j] = vaddq_s32(low[j], high[j]);
#endif
  return vpaddq_s32(vpaddq_s32(low[0], low[1]), vpaddq_s32(low[2], low[3]));
}
#else
constexpr int kByteRows = kLanes;

inline Vector load_tile(const float* p) { return load(p); }

#if defined(__AVX512F__)
// 32 products of a row from `row` on, summed by twos into lanes; where `Half`, 16 of them.
template <bool Half>
inline IntVector byte_products(const std::int16_t* x, const std::int8_t* row) {
  const auto* bytes = reinterpret_cast<const __m128i*>(row);
  if constexpr (Half) {
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
    return (IntVector)_mm512_zextsi256_si512(_mm256_madd_epi16(wide, y));
  } else {
    const __m512i wide = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row)));
    return (IntVector)_mm512_madd_epi16(wide, _mm512_loadu_si512(x));
  }
}
constexpr int kByteStep = 32;
#elif defined(__AVX2__)
template <bool Half>
inline IntVector byte_products(const std::int16_t* x, const std::int8_t* row) {
  const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
  return (IntVector)_mm256_madd_epi16(wide, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}
constexpr int kByteStep = 16;
#elif defined(__x86_64__)
template <bool Half>
inline IntVector byte_products(const std::int16_t* x, const std::int8_t* row) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row));
  const __m128i wide = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
  return (IntVector)_mm_madd_epi16(wide, _mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
constexpr int kByteStep = 8;
#else
template <bool Half>
inline IntVector byte_products(const std::int16_t* x, const std::int8_t* row) {
  IntVector sum = {};
  for (int lane = 0; lane < kLanes; ++lane) sum[lane] = x[lane] * row[lane];
  return sum;
}
constexpr int kByteStep = kLanes;
#endif

// x · row for kLanes rows.
inline IntVector byte_tile(const std::int16_t* x, const std::int8_t* rows, int dim) {
  constexpr int kTogether = 4;  // rows, which share what is loaded of x
  IntVector sums[kLanes];
  for (int first = 0; first < kLanes; first += kTogether) {
    IntVector some[kTogether] = {};
    const std::int8_t* row = rows + static_cast<std::int64_t>(first) * dim;
    int d = 0;
    for (; d + kByteStep <= dim; d += kByteStep)
      for (int j = 0; j < kTogether; ++j)
        some[j] += byte_products<false>(x + d, row + static_cast<std::int64_t>(j) * dim + d);
    if (d < dim)
      for (int j = 0; j < kTogether; ++j)
        some[j] += byte_products<true>(x + d, row + static_cast<std::int64_t>(j) * dim + d);
    for (int j = 0; j < kTogether; ++j) sums[first + j] = some[j];
  }
  return horizontal_sums(sums);
}
#endif

inline int likely_rows(const ByteQuery& x, const std::int8_t* rows, const float* scale, const float* slack, int count,
                       int dim, float least, int* found) {
  int hits = 0, j = 0;
  for (; j + kByteRows <= count; j += kByteRows) {
    const auto product = byte_tile(x.numbers, rows + static_cast<std::int64_t>(j) * dim, dim);
    const auto scales = load_tile(scale + j), slacks = load_tile(slack + j);
    const auto most = __builtin_convertvector(product, decltype(scales)) * (x.unit * scales) + x.length * slacks;
#if defined(__AVX512F__)
    for (unsigned mask = _mm512_cmp_ps_mask((__m512)most, _mm512_set1_ps(least), _CMP_NLT_UQ); mask != 0;
         mask &= mask - 1)
      found[hits++] = j + __builtin_ctz(mask);
#elif defined(__AVX2__)
    for (unsigned mask =
             static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)most, _mm256_set1_ps(least), _CMP_NLT_UQ)));
         mask != 0; mask &= mask - 1)
      found[hits++] = j + __builtin_ctz(mask);
#else
#if defined(MUSE_NEON)
    if (vminvq_u32((uint32x4_t)(most < least)) != 0) continue;  // mostly none is
#endif
    for (int lane = 0; lane < kByteRows; ++lane) {
      found[hits] = j + lane;
      hits += !(most[lane] < least);
    }
#endif
  }
  for (; j < count; ++j) {
    const std::int8_t* row = rows + static_cast<std::int64_t>(j) * dim;
    int product = 0;
    for (int d = 0; d < dim; ++d) product += x.numbers[d] * row[d];
    const float most = static_cast<float>(product) * (x.unit * scale[j]) + x.length * slack[j];
    if (!(most < least)) found[hits++] = j;
  }
  return hits;
}
