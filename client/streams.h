#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/retry.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::client {

// Base of all streams and watches below: one streaming call. If the connection is not OK, the call has
// already ended with its status.
template <typename Stream>
class StreamingCall {
 public:
  StreamingCall(const StreamingCall&) = delete;
  StreamingCall& operator=(const StreamingCall&) = delete;

  // Returns how the call ended. REQUIRES: Receive or Next has returned false.
  absl::Status Finish() {
    is_finished_ = true;
    return stream_ == nullptr ? problem_ : FromGrpc(stream_->Finish());
  }

  // Makes waiting calls return false soon.
  void Cancel() { context_.TryCancel(); }

 protected:
  using Open = absl::FunctionRef<std::unique_ptr<Stream>(grpc::ClientContext*)>;

  StreamingCall(const Connection& connection, absl::Duration timeout, Open open)
      : StreamingCall(connection, connection.status(), timeout, open) {}
  // Ends at once with `problem` unless that is OK.
  StreamingCall(const Connection& connection, absl::Status problem, absl::Duration timeout, Open open)
      : problem_(std::move(problem)) {
    if (problem_.ok()) {
      connection.Prepare(context_, timeout);
      stream_ = open(&context_);
    }
  }
  // Cancels what was not finished.
  ~StreamingCall() {
    if (stream_ != nullptr && !is_finished_) {
      context_.TryCancel();
      stream_->Finish().IgnoreError();
    }
  }

  Stream* stream() { return stream_.get(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  absl::Status problem_;
  bool is_finished_ = false;
};

// Messages sent without waiting for their answers. The server stops reading while too many answers are
// unread, so receive on one thread while another sends. Finish is OK if all messages were answered after
// EndSending.
//
// Thread safety: one thread may send while another receives; Cancel from any.
template <typename Request, typename Response>
class TwoWayStream : public StreamingCall<grpc::ClientReaderWriterInterface<Request, Response>> {
 public:
  // Returns false if the stream has ended; Finish says why. Blocks while the server does not read.
  bool Send(const Request& message) { return this->stream() != nullptr && this->stream()->Write(message); }
  // Ends sending.
  void EndSending() {
    if (this->stream() != nullptr) {
      this->stream()->WritesDone();
    }
  }
  // Reads the next message. Returns false at the end.
  bool Receive(Response& answer) { return this->stream() != nullptr && this->stream()->Read(&answer); }

 protected:
  using StreamingCall<grpc::ClientReaderWriterInterface<Request, Response>>::StreamingCall;
};

// Batches of edits. The server answers each, applied or rejected, in order. Batches with a request_id get a
// request_time as in UpdateMap. Destruction cancels unfinished batches: those that were sent may or may
// not be applied.
class UpdateStream : public TwoWayStream<v1::StreamUpdatesRequest, v1::StreamUpdatesResponse> {
 public:
  UpdateStream(const Connection& connection, v1::MapService::StubInterface* maps, absl::Duration timeout)
      : TwoWayStream(connection, connection.StatusForChanges(), timeout,
                     [maps](auto* context) { return maps->StreamUpdates(context); }) {}

  bool Send(const v1::UpdateMapRequest& batch) {
    v1::StreamUpdatesRequest message;
    *message.mutable_update() = batch;
    StampRequestTime(*message.mutable_update());
    return TwoWayStream::Send(message);
  }
};

// Path queries. Answers have the ids of their queries and arrive in any order, one or more per message.
// Destruction cancels unfinished queries.
class PathStream : public TwoWayStream<v1::StreamFindPathRequest, v1::StreamFindPathResponse> {
 public:
  PathStream(const Connection& connection, v1::PathService::StubInterface* paths, absl::Duration timeout)
      : TwoWayStream(connection, timeout, [paths](auto* context) { return paths->StreamFindPath(context); }) {
  }
};

// Server events as they arrive. Destruction ends the watch; Finish is never OK.
//
// Thread safety: one thread; Cancel from any.
template <typename Response>
class Watch : public StreamingCall<grpc::ClientReaderInterface<Response>> {
 public:
  // Waits for the next event. Returns false when the watch has ended.
  bool Next(Response& event) { return this->stream() != nullptr && this->stream()->Read(&event); }

 protected:
  using StreamingCall<grpc::ClientReaderInterface<Response>>::StreamingCall;
};

// The revisions of a map as they come.
class MapWatch : public Watch<v1::WatchMapResponse> {
 public:
  MapWatch(const Connection& connection, v1::MapService::StubInterface* maps,
           const v1::WatchMapRequest& request, absl::Duration timeout)
      : Watch(connection, timeout, [&](auto* context) { return maps->WatchMap(context, request); }) {}
};

// The answers to a path query as they come.
class PathWatch : public Watch<v1::WatchPathResponse> {
 public:
  PathWatch(const Connection& connection, v1::PathService::StubInterface* paths,
            const v1::WatchPathRequest& request, absl::Duration timeout)
      : Watch(connection, timeout, [&](auto* context) { return paths->WatchPath(context, request); }) {}
};

}  // namespace waystar::client
