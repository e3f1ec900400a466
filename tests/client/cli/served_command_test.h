#pragma once

#include <google/protobuf/text_format.h>

#include <sstream>
#include <string>
#include <vector>

#include "client/cli/app.h"
#include "gmock/gmock.h"
#include "tests/service/test_server.h"
#include "tests/testing/own_folder.h"

namespace waystar {

// Runs `waystar` against real servers and keeps what it prints.
class ServedCommandTest : public ::testing::Test {
 protected:
  cli::ExitCode Run(const std::vector<std::string>& arguments) { return Run(server_, arguments); }
  cli::ExitCode Run(TestServer& server, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--server", server.target(), "--timeout", "2m"});
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    cli::Io io{in, out, err, is_terminal_};
    const cli::ExitCode code = cli::Run(arguments, io);
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  // Creates a map by a CreateMapRequest in protobuf's text format.
  void Create(const std::string& text) {
    v1::CreateMapRequest request;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
    EXPECT_TRUE(server_.client().CreateMap(request).ok()) << text;
  }

  const OwnFolder folder_;
  TestServer server_;
  bool is_terminal_ = false;
  std::string out_;
  std::string err_;
};

}  // namespace waystar
