// SpillArray against std::vector: any sequence of writes, reads and rewrites, within memory and beyond it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "text/spill.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::int64_t max_bytes = (data[0] | data[1] << 8) * 64;
  muse::SpillArray<std::int32_t> array(max_bytes, "");
  std::vector<std::int32_t> model;
  std::int32_t next = 0;
  for (std::size_t i = 2; i + 1 < size; i += 2) {
    const std::size_t count = std::size_t{data[i + 1]} * data[i + 1] * (data[i] % 8 == 7 ? 8 : 1);
    switch (data[i] % 3) {
      case 0:  // write
        for (std::size_t n = 0; n < count && model.size() < (1 << 22); ++n) {
          array.push_back(next);
          model.push_back(next++);
        }
        break;
      case 1: {  // read
        const auto contents = array.contents();
        require(std::equal(contents.begin(), contents.end(), model.begin(), model.end()));
        break;
      }
      default: {  // rewrite in place, no longer than before
        const auto old = array.contents();
        array.rewind();
        std::vector<std::int32_t> rewritten;
        for (std::size_t n = 0; n < old.size(); ++n) {
          require(old[n] == model[n]);
          if (n % (count + 1) == 0) continue;
          array.push_back(-old[n]);
          rewritten.push_back(-old[n]);
        }
        model = std::move(rewritten);
      }
    }
    require(array.size() == static_cast<std::int64_t>(model.size()));
  }
  const auto contents = array.contents();
  require(std::equal(contents.begin(), contents.end(), model.begin(), model.end()));
  return 0;
}
