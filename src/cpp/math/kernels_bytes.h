// The kernel that compares a vector with rows of bytes: part of kernels.cpp, which includes this within its namespaces,
// once for each instruction set. See kernels.h.

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
#elif defined(__aarch64__)
template <bool Half>
inline IntVector byte_products(const std::int16_t* x, const std::int8_t* row) {
  const int16x8_t wide = vmovl_s8(vld1_s8(row)), y = vld1q_s16(x);
  return (IntVector)vmlal_high_s16(vmull_s16(vget_low_s16(wide), vget_low_s16(y)), wide, y);
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

inline int likely_rows(const ByteQuery& x, const std::int8_t* rows, const float* scale, const float* slack, int count,
                       int dim, float least, int* found) {
  int hits = 0, j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    const IntVector product = byte_tile(x.numbers, rows + static_cast<std::int64_t>(j) * dim, dim);
    const Vector most =
        __builtin_convertvector(product, Vector) * (x.unit * load(scale + j)) + x.length * load(slack + j);
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
    for (int lane = 0; lane < kLanes; ++lane) {
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
