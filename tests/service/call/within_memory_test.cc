#include "server/service/call/within_memory.h"

#include <cstddef>
#include <new>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/service/admission/executor.h"
#include "tests/testing/status_matchers.h"

namespace waystar::rpc {
namespace {

TEST(WithinMemoryTest, WhatFindsMemoryAnswersForItself) {
  Workbench bench(1 << 20);
  EXPECT_EQ(RunWithinMemory(bench, [] { return absl::NotFoundError("no such map"); }),
            absl::NotFoundError("no such map"));
  EXPECT_EQ(RunWithinMemory(bench, []() -> absl::StatusOr<int> { return 7; }).value(), 7);
}

TEST(WithinMemoryTest, WhatFindsNoneIsAnErrorAndItsBenchBeginsAnew) {
  Workbench bench(1 << 20);
  const auto query = [&]() -> absl::StatusOr<int> {
    bench.scratch.corners().resize(1000);
    throw std::bad_alloc();
  };
  const std::size_t fresh = bench.scratch.memory_bytes();
  EXPECT_THAT(RunWithinMemory(bench, query).status(),
              testing::IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kMapsMemoryFull, ""));
  EXPECT_EQ(bench.scratch.memory_bytes(), fresh);
  EXPECT_TRUE(bench.scratch.corners().empty());
}

}  // namespace
}  // namespace waystar::rpc
