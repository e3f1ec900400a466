// A real server with a small map, and an inspector in front of it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/inspect/inspector.h"
#include "gtest/gtest.h"
#include "tests/http/http_call.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/patience.h"

namespace waystar::testing {

// A call of the page, with all that it sends.
inline HttpRequest Call(const std::string& rpc, const std::string& json) {
  return {.method = "POST",
          .path = absl::StrCat("/rpc/waystar.v1.", rpc),
          .headers = {{"Content-Type", "application/json"}, {"X-Waystar-Inspect", "1"}},
          .body = json};
}

inline std::unique_ptr<inspect::Inspector> StartInspector(client::Options connection,
                                                          inspect::InspectorOptions options = {}) {
  options.listen = "127.0.0.1:0";
  connection.timeout = kPatience;
  connection.transfer_timeout = kPatience;
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

}  // namespace waystar::testing
