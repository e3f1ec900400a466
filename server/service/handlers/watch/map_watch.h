// WatchMap: a stream of the revisions of a map, and the registry that notifies such streams of changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/service/admission/server_context.h"
#include "server/service/admission/version_waits.h"
#include "server/service/call/streaming_call.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::rpc {

class MapWatcher {
 public:
  virtual ~MapWatcher() = default;

  // Called when the map may have a new revision. Must be quick.
  virtual void OnNews() = 0;
  // Called when the map of that epoch is gone. Another map may already have its id.
  virtual void OnDelete(std::uint64_t epoch) = 0;
};

// Registry of map watches, with the thread that notifies them of changes. A commit only records its map, at a
// cost independent of the number and speed of watchers. Watchers have no queues: each finds its own news.
//
// Thread safety: any; construction and destruction by one thread.
class MapWatches final : public core::StoreListener {
 public:
  MapWatches() {
    thread_.Start("map-watches", [this] { Run(); });
  }
  MapWatches(const MapWatches&) = delete;
  MapWatches& operator=(const MapWatches&) = delete;
  // Releases all watchers. REQUIRES: no store notifies this of commits any more.
  ~MapWatches() override { thread_.Stop(mutex_); }

  // Notifies the watcher of all changes of the maps with that id, until Remove, or shortly after it. A
  // watcher is notified by one thread.
  void Add(const std::string& map, std::shared_ptr<MapWatcher> watcher);
  void Remove(const std::string& map, const std::shared_ptr<MapWatcher>& watcher);

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;
  void OnLoad(const core::PinnedSnapshot& snapshot) override;
  bool Needs(const core::MapSnapshot& latest) const override;

 private:
  using Watchers = absl::flat_hash_set<std::shared_ptr<MapWatcher>>;

  // Records a change if the map is watched. `ended_epoch` is 0 if it was not deleted.
  void Note(const std::string& map, std::uint64_t ended_epoch);
  void Run();

  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, Watchers> watchers_ ABSL_GUARDED_BY(mutex_);
  // Maps that changed since the thread's last turn, with the epochs of those that were deleted.
  absl::flat_hash_map<std::string, std::vector<std::uint64_t>> news_ ABSL_GUARDED_BY(mutex_);
  StoppableThread thread_;
};

// Parts of MapService that a watch uses; they must outlive it.
struct WatchContext {
  const core::MapStore& store;
  MapWatches& watches;
  // Revisions with more bytes of edits are sent without edits.
  std::size_t max_message_bytes;
};

// Reactor of one WatchMap call. Holds the next revision to report and one message being written; no snapshot,
// no queue and no worker. Whenever no write is pending, it reads the next revision from the store's history,
// on the thread of the notification or of the last write. If the history no longer has the revision of a slow
// client, the client is told to resynchronize.
//
// In a fleet, a watch that resumes after a version that the server does not have yet begins once the server
// has followed all that the fleet knows of the map.
class MapWatch final : public WritingCall, public MapWatcher, private VersionWaits::Waiter {
 public:
  MapWatch(const ServerContext& server, const WatchContext& context, grpc::CallbackServerContext& rpc,
           const grpc::ByteBuffer& request)
      : WritingCall(Kind::kOpenEnded, server, rpc, server.statistics.Of<v1::WatchMapRequest>()),
        context_(context),
        request_bytes_(request) {}

 private:
  absl::Status Admit() override;
  void Advance() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsIdle() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !awaits_version_; }
  void OnDetached() override;
  // MapWatcher.
  void OnNews() override { const Change change(*this); }
  void OnDelete(std::uint64_t epoch) override;
  // VersionWaits::Waiter.
  void OnVersion() override { BeginAgain(); }
  void OnNoVersion() override { BeginAgain(); }

  std::shared_ptr<MapWatch> Self() { return std::static_pointer_cast<MapWatch>(shared_from_this()); }
  absl::Status SendFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns true if the fleet may have the client's version, and has not been asked.
  bool MayHaveNewer() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Restarts once the server has followed what the fleet knows of the map, or cannot.
  void AwaitNewest();
  void BeginAgain();

  void Resynchronize(const core::MapSnapshot& latest, v1::WatchMapResponse& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FillRevision(const core::Commit& commit, v1::MapRevision& out) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WatchContext context_;
  // Valid until the watch is admitted.
  const grpc::ByteBuffer& request_bytes_;
  v1::WatchMapRequest request_;
  bool is_added_ = false;

  // Epoch of the watched map; 0 before the watch has begun.
  std::uint64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  // Coordinates of that map's cells.
  HexCoordinates coordinates_ ABSL_GUARDED_BY(mutex_);
  // True once the fleet was asked, and while the watch waits for its answer.
  bool has_asked_fleet_ ABSL_GUARDED_BY(mutex_) = false;
  bool awaits_version_ ABSL_GUARDED_BY(mutex_) = false;
  // Next revision to report; 0 before that.
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
