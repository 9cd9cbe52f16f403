#include "math/parallel.h"

#include <doctest/doctest.h>

#include <thread>

#include "math/padding.h"
#include "math/pages.h"

#if defined(__linux__)
#include <sched.h>
#endif

TEST_CASE("cores: those that the process may use") {
  const int all = muse::cores();
  CHECK(all >= 1);
#if defined(__linux__)
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(all == CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  int found = 0;
  std::thread([&] {  // which ends with its affinity
    if (sched_setaffinity(0, sizeof one, &one) == 0) found = muse::cores();
  })
      .join();
  CHECK(found == 1);
#endif
}

TEST_CASE("rows: padded to whole registers, and no more of them than there is memory") {
  CHECK(muse::padded(0) == 0);
  CHECK(muse::padded(1) == muse::kRowPad);
  CHECK(muse::padded(muse::kRowPad) == muse::kRowPad);
  CHECK(muse::padded(std::int64_t{1} << 40) == std::int64_t{1} << 40);
  float* rows = muse::allocate_rows(3, 17);
  REQUIRE(rows != nullptr);
  for (int i = 0; i < 3 * 32; ++i) CHECK(rows[i] == 0.0f);
  muse::release_zeros(rows);
  CHECK(muse::allocate_rows(std::int64_t{1} << 60, 1) == nullptr);
}
