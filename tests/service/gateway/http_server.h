// A server with a map that is reached over HTTP.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/errors.h"
#include "google/protobuf/util/json_util.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "server/runtime/options.h"
#include "tests/service/test_server.h"
#include "tests/service/transport/http/http_call.h"

namespace waystar {

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

// A message of that type. Fails the test if the JSON is none.
template <typename Message>
Message FromJson(const std::string& json) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  EXPECT_TRUE(status.ok()) << status.ToString() << ": " << json;
  return message;
}

// The reason and the field in a google.rpc.Status.
inline std::string ReasonIn(const google::rpc::Status& status) {
  return client::ReasonOf(client::FromMessage(status));
}
inline std::string FieldIn(const google::rpc::Status& status) {
  return client::FieldOf(client::FromMessage(status));
}

// The message in a line of a stream, under that key. Fails the test if there is none.
template <typename Message>
Message ResultIn(const std::optional<std::string>& line, absl::string_view key = "result") {
  absl::string_view json = line ? absl::string_view(*line) : "";
  EXPECT_TRUE(absl::ConsumePrefix(&json, absl::StrCat("{\"", key, "\":"))) << json;
  return FromJson<Message>(std::string(json.substr(0, json.size() - 1)));
}

// What the last line of a stream says.
inline google::rpc::Status ErrorIn(const std::optional<std::string>& line) {
  return ResultIn<google::rpc::Status>(line, "error");
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

}  // namespace waystar
