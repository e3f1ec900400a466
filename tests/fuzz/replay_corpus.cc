// The main program of a fuzz target where there is no libFuzzer: runs the target on every file of a folder
// and on mutations of them, the same ones each time.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/testing/mutated_bytes.h"
#include "tests/testing/random.h"

extern "C" {

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Null in targets that have none.
__attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                          std::size_t max_size, unsigned int seed);
}

namespace waystar::fuzz {
namespace {

constexpr int kMutationsPerFile = 2000;
// No more mutations after that; machines that are slow, or made so by a sanitizer, try fewer.
constexpr std::chrono::seconds kMutationTime(10);

// By the target's own mutator.
std::string MutatedByTarget(std::string bytes, int round) {
  constexpr std::size_t kMaxMutatedBytes = 16 * 1024;
  const std::size_t size = bytes.size();
  bytes.resize(std::max(size, kMaxMutatedBytes));
  bytes.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size(),
                                       static_cast<unsigned int>(round)));
  return bytes;
}

void RunOn(const std::string& bytes) {
  // A copy of just that size, so that a sanitizer sees what is read beyond.
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

int Main(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "there are no files in %s\n", folder.c_str());
    return 1;
  }
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    std::fprintf(stderr, "%s\n", files[i].c_str());
    RunOn(corpus[i]);
  }
  const auto begin = std::chrono::steady_clock::now();
  std::size_t count = 0;
  for (int round = 0; round < kMutationsPerFile; ++round) {
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      if (std::chrono::steady_clock::now() - begin > kMutationTime) {
        round = kMutationsPerFile;
        break;
      }
      Random random(static_cast<std::uint64_t>(round) << 32 | i);
      const bool is_by_target = &LLVMFuzzerCustomMutator != nullptr && round % 2 == 0;
      RunOn(is_by_target ? MutatedByTarget(corpus[i], round) : MutatedBytes(corpus[i], corpus, random));
      ++count;
    }
  }
  std::fprintf(stderr, "%zu files and %zu mutations of them\n", corpus.size(), count);
  return 0;
}

}  // namespace
}  // namespace waystar::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
    return 2;
  }
  return waystar::fuzz::Main(argv[1]);
}
