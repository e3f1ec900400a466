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

// Stream of batches of edits, which are sent without waiting for their answers. The server answers each, in
// order. It reads on only while few enough answers are unread, so one thread should receive while another
// sends. Destruction cancels what was not finished: batches that were sent may or may not be applied.
//
// Thread safety: one thread may send while another receives; Cancel may be called from any thread.
class UpdateStream {
 public:
  // If the connection is not OK, this stream has ended with its status, and so have the streams and watches
  // below. Otherwise the stub is that of the connection's channel.
  UpdateStream(const Connection& connection, v1::MapService::StubInterface* maps, absl::Duration timeout);
  UpdateStream(const UpdateStream&) = delete;
  UpdateStream& operator=(const UpdateStream&) = delete;
  ~UpdateStream();

  // Returns false if the stream has ended; Finish tells why. Blocks while the server does not read.
  bool Send(const v1::UpdateObstaclesRequest& batch);
  // Says that no more will be sent.
  void EndSending();
  // Takes the next answer, of a batch that was applied or refused. Returns false when there are no more.
  bool Receive(v1::StreamObstacleUpdatesResponse& answer);
  // Returns OK if all batches were answered after EndSending. REQUIRES: Receive has returned false.
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

// Stream of path queries, which are sent without waiting for their answers. Answers bear the ids of their
// queries and come in any order. The server reads on only while few enough answers are unread, so one thread
// should receive while another sends. Destruction cancels what was not finished.
//
// Thread safety: one thread may send while another receives; Cancel may be called from any thread.
class PathStream {
 public:
  PathStream(const Connection& connection, v1::PathService::StubInterface* paths, absl::Duration timeout);
  PathStream(const PathStream&) = delete;
  PathStream& operator=(const PathStream&) = delete;
  ~PathStream();

  // Returns false if the stream has ended; Finish tells why. Blocks while the server does not read.
  bool Send(const v1::StreamFindPathRequest& queries);
  // Says that no more will be sent.
  void EndSending();
  // Takes the next answers, at least one. Returns false when there are no more.
  bool Receive(v1::StreamFindPathResponse& answers);
  // Returns OK if all queries were answered after EndSending. REQUIRES: Receive has returned false.
  absl::Status Finish();

  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriterInterface<v1::StreamFindPathRequest, v1::StreamFindPathResponse>>
      stream_;
  absl::Status problem_;
  bool is_finished_ = false;
};

// Watch of a map, which receives its revisions as they come. Destruction ends it.
//
// Thread safety: one thread; Cancel may be called from any thread.
class MapWatch {
 public:
  MapWatch(const Connection& connection, v1::MapService::StubInterface* maps,
           const v1::WatchMapRequest& request, absl::Duration timeout);
  MapWatch(const MapWatch&) = delete;
  MapWatch& operator=(const MapWatch&) = delete;
  ~MapWatch();

  // Waits for the next event. Returns false when the watch has ended.
  bool Next(v1::WatchMapResponse& event);
  // Says why the watch has ended, which is never OK. REQUIRES: Next has returned false.
  absl::Status Finish();

  // Makes Next return false soon.
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderInterface<v1::WatchMapResponse>> reader_;
  absl::Status problem_;
  bool is_finished_ = false;
};

// Watch of a path, which receives the answers to a path query as they come. Destruction ends it.
//
// Thread safety: one thread; Cancel may be called from any thread.
class PathWatch {
 public:
  PathWatch(const Connection& connection, v1::PathService::StubInterface* paths,
            const v1::WatchPathRequest& request, absl::Duration timeout);
  PathWatch(const PathWatch&) = delete;
  PathWatch& operator=(const PathWatch&) = delete;
  ~PathWatch();

  // Waits for the next answer. Returns false when the watch has ended.
  bool Next(v1::WatchPathResponse& answer);
  // Says why the watch has ended, which is never OK. REQUIRES: Next has returned false.
  absl::Status Finish();

  // Makes Next return false soon.
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderInterface<v1::WatchPathResponse>> reader_;
  absl::Status problem_;
  bool is_finished_ = false;
};

}  // namespace waystar::client
