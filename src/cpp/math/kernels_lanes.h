// The registers of an instruction set, and sums over their lanes: part of kernels.cpp, which includes this within its
// namespaces, once for each instruction set.

typedef float Vector __attribute__((vector_size(kLanes * 4)));
typedef int IntVector __attribute__((vector_size(kLanes * 4)));
typedef unsigned UnsignedVector __attribute__((vector_size(kLanes * 4)));
typedef float Unaligned __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

// Four lanes, for what is left of a row that is not padded.
typedef float Quad __attribute__((vector_size(16)));
typedef float UnalignedQuad __attribute__((vector_size(16), aligned(4), may_alias));

inline Quad load_quad(const float* p) { return *reinterpret_cast<const UnalignedQuad*>(p); }
inline Vector load(const float* p) { return *reinterpret_cast<const Unaligned*>(p); }
// A load that is not repeated. For two uses the compiler would rather have two operands in memory, and loads are what
// limits a kernel that does little with each number.
inline Vector load_once(const float* p) {
  Vector v = load(p);
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__x86_64__)
  asm("" : "+x"(v));
#endif
  return v;
}
// Both values are there before either is used again, so that the second may be changed where it is, not in a copy.
inline void settle([[maybe_unused]] Vector& a, [[maybe_unused]] Vector& b) {
#if defined(MUSE_NEON) && !defined(MUSE_SVE_LANES)
  asm("" : "+w"(a), "+w"(b));
#endif
}
inline void store(float* p, Vector v) { *reinterpret_cast<Unaligned*>(p) = v; }
inline Vector broadcast(float x) { return x - Vector{}; }  // x + 0 would be an addition: it changes -0

// Sums the lanes of kLanes vectors at once: out[i] = Σ lanes of v[i], in log2(kLanes) rounds of shuffle and add.
// In a round, each lane pair (p, p + half) of a and b is folded; a's sums land in the low half, b's in the high half.

template <int... Lane>
struct Lanes {};
template <int N, int... Lane>
struct MakeLanes : MakeLanes<N - 1, N - 1, Lane...> {};
template <int... Lane>
struct MakeLanes<0, Lane...> {
  using type = Lanes<Lane...>;
};

// Lane l of the result of folding blocks of width 2 * Half: the low half of each block comes from a, the high from b.
template <int Half, typename V, int... Lane>
inline V fold(V a, V b, Lanes<Lane...>) {
  constexpr int kCount = sizeof...(Lane);
  return __builtin_shufflevector(a, b, ((Lane / Half) % 2 == 0 ? Lane : Lane - Half + kCount)...) +
         __builtin_shufflevector(a, b, ((Lane / Half) % 2 == 0 ? Lane + Half : Lane + kCount)...);
}

template <int Half, typename V>
inline void fold_all(V* v) {
  if constexpr (Half >= 1) {
    for (int i = 0; i < Half; ++i) v[i] = fold<Half>(v[i], v[i + Half], typename MakeLanes<sizeof(V) / 4>::type{});
    fold_all<Half / 2>(v);
  }
}

template <int Half>
inline float horizontal_sum(Vector v) {
  if constexpr (Half >= 1) return horizontal_sum<Half / 2>(fold<Half>(v, v, typename MakeLanes<kLanes>::type{}));
  return v[0];
}

template <typename V>
inline V horizontal_sums(V* v) {
  fold_all<kLanes / 2>(v);
  return v[0];
}

// Writes the sums of kLanes vectors.
inline void store_sums(float* to, Vector* v) {
#if defined(MUSE_SVE_LANES)
  // Shuffles across a whole register take three instructions there: the first rounds are loads of quarters.
  float all[kLanes * kLanes];
  for (int i = 0; i < kLanes; ++i) store(all + i * kLanes, v[i]);
  for (int first = 0; first < kLanes; first += 4) {
    Quad four[4];
    for (int i = 0; i < 4; ++i) {
      const float* from = all + (first + i) * kLanes;
      four[i] = load_quad(from) + load_quad(from + 4);
      for (int d = 8; d < kLanes; d += 4) four[i] += load_quad(from + d);
    }
    fold_all<2>(four);
    *reinterpret_cast<UnalignedQuad*>(to + first) = four[0];
  }
#else
  store(to, horizontal_sums(v));
#endif
}
