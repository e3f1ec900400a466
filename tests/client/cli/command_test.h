#pragma once

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/app.h"
#include "tests/client/fake_server.h"
#include "tests/service/about_map.h"
#include "tests/testing/patience.h"

namespace waystar {

// Runs `waystar` against a scripted server and keeps what it prints.
class CommandTest : public ::testing::Test {
 protected:
  template <typename Request, typename Response>
  using Handler = std::function<grpc::Status(grpc::ServerContext&, const Request&, Response&)>;

  // Runs the words of a line, with the patience of tests unless it names another timeout.
  cli::ExitCode Run(absl::string_view line) {
    return Run(std::vector<std::string>(absl::StrSplit(line, ' ')));
  }
  cli::ExitCode Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--server", server_.target()});
    if (std::find(arguments.begin(), arguments.end(), "--timeout") == arguments.end()) {
      arguments.insert(arguments.end(), {"--timeout", absl::FormatDuration(kPatience)});
    }
    return RunBare(arguments);
  }

  // Runs it without telling it where the server is.
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

  // Has the server keep requests in `asked_`, and answer with a message in text format.
  template <typename Request, typename Response>
  void Serve(Handler<Request, Response>& handler, const std::string& answer) {
    handler = [this, answer = Parsed<Response>(answer)](auto&, const Request& request, Response& response) {
      asked_ = request.DebugString();
      response = answer;
      return grpc::Status::OK;
    };
  }
  // Has the server stream these messages, and end with `status`.
  template <typename Request, typename Response>
  void ServeAll(Handler<Request, std::vector<Response>>& handler, std::initializer_list<const char*> answers,
                const grpc::Status& status = grpc::Status::OK) {
    std::vector<Response> messages;
    for (const char* const answer : answers) {
      messages.push_back(Parsed<Response>(answer));
    }
    handler = [this, messages, status](auto&, const Request& request, std::vector<Response>& responses) {
      asked_ = request.DebugString();
      responses = messages;
      return status;
    };
  }

  // Expects that each command line sends that request, in text format, and nothing else.
  template <typename Request, typename Response>
  void ExpectRequests(Handler<Request, Response>& handler,
                      std::initializer_list<std::pair<const char*, const char*>> calls) {
    handler = [this](auto&, const Request& request, Response& /*response*/) {
      asked_ = request.DebugString();
      return grpc::Status::OK;
    };
    for (const auto& [line, request] : calls) {
      asked_.clear();
      Run(line);
      EXPECT_EQ(asked_, Parsed<Request>(request).DebugString()) << line << "\n" << err_;
    }
  }

  // Expects that each command line is refused before anything is sent, and that the error says this.
  void ExpectMistakes(std::initializer_list<std::pair<const char*, const char*>> mistakes) {
    for (const auto& [line, error] : mistakes) {
      EXPECT_EQ(Run(line), cli::ExitCode::kUsage) << line;
      EXPECT_THAT(err_, ::testing::HasSubstr(error)) << line;
    }
  }

  FakeServer server_;
  bool is_terminal_ = false;
  bool no_color_ = false;
  bool shows_progress_ = false;
  std::string in_;
  std::string out_;
  std::string err_;
  // The last request to what Serve and ServeAll have scripted.
  std::string asked_;
};

}  // namespace waystar
