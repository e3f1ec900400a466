// Service whose methods take raw request bytes, and whose calls own themselves.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/direct_methods.h"
#include "server/service/call/unary_call.h"

namespace waystar::rpc {

// Handler that is notified of a call when its headers arrive, before its request. Reads the single request of
// a call, and then runs the library's own handler. By itself the library reads the request before it notifies
// anyone, and so cannot bound calls that are begun but never continued. Use it for a method that is marked as
// a stream.
//
// A call that is cancelled because its request does not arrive counts against its connection.
//
// A request that has already arrived, as nearly all have, costs one more operation on the call.
//
// Thread safety: any.
class AfterRequest final : public grpc::internal::MethodHandler {
 public:
  // The context must outlive the server that the handler is registered with.
  AfterRequest(std::unique_ptr<grpc::internal::MethodHandler> handler, const ServerContext& server)
      : handler_(std::move(handler)), server_(server) {}

  void RunHandler(const HandlerParameter& parameter) override;

 private:
  struct Call;

  const std::unique_ptr<grpc::internal::MethodHandler> handler_;
  const ServerContext& server_;
};

// Base of the services. `Generated` is the class that protoc generates for the service. A method is
// identified by its request type, which is unique.
//
// The generated WithRawCallbackMethod_ classes do the same with one class and one virtual function per
// method.
template <typename Generated>
class RawService : public Generated::Service {
 public:
  // Returns the methods with one request and one answer. They must not be used after this.
  const DirectMethods& direct_methods() const { return direct_methods_; }

 protected:
  using Bytes = grpc::ByteBuffer;
  using Rpc = grpc::CallbackServerContext;

  // The context must outlive the server that this is registered with.
  explicit RawService(const ServerContext& server) : server_(server) {}

  template <typename Request>
  static const google::protobuf::MethodDescriptor& MethodOf() {
    const google::protobuf::ServiceDescriptor& service =
        *google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
            Generated::service_full_name());
    int index = 0;
    while (service.method(index)->input_type() != Request::descriptor()) {
      ++index;
    }
    return *service.method(index);
  }

  // Returns the RPC's full name, such as "waystar.v1.PathService/FindPath".
  template <typename Request>
  static const std::string& NameOf() {
    static const std::string name =
        absl::StrCat(Generated::service_full_name(), "/", MethodOf<Request>().name());
    return name;
  }

  // Serves such requests with `handler`, starting on the lane that `planner` selects. The planner must
  // outlive the calls.
  template <typename Request, typename Response, typename Planner = const FixedLane>
  void Serve(UnaryHandler<Request, Response> handler, Planner& planner = kSmallCall) {
    ServeUnary<Request, Response>(std::move(handler), planner);
  }
  template <typename Request, typename Response, typename Planner = const FixedLane>
  void ServeLater(AsyncUnaryHandler<Request, Response> handler, Planner& planner = kSmallCall) {
    ServeUnary<Request, Response>(std::move(handler), planner);
  }

  // Serve streams of such requests; `start` makes a call's reactor.
  template <typename Request>
  void ServeReads(std::function<grpc::ServerReadReactor<Bytes>*(Rpc*, Bytes* response)> start) {
    Mark<Request>(new grpc::internal::CallbackClientStreamingHandler<Bytes, Bytes>(std::move(start)));
  }
  template <typename Request>
  void ServeWrites(std::function<grpc::ServerWriteReactor<Bytes>*(Rpc*, const Bytes* request)> start) {
    MarkAfterRequest<Request>(
        std::make_unique<grpc::internal::CallbackServerStreamingHandler<Bytes, Bytes>>(std::move(start)));
  }
  template <typename Request>
  void ServeReadsAndWrites(std::function<grpc::ServerBidiReactor<Bytes, Bytes>*(Rpc*)> start) {
    Mark<Request>(new grpc::internal::CallbackBidiHandler<Bytes, Bytes>(std::move(start)));
  }

  const ServerContext& server_;

 private:
  template <typename Request, typename Response, typename Handler, typename Planner>
  void ServeUnary(Handler handler, Planner& planner) {
    using Call = UnaryCall<Request, Response, Handler, Planner>;
    const auto shared = std::make_shared<const Handler>(std::move(handler));
    direct_methods_[&MethodOf<Request>()] = [this, shared, &planner](HttpHead head, const Bytes& request,
                                                                     DirectDone done) {
      return DirectUnaryCall<Call>::Start(server_, *shared, planner, std::move(head), request,
                                          std::move(done));
    };
    MarkAfterRequest<Request>(std::make_unique<grpc::internal::CallbackUnaryHandler<Bytes, Bytes>>(
        [this, shared, &planner](Rpc* rpc, const Bytes* request, Bytes* answer) {
          return UnaryReactor<Call>::Start(server_, *shared, planner, rpc, request, answer);
        }));
  }

  template <typename Request>
  void MarkAfterRequest(std::unique_ptr<grpc::internal::MethodHandler> handler) {
    // Marks the method as a stream, so that the library reports a call as soon as it begins.
    this->MarkMethodStreamed(MethodOf<Request>().index(), nullptr);
    Mark<Request>(new AfterRequest(std::move(handler), server_));
  }

  template <typename Request>
  void Mark(grpc::internal::MethodHandler* handler) {
    this->MarkMethodRawCallback(MethodOf<Request>().index(), handler);
  }

  DirectMethods direct_methods_;
};

}  // namespace waystar::rpc
