#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "client/connection.h"
#include "client/options.h"
#include "server/http/call_maker.h"
#include "server/http/http_handler.h"

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
  // What every answer has.
  using Fields = std::vector<std::pair<std::string, std::string>>;

  Gateway(const client::Options& options, bool is_read_only);

  // Why no call can be made.
  const absl::Status& status() const { return connection_.status(); }

  // `method` is what stands behind "/rpc/".
  std::variant<http::HttpAcceptance, http::HttpAnswer> Judge(std::string_view method,
                                                             const http::RequestHead& head,
                                                             Fields fields) const;
  // REQUIRES: Judge has accepted it.
  void Serve(std::string_view method, http::HttpRequest request, std::shared_ptr<http::Exchange> exchange,
             Fields fields);

 private:
  absl::Duration TimeoutOf(const Method& method) const;

  const client::Options options_;
  const bool is_read_only_;
  const client::Connection connection_;
  const http::CallMaker calls_;
  // Streams that are open; they may outlive this.
  const std::shared_ptr<std::atomic<int>> streams_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace waystar::inspect
