// A driver for compilers without libFuzzer: runs the inputs of the given folders, then random changes of them for a
// time. No coverage guides it. Usage: TARGET [-max_total_time=SECONDS] [-seed=N] FOLDER_OR_FILE...
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

Input load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Input changed(Input input, const std::vector<Input>& all, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(input.size() + 1);
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    const Input& other = all[below(all.size())];
    switch (below(6)) {
      case 0:
        if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<std::uint8_t>(random());
        break;
      case 2:
        input.insert(place, below(9), static_cast<std::uint8_t>(" \n\xC3\xFF\0x"[below(6)]));
        break;
      case 3:
        input.erase(place, place + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(16, input.size() - at))));
        break;
      case 4: {
        const std::size_t from = below(other.size());
        const std::size_t count = below(std::min<std::size_t>(64, other.size() - from));
        const Input piece(other.begin() + static_cast<std::ptrdiff_t>(from),
                          other.begin() + static_cast<std::ptrdiff_t>(from + count));
        input.insert(place, piece.begin(), piece.end());
        break;
      }
      default:
        input.resize(at);
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  long seconds = 10;
  std::uint64_t seed = 1;
  std::vector<Input> seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("-max_total_time=")) {
      seconds = std::stol(argument.substr(16));
    } else if (argument.starts_with("-seed=")) {
      seed = std::stoull(argument.substr(6));
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::directory_iterator(argument)) seeds.push_back(load(entry.path()));
    } else if (!argument.starts_with("-")) {
      seeds.push_back(load(argument));
    }
  }
  std::sort(seeds.begin(), seeds.end());
  for (const Input& input : seeds) LLVMFuzzerTestOneInput(input.data(), input.size());
  if (seeds.empty()) seeds.emplace_back();
  std::mt19937_64 random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::int64_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    const Input input = changed(seeds[random() % seeds.size()], seeds, random);
    if (std::FILE* last = std::fopen("fuzz-last-input", "wb")) {  // for whoever looks after a crash
      std::fwrite(input.data(), 1, input.size(), last);
      std::fclose(last);
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%lld inputs without a failure\n", static_cast<long long>(runs));
  return 0;
}
