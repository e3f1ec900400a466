#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <functional>
#include <string>

#include "client/connection.h"
#include "client/inspect/http_exchange.h"
#include "client/options.h"

namespace waystar::inspect {

struct Method;

// The message in protobuf's JSON on one line, without an end of line. Fields with their defaults are left
// out.
std::string MessageJson(const google::protobuf::Message& message);

// The failed call as a google.rpc.Status, with the details that the server sent.
std::string StatusJson(const grpc::Status& status);

// By the usual mapping of canonical codes: NOT_FOUND is 404.
int HttpCode(grpc::StatusCode code);

// Makes the page's calls: POST /rpc/waystar.v1.PathService/FindPath with the request in protobuf's JSON is
// answered with the response in JSON, or with the failed call's HTTP code and a google.rpc.Status.
//
// RPCs that answer with a stream are answered 200 and with a line for each message, {"result": ...}, at once
// when it comes. The last line is {"error": ...}, a google.rpc.Status whose code is 0 if all went well. Empty
// lines mean nothing: they find out whether the browser is still there. When it is not, the call is
// cancelled.
//
// Thread safety: all calls may be made from any thread at the same time.
class Gateway {
 public:
  // `is_stopping` is asked several times a second, and ends streams when it is true.
  Gateway(const client::Options& options, bool is_read_only, std::function<bool()> is_stopping);

  // Why no call can be made.
  const absl::Status& status() const { return connection_.status(); }

  // `method` is what stands behind "/rpc/".
  void Handle(std::string_view method, HttpExchange& exchange);

 private:
  void MakeCall(const Method& method, const std::string& body, HttpExchange& exchange);
  absl::Duration TimeoutOf(const Method& method) const;

  const client::Options options_;
  const bool is_read_only_;
  const std::function<bool()> is_stopping_;
  const client::Connection connection_;
  std::atomic<int> streams_ = 0;
};

}  // namespace waystar::inspect
