#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "client/connection.h"
#include "client/inspect/http_exchange.h"
#include "client/inspect/methods.h"
#include "client/options.h"

namespace waystar::inspect {

// Gateway from the page's HTTP to gRPC: POST /rpc/waystar.v1.PathService/FindPath with the request in
// protobuf's JSON is answered with the response in JSON, or with the failed call's HTTP code and a
// google.rpc.Status.
//
// RPCs that answer with a stream are answered with code 200 and a line for each message, {"result": ...}, as
// soon as it comes. The last line is {"error": ...}, a google.rpc.Status whose code is 0 if all went well.
// Empty lines mean nothing: they find out whether the browser is still there. When it is not, the call is
// cancelled.
//
// Thread safety: all calls may be made from any thread at the same time.
class Gateway {
 public:
  // `is_stopping` is asked several times a second; when it is true, streams end.
  Gateway(const client::Options& options, bool is_read_only, std::function<bool()> is_stopping);

  // Says why no call can be made.
  const absl::Status& status() const { return connection_.status(); }

  // Answers a request. `method` is the part of the path behind "/rpc/".
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
