#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/connection.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::client {

// Batches of edits, sent without waiting for their answers. The server answers each, in order; it reads on
// only while few enough answers are unread, so that one thread should receive while another sends.
// Destruction cancels what was not finished: batches that were sent may or may not be applied.
//
// Thread safety: one thread may send while another receives; Cancel from any.
class UpdateStream {
 public:
  // With a connection that is not OK all of these streams and watches have ended, with its status; else the
  // stub is that of the connection's channel.
  UpdateStream(const Connection& connection, v1::MapService::StubInterface* maps, absl::Duration timeout);
  UpdateStream(const UpdateStream&) = delete;
  UpdateStream& operator=(const UpdateStream&) = delete;
  ~UpdateStream();

  // False if the stream has ended; Finish tells why. Blocks while the server does not read.
  bool Send(const v1::UpdateObstaclesRequest& batch);
  // No more will be sent.
  void EndSending();
  // The next answer: of a batch that was applied or refused. False when there are no more.
  bool Receive(v1::StreamObstacleUpdatesResponse& answer);
  // REQUIRES: Receive has returned false. OK if all batches were answered after EndSending.
  absl::Status Finish();

  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientReaderWriterInterface<v1::StreamObstacleUpdatesRequest, v1::StreamObstacleUpdatesResponse>>
      stream_;
  absl::Status problem_;
  bool is_finished_ = false;
};

// Path queries, sent without waiting for their answers, which bear their ids and come in any order. The
// server reads on only while few enough answers are unread, so that one thread should receive while another
// sends. Destruction cancels what was not finished.
//
// Thread safety: one thread may send while another receives; Cancel from any.
class PathStream {
 public:
  PathStream(const Connection& connection, v1::PathService::StubInterface* paths, absl::Duration timeout);
  PathStream(const PathStream&) = delete;
  PathStream& operator=(const PathStream&) = delete;
  ~PathStream();

  // False if the stream has ended; Finish tells why. Blocks while the server does not read.
  bool Send(const v1::StreamFindPathRequest& queries);
  // No more will be sent.
  void EndSending();
  // The next answers, one at the least. False when there are no more.
  bool Receive(v1::StreamFindPathResponse& answers);
  // REQUIRES: Receive has returned false. OK if all queries were answered after EndSending.
  absl::Status Finish();

  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriterInterface<v1::StreamFindPathRequest, v1::StreamFindPathResponse>>
      stream_;
  absl::Status problem_;
  bool is_finished_ = false;
};

// The revisions of a map as they come. Destruction ends the watch.
//
// Thread safety: one thread; Cancel from any.
class MapWatch {
 public:
  MapWatch(const Connection& connection, v1::MapService::StubInterface* maps,
           const v1::WatchMapRequest& request, absl::Duration timeout);
  MapWatch(const MapWatch&) = delete;
  MapWatch& operator=(const MapWatch&) = delete;
  ~MapWatch();

  // Waits for the next event. False when the watch has ended.
  bool Next(v1::WatchMapResponse& event);
  // Why it has ended, which is never OK. REQUIRES: Next has returned false.
  absl::Status Finish();

  // Next returns false soon.
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderInterface<v1::WatchMapResponse>> reader_;
  absl::Status problem_;
  bool is_finished_ = false;
};

// The answers to a path query as they come. Destruction ends the watch.
//
// Thread safety: one thread; Cancel from any.
class PathWatch {
 public:
  PathWatch(const Connection& connection, v1::PathService::StubInterface* paths,
            const v1::WatchPathRequest& request, absl::Duration timeout);
  PathWatch(const PathWatch&) = delete;
  PathWatch& operator=(const PathWatch&) = delete;
  ~PathWatch();

  // Waits for the next answer. False when the watch has ended.
  bool Next(v1::WatchPathResponse& answer);
  // Why it has ended, which is never OK. REQUIRES: Next has returned false.
  absl::Status Finish();

  // Next returns false soon.
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderInterface<v1::WatchPathResponse>> reader_;
  absl::Status problem_;
  bool is_finished_ = false;
};

}  // namespace waystar::client
