#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "client/connection.h"
#include "client/options.h"
#include "server/http/http_exchange.h"

namespace waystar::inspect {

struct Method;

// Makes the page's calls: POST /rpc/waystar.v1.PathService/FindPath with the request in protobuf's JSON is
// answered with the response in JSON, or with the failed call's HTTP code and a google.rpc.Status.
//
// RPCs that answer with a stream are answered with lines (http::StreamForm). When the browser is gone, the
// call is cancelled.
//
// Thread safety: all calls may be made from any thread at the same time.
class Gateway {
 public:
  // `is_stopping` is asked several times a second, and ends streams when it is true.
  Gateway(const client::Options& options, bool is_read_only, std::function<bool()> is_stopping);

  // Why no call can be made.
  const absl::Status& status() const { return connection_.status(); }

  // `method` is what stands behind "/rpc/".
  void Handle(std::string_view method, http::HttpExchange& exchange);

 private:
  void MakeCall(const Method& method, const std::string& body, http::HttpExchange& exchange);
  absl::Duration TimeoutOf(const Method& method) const;

  const client::Options options_;
  const bool is_read_only_;
  const std::function<bool()> is_stopping_;
  const client::Connection connection_;
  std::atomic<int> streams_ = 0;
};

}  // namespace waystar::inspect
