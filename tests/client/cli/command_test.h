#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/app.h"
#include "tests/client/fake_server.h"
#include "tests/testing/patience.h"

namespace waystar::testing {

// Runs `waystar` against a scripted server and keeps what it prints.
class CommandTest : public ::testing::Test {
 protected:
  // With the patience of tests, unless it is told another.
  cli::ExitCode Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--server", server_.target()});
    if (std::find(arguments.begin(), arguments.end(), "--timeout") == arguments.end()) {
      arguments.insert(arguments.end(), {"--timeout", absl::FormatDuration(kPatience)});
    }
    return RunBare(arguments);
  }

  // Without telling it where the server is.
  cli::ExitCode RunBare(const std::vector<std::string>& arguments) {
    std::istringstream in(in_);
    std::ostringstream out;
    std::ostringstream err;
    cli::Io io{in, out, err, is_terminal_, no_color_};
    io.shows_progress = shows_progress_;
    const cli::ExitCode code = cli::Run(arguments, io);
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  FakeServer server_;
  bool is_terminal_ = false;
  bool no_color_ = false;
  bool shows_progress_ = false;
  std::string in_;
  std::string out_;
  std::string err_;
};

}  // namespace waystar::testing
