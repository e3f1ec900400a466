#include "server/base/thread.h"

#include <array>
#include <string>

#include "gtest/gtest.h"

namespace waystar {
namespace {

TEST(ThreadTest, HasItsName) {
  std::array<char, 16> name{};
  StartThread("index-builder", [&] { pthread_getname_np(pthread_self(), name.data(), name.size()); }).join();
  EXPECT_STREQ(name.data(), "index-builder");
}

}  // namespace
}  // namespace waystar
