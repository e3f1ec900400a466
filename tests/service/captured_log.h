// What a piece of a test leaves in the log.
#pragma once

#include <string>

#include "gtest/gtest.h"
#include "server/runtime/logging.h"

namespace waystar::testing {

// Returns what was written to standard error while `work` ran.
template <typename Work>
std::string LogOf(Work work) {
  // Lines are written some time after Log has returned.
  runtime::FlushLog();
  ::testing::internal::CaptureStderr();
  work();
  runtime::FlushLog();
  return ::testing::internal::GetCapturedStderr();
}

}  // namespace waystar::testing
