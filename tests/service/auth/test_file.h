// Files that a test writes and replaces.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace waystar::testing {

// A file of the test's own, gone with this.
class TestFile {
 public:
  explicit TestFile(const std::string& name)
      : path_((std::filesystem::path(::testing::TempDir()) /
               absl::StrCat("waystar-", ::getpid(), "-",
                            ::testing::UnitTest::GetInstance()->current_test_info()->name(), "-", name))
                  .string()) {}
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  ~TestFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }

  // All at once, as an operator should.
  void Write(const std::string& text) const {
    const std::string draft = path_ + ".draft";
    std::ofstream(draft, std::ios::binary) << text;
    ASSERT_EQ(std::rename(draft.c_str(), path_.c_str()), 0);
  }

 private:
  const std::string path_;
};

}  // namespace waystar::testing
