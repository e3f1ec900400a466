// A real server with a small map, and an inspector in front of it.
#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>
#include <utility>

#include "client/inspect/inspector.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "tests/client/inspect/http_call.h"
#include "tests/rpc/test_server.h"

namespace waystar::testing {

inline std::unique_ptr<inspect::Inspector> StartInspector(client::Options connection,
                                                          inspect::InspectorOptions options = {}) {
  options.listen = "127.0.0.1:0";
  connection.timeout = absl::Minutes(1);
  auto inspector = inspect::Inspector::Start(options, connection);
  EXPECT_TRUE(inspector.ok()) << inspector.status();
  return *std::move(inspector);
}

class InspectedServer {
 public:
  explicit InspectedServer(inspect::InspectorOptions options = {}, runtime::Options server_options = {})
      : server_(std::move(server_options)) {
    server_.Create("arena", {"....", ".##.", "...."});
    inspector_ = StartInspector({.target = server_.target()}, std::move(options));
  }

  TestServer& server() { return server_; }
  int port() const { return inspector_->port(); }
  void StopInspector() { inspector_.reset(); }

 private:
  TestServer server_;
  std::unique_ptr<inspect::Inspector> inspector_;
};

// A message of that type. Fails the test if the JSON is none.
template <typename Message>
Message FromJson(const std::string& json) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  EXPECT_TRUE(status.ok()) << status.ToString() << ": " << json;
  return message;
}

// The reason in a google.rpc.Status.
inline std::string ReasonIn(const google::rpc::Status& status) {
  google::rpc::ErrorInfo info;
  for (const auto& detail : status.details()) {
    if (detail.UnpackTo(&info)) {
      return info.reason();
    }
  }
  return "";
}

}  // namespace waystar::testing
