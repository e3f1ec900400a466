#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/retry.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"
#include "waystar/v1/types.pb.h"

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

// Moves to be judged. Answers arrive in the order of the messages.
class MoveStream : public TwoWayStream<v1::StreamCheckMovesRequest, v1::StreamCheckMovesResponse> {
 public:
  MoveStream(const Connection& connection, v1::PathService::StubInterface* paths, absl::Duration timeout)
      : TwoWayStream(connection, timeout,
                     [paths](auto* context) { return paths->StreamCheckMoves(context); }) {}
};

// Changes of agents that walk, and their states; see AgentFollower, which keeps them. Destruction ends the
// stream; Finish is OK only if no agent was left after EndSending.
class AgentStream : public TwoWayStream<v1::FollowAgentsRequest, v1::FollowAgentsResponse> {
 public:
  AgentStream(const Connection& connection, v1::PathService::StubInterface* paths, absl::Duration timeout)
      : TwoWayStream(connection, timeout, [paths](auto* context) { return paths->FollowAgents(context); }) {}
};

// The revisions of a map as they come. Destruction ends the watch; Finish is never OK.
//
// Thread safety: one thread; Cancel from any.
class MapWatch : public StreamingCall<grpc::ClientReaderInterface<v1::WatchMapResponse>> {
 public:
  MapWatch(const Connection& connection, v1::MapService::StubInterface* maps,
           const v1::WatchMapRequest& request, absl::Duration timeout)
      : StreamingCall(connection, timeout, [&](auto* context) { return maps->WatchMap(context, request); }) {}

  // Waits for the next event. Returns false when the watch has ended.
  bool Next(v1::WatchMapResponse& event) { return stream() != nullptr && stream()->Read(&event); }
};

// Remembers the versions that changes have led maps to: of the maps that were changed last, so many at most.
//
// Thread safety: any.
class OwnWrites {
 public:
  explicit OwnWrites(std::size_t most_maps) : most_maps_(most_maps) {}

  // Keeps the later of two versions of one epoch. Ignores a version without an epoch.
  void Note(const std::string& map, const v1::Version& version);
  // Forgets the map; given an epoch, unless a change has led it to another one since.
  void Forget(const std::string& map, std::uint64_t epoch = 0);

  std::optional<v1::Version> Of(const std::string& map) const;

 private:
  using Entry = std::pair<std::string, v1::Version>;

  const std::size_t most_maps_;
  mutable std::mutex mutex_;
  // The map that was changed last is the first.
  std::list<Entry> entries_;
  // The names are those of the entries.
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_map_;
};

// A whole map as a file.
struct ExportedMap {
  v1::ExportMapHeader header;
  std::string bytes;
};

// Progress of a file transfer: bytes sent or received, and the total. May be null.
using TransferProgress = std::function<void(int64_t done, int64_t size)>;

// Connection to a Waystar server, or to several with the same maps. It is established on first use, and again
// whenever it breaks. With several servers, read-only calls are distributed, and calls that change something
// fail before anything is sent: FAILED_PRECONDITION; see Connection::StatusForChanges.
//
// Each call blocks until it is answered, fails, or reaches its timeout (DEADLINE_EXCEEDED). An error has the
// server's code and message; ReasonOf() and FieldOf() return its reason and field. An unreachable server is
// UNAVAILABLE.
//
// Read-only calls are retried if the server is not available (UNAVAILABLE), and, except for TraceSearch and
// ExportMap, if it is temporarily too busy (RESOURCE_EXHAUSTED with a delay): four times at most, within the
// timeout, and not while most calls fail. So is UpdateMap with a request_id. Any other call that
// changes a map and ends with UNAVAILABLE or DEADLINE_EXCEEDED may or may not have been carried out.
//
// Queries see the client's own changes: unless a query sets view.least_version, the client sends the version
// made by its last CreateMap, ImportMap or UpdateMap of the map, so that any server of a fleet answers
// with that version or a later one (Options::reads_own_writes). If the map was replaced (MAP_REPLACED), the
// query is retried without it. Set an empty least_version to accept any version. Streams, watches, traces and
// pictures do not use this.
//
// Streams must not outlive the client. The RPCs and their errors are described in waystar/v1/*.proto.
//
// Thread safety: all calls may be made from any thread at the same time.
class Client {
 public:
  explicit Client(const Options& options = {});

  // Returns INVALID_ARGUMENT for invalid options or unreadable files; all calls then fail with it.
  const absl::Status& status() const { return connection_.status(); }

  absl::StatusOr<v1::FindPathResponse> FindPath(const v1::FindPathRequest& request) const {
    return Ask(&Paths::FindPath, request);
  }

  // Calls `on_event` with each event, in order, as they arrive.
  // Errors: DATA_LOSS if the server ends the trace without a result.
  absl::StatusOr<v1::TraceSearchResult> TraceSearch(
      const v1::TraceSearchRequest& request, absl::FunctionRef<void(const v1::SearchEvent&)> on_event) const;

  absl::StatusOr<v1::ValidatePathsResponse> ValidatePaths(const v1::ValidatePathsRequest& request) const {
    return Ask(&Paths::ValidatePaths, request);
  }

  std::unique_ptr<AgentStream> FollowAgents() const {
    return std::make_unique<AgentStream>(connection_, paths_.get(), options_.stream_timeout);
  }

  // Requests about many starts or goals at once, and about cells.
  absl::StatusOr<v1::FindPathsResponse> FindPaths(const v1::FindPathsRequest& request) const {
    return Ask(&Paths::FindPaths, request);
  }
  absl::StatusOr<v1::ComputeCostMatrixResponse> ComputeCostMatrix(
      const v1::ComputeCostMatrixRequest& request) const {
    return Ask(&Paths::ComputeCostMatrix, request);
  }
  absl::StatusOr<v1::FindReachableResponse> FindReachable(const v1::FindReachableRequest& request) const {
    return Ask(&Paths::FindReachable, request);
  }
  absl::StatusOr<v1::ComputeFlowFieldResponse> ComputeFlowField(
      const v1::ComputeFlowFieldRequest& request) const {
    return Ask(&Paths::ComputeFlowField, request);
  }
  absl::StatusOr<v1::CheckReachabilityResponse> CheckReachability(
      const v1::CheckReachabilityRequest& request) const {
    return Ask(&Paths::CheckReachability, request);
  }
  absl::StatusOr<v1::CastRayResponse> CastRay(const v1::CastRayRequest& request) const {
    return Ask(&Paths::CastRay, request);
  }
  absl::StatusOr<v1::CheckMovesResponse> CheckMoves(const v1::CheckMovesRequest& request) const {
    return Ask(&Paths::CheckMoves, request);
  }
  absl::StatusOr<v1::SamplePlacesResponse> SamplePlaces(const v1::SamplePlacesRequest& request) const {
    return Ask(&Paths::SamplePlaces, request);
  }
  absl::StatusOr<v1::ProbeSurfaceResponse> ProbeSurface(const v1::ProbeSurfaceRequest& request) const {
    return Ask(&Paths::ProbeSurface, request);
  }
  absl::StatusOr<v1::ExplainPathResponse> ExplainPath(const v1::ExplainPathRequest& request) const {
    return Ask(&Paths::ExplainPath, request);
  }

  absl::StatusOr<v1::CreateMapResponse> CreateMap(const v1::CreateMapRequest& request) const {
    return Noted(request.map(), Call(maps_, &Maps::CreateMap, request,
                                     request.request_id().empty() ? Repeatable::kNever : Repeatable::kHasId));
  }
  absl::StatusOr<v1::GetMapResponse> GetMap(const v1::GetMapRequest& request) const {
    return Call(maps_, &Maps::GetMap, request, Repeatable::kReads);
  }
  // One page.
  absl::StatusOr<v1::ListMapsResponse> ListMaps(const v1::ListMapsRequest& request) const {
    return Call(maps_, &Maps::ListMaps, request, Repeatable::kReads);
  }
  absl::StatusOr<v1::DeleteMapResponse> DeleteMap(const v1::DeleteMapRequest& request) const {
    auto response = Call(maps_, &Maps::DeleteMap, request, Repeatable::kNever);
    if (response.ok()) {
      own_writes_.Forget(request.map());
    }
    return response;
  }
  // Sets request_time to the present time if the batch has a request_id and no request_time, so that the
  // client's own retries are never applied twice. To repeat the call later, set request_time yourself.
  absl::StatusOr<v1::UpdateMapResponse> UpdateMap(v1::UpdateMapRequest request) const {
    StampRequestTime(request);
    return Noted(request.map(), Call(maps_, &Maps::UpdateMap, request,
                                     request.request_id().empty() ? Repeatable::kNever : Repeatable::kHasId));
  }

  std::unique_ptr<UpdateStream> StreamUpdates() const {
    return std::make_unique<UpdateStream>(connection_, maps_.get(), options_.stream_timeout);
  }
  std::unique_ptr<MoveStream> StreamCheckMoves() const {
    return std::make_unique<MoveStream>(connection_, paths_.get(), options_.stream_timeout);
  }
  std::unique_ptr<PathStream> StreamFindPath() const {
    return std::make_unique<PathStream>(connection_, paths_.get(), options_.stream_timeout);
  }
  // One page.
  absl::StatusOr<v1::ListObstaclesResponse> ListObstacles(const v1::ListObstaclesRequest& request) const {
    return Call(maps_, &Maps::ListObstacles, request, Repeatable::kReads);
  }
  // One page.
  absl::StatusOr<v1::ListPortalsResponse> ListPortals(const v1::ListPortalsRequest& request) const {
    return Call(maps_, &Maps::ListPortals, request, Repeatable::kReads);
  }
  // One page.
  absl::StatusOr<v1::ListNodesResponse> ListNodes(const v1::ListNodesRequest& request) const {
    return Call(maps_, &Maps::ListNodes, request, Repeatable::kReads);
  }
  // One page.
  absl::StatusOr<v1::ListAgentsResponse> ListAgents(const v1::ListAgentsRequest& request) const {
    return Call(paths_, &Paths::ListAgents, request, Repeatable::kReads);
  }
  absl::StatusOr<v1::RenderMapResponse> RenderMap(const v1::RenderMapRequest& request) const {
    // A picture may be of a whole map.
    return Call(pictures_, &Pictures::RenderMap, request, Repeatable::kReads, options_.transfer_timeout);
  }
  std::unique_ptr<MapWatch> WatchMap(const v1::WatchMapRequest& request) const {
    return std::make_unique<MapWatch>(connection_, maps_.get(), request, options_.stream_timeout);
  }

  // Sends `bytes` in chunks. Sets header.size.
  absl::StatusOr<v1::ImportMapResponse> ImportMap(v1::ImportMapHeader header, std::string_view bytes) const;
  // Sends the rest of `file`, with one chunk in memory at a time. Returns DATA_LOSS if it cannot be read to
  // the end. REQUIRES: `file` can seek.
  absl::StatusOr<v1::ImportMapResponse> ImportMap(v1::ImportMapHeader header, std::istream& file,
                                                  const TransferProgress& tell = nullptr) const;

  // Returns DATA_LOSS if the server sends another number of bytes than announced.
  absl::StatusOr<ExportedMap> ExportMap(const v1::ExportMapRequest& request,
                                        const TransferProgress& tell = nullptr) const;

  // Makes later queries of the map see a change by another client, as if this client had made it. Use it in
  // clients of several servers, which make no changes themselves.
  void NoteChange(const std::string& map, const v1::Version& version) const {
    own_writes_.Note(map, version);
  }

  // Returns the server's version and limits; sets the level of its log.
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo(
      const v1::GetServerInfoRequest& request = {}) const {
    return Call(server_, &Server::GetServerInfo, request, Repeatable::kReads);
  }
  absl::StatusOr<v1::SetLogLevelResponse> SetLogLevel(const v1::SetLogLevelRequest& request) const {
    return Call(server_, &Server::SetLogLevel, request, Repeatable::kNever);
  }
  // Returns the server's counters and current load; client/metrics.h reads them.
  absl::StatusOr<v1::GetMetricsResponse> GetMetrics(const v1::GetMetricsRequest& request = {}) const {
    return Call(server_, &Server::GetMetrics, request, Repeatable::kReads);
  }
  // Returns the servers of the fleet.
  absl::StatusOr<v1::ListServersResponse> ListServers(const v1::ListServersRequest& request = {}) const {
    return Call(server_, &Server::ListServers, request, Repeatable::kReads);
  }

  // Returns the server's status by the standard health protocol.
  absl::StatusOr<grpc::health::v1::HealthCheckResponse> CheckHealth(
      const grpc::health::v1::HealthCheckRequest& request) const {
    return Call(health_, &Health::Check, request, Repeatable::kReads);
  }

 private:
  using Paths = v1::PathService::StubInterface;
  using Maps = v1::MapService::StubInterface;
  using Pictures = v1::PictureService::StubInterface;
  using Server = v1::ServerService::StubInterface;
  using Health = grpc::health::v1::Health::StubInterface;

  absl::StatusOr<ExportedMap> ExportMapOnce(const v1::ExportMapRequest& request,
                                            const TransferProgress& tell) const;

  // Makes a call whose request has a view.
  template <typename Request, typename Response>
  absl::StatusOr<Response> Ask(grpc::Status (Paths::*method)(grpc::ClientContext*, const Request&, Response*),
                               const Request& request) const;
  // Records the version that a change has made.
  template <typename Response>
  absl::StatusOr<Response> Noted(const std::string& map, absl::StatusOr<Response> response) const;

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(const std::unique_ptr<Stub>& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, Repeatable repeatable,
                                std::optional<absl::Duration> timeout = {}) const;

  const Options options_;
  const Connection connection_;
  mutable RetryBudget retry_budget_;
  mutable OwnWrites own_writes_;
  std::unique_ptr<Paths> paths_;
  std::unique_ptr<Maps> maps_;
  std::unique_ptr<Pictures> pictures_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Health> health_;
};

template <typename Request, typename Response>
absl::StatusOr<Response> Client::Ask(grpc::Status (Paths::*method)(grpc::ClientContext*, const Request&,
                                                                   Response*),
                                     const Request& request) const {
  const std::optional<v1::Version> least =
      request.view().has_least_version() ? std::nullopt : own_writes_.Of(request.map());
  if (!least) {
    return Call(paths_, method, request, Repeatable::kReads);
  }
  Request own = request;
  *own.mutable_view()->mutable_least_version() = *least;
  const absl::Time end = absl::Now() + options_.timeout;
  absl::StatusOr<Response> response = Call(paths_, method, own, Repeatable::kReads);
  if (ReasonOf(response.status()) == "MAP_REPLACED") {
    own_writes_.Forget(request.map(), least->epoch());
    response = Call(paths_, method, request, Repeatable::kReads, end - absl::Now());
  }
  return response;
}

template <typename Response>
absl::StatusOr<Response> Client::Noted(const std::string& map, absl::StatusOr<Response> response) const {
  if (response.ok()) {
    if constexpr (requires { response->info(); }) {
      own_writes_.Note(map, response->info().version());
    } else {
      own_writes_.Note(map, response->version());
    }
  }
  return response;
}

template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Client::Call(const std::unique_ptr<Stub>& stub,
                                      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                                   Response*),
                                      const Request& request, Repeatable repeatable,
                                      std::optional<absl::Duration> timeout) const {
  const absl::Status problem = repeatable == Repeatable::kReads ? status() : connection_.StatusForChanges();
  if (!problem.ok()) {
    return problem;
  }
  Response response;
  const absl::Status result =
      CallWithRetries(options_.retry ? repeatable : Repeatable::kNever, timeout.value_or(options_.timeout),
                      retry_budget_, [&](absl::Duration left) {
                        grpc::ClientContext context;
                        connection_.Prepare(context, left);
                        return FromGrpc((*stub.*method)(&context, request, &response));
                      });
  if (!result.ok()) {
    return result;
  }
  return response;
}

}  // namespace waystar::client
