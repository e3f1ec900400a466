// Rooms name no compile options: the CMakeLists.txt of the root does, for all of them or for a kind of
// library. Among them are those that make answers the same on every machine.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "tests/testing/folders.h"

namespace waystar {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CompileOptionsTest, RoomsHaveNoneOfTheirOwn) {
  std::vector<std::string> found;
  for (const char* folder : {"server", "client"}) {
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(testing::SourceFolder() / folder)) {
      const std::string text = entry.path().filename() == "CMakeLists.txt" ? Read(entry.path()) : "";
      if (absl::StrContains(text, "compile_options") || absl::StrContains(text, "COMPILE_OPTIONS")) {
        found.push_back(entry.path().string());
      }
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

TEST(CompileOptionsTest, EachOperationIsRoundedByItself) {
  EXPECT_THAT(Read(testing::SourceFolder() / "CMakeLists.txt"), HasSubstr("-ffp-contract=off"));
}

}  // namespace
}  // namespace waystar
