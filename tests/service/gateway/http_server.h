// A server with a map that is reached over HTTP.
#pragma once

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/rpc/status.pb.h"
#include "server/runtime/options.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/http/from_json.h"
#include "tests/service/transport/http/http_call.h"

namespace waystar::testing {

inline constexpr char kFind[] =
    R"({"map": "arena", "start": {"cell": {}}, "goals": [{"cell": {"x": 3, "y": 2}}]})";
inline constexpr char kArena[] = R"({"map": "arena"})";

// A call of an RPC such as "PathService/FindPath".
inline HttpRequest Post(const std::string& rpc, const std::string& json) {
  return {.method = "POST",
          .path = absl::StrCat("/waystar.v1.", rpc),
          .headers = {{"Content-Type", "application/json"}},
          .body = json};
}

inline HttpRequest WithHeader(HttpRequest request, const std::string& name, const std::string& value) {
  request.headers[name] = value;
  return request;
}

class HttpServer {
 public:
  explicit HttpServer(runtime::Options options = {}) : server_(OverHttp(std::move(options))) {
    server_.Create("arena", {"....", ".##.", "...."});
  }

  static runtime::Options OverHttp(runtime::Options options) {
    options.http_listen = "127.0.0.1:0";
    return options;
  }

  TestServer& server() { return server_; }
  int port() { return server_.server().http_port(); }

  // Returns what a call that fails answers.
  google::rpc::Status Refusal(const HttpRequest& request) {
    return FromJson<google::rpc::Status>(HttpCall(port(), request).Body());
  }

 private:
  TestServer server_;
};

}  // namespace waystar::testing
