#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "server/runtime/options.h"
#include "server/runtime/process.h"
#include "tests/testing/own_folder.h"

namespace waystar::runtime {
namespace {

class MemoryLimitTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }

  const OwnFolder own_;
  const std::filesystem::path root_ = own_.path();
  const std::size_t machine_ =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
};

TEST_F(MemoryLimitTest, WithoutGroupsItIsTheMachines) { EXPECT_EQ(MemoryLimit(root_), machine_); }

TEST_F(MemoryLimitTest, AContainerSeesItsGroupAsTheRoot) {
  Write("proc/self/cgroup", "0::/");
  Write("sys/fs/cgroup/memory.max", "1048576");
  EXPECT_EQ(MemoryLimit(root_), 1048576U);
}

TEST_F(MemoryLimitTest, TheLeastOfAllGroupsAboveCounts) {
  Write("proc/self/cgroup", "0::/system.slice/game.slice/waystar.service");
  Write("sys/fs/cgroup/system.slice/memory.max", "3000000");
  Write("sys/fs/cgroup/system.slice/game.slice/memory.max", "2000000");
  Write("sys/fs/cgroup/system.slice/game.slice/waystar.service/memory.max", "max");
  EXPECT_EQ(MemoryLimit(root_), 2000000U);
  Write("sys/fs/cgroup/system.slice/game.slice/waystar.service/memory.max", "1500000");
  EXPECT_EQ(MemoryLimit(root_), 1500000U);
}

TEST_F(MemoryLimitTest, KnowsTheFirstVersionToo) {
  Write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/b\n0::/c");
  Write("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "4000000");
  Write("sys/fs/cgroup/memory/docker/b/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(MemoryLimit(root_), 4000000U);
}

TEST_F(MemoryLimitTest, GroupsThatCannotBeSeenHaveNoLimit) {
  Write("proc/self/cgroup", "0::/../../outside\nnonsense");
  EXPECT_EQ(MemoryLimit(root_), machine_);
}

std::size_t InAll(const Options& options) {
  return options.workers * options.scratch_mib + options.max_maps_memory_mib + options.max_call_memory_mib;
}

TEST(DivideMemoryTest, AllFitsIntoTheLimit) {
  for (const std::size_t limit : {512, 1024, 2048, 4096, 16'384}) {
    for (const int workers : {1, 2, 4, 16}) {
      Options options = {.workers = workers, .scratch_mib = 0};
      DivideMemory(limit, options);
      EXPECT_LE(InAll(options), limit) << workers << " workers";
      EXPECT_GE(options.max_maps_memory_mib, limit / 8);
      EXPECT_GE(options.scratch_mib, 2U);
      EXPECT_LE(workers * options.scratch_mib, limit / 2);
    }
  }
}

TEST(DivideMemoryTest, LeavesWhatIsGivenAndFillsInTheRest) {
  Options options = {.workers = 4, .max_maps_memory_mib = 100, .scratch_mib = 0};
  DivideMemory(1024, options);
  EXPECT_EQ(options.max_maps_memory_mib, 100U);
  EXPECT_EQ(options.scratch_mib, 128U);
  options = {.workers = 4, .scratch_mib = 50};
  DivideMemory(1024, options);
  EXPECT_EQ(options.scratch_mib, 50U);
  EXPECT_EQ(options.max_maps_memory_mib, 440U);
  options = {.workers = 2, .scratch_mib = 0};
  DivideMemory(std::size_t{1} << 16, options);
  EXPECT_EQ(options.scratch_mib, kMostScratchMib);
}

}  // namespace
}  // namespace waystar::runtime
