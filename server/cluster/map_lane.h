// What a server has on its way to the log of one map.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/cluster/cluster_values.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_version.h"
#include "server/etcd/etcd_client.h"

namespace waystar::cluster {

// What one revision of etcd has changed of a map.
struct MapChange {
  std::int64_t revision = 0;
  // Whether the map has ended. Else it has a head, and a record unless it has begun.
  bool is_end = false;
  // The value of the head, or of the end, which has none if etcd was full.
  std::optional<std::string> head;
  std::optional<std::string> record;
};

// Something that a store has appended.
struct Append {
  enum class Kind : std::uint8_t { kCreation, kReplacement, kCommits, kDeletion };

  Kind kind = Kind::kCommits;
  // The version that it follows, of epoch 0 if there is no map, and the one that it leads to, which a
  // deletion does not.
  core::MapVersion before = {.epoch = 0};
  core::MapVersion after = {.epoch = 0};
  std::uint64_t digest = 0;
  // Of a beginning: what EncodeStoredMap makes of the map. Of commits: their entry.
  std::string bytes;
  std::chrono::steady_clock::time_point appended;
  core::DurableLog::Done done;
};

// An image that is to be written to a file.
struct SendingFile {
  std::string name;
  std::shared_ptr<const std::string> bytes;
  bool is_written = false;
};

// A transaction that is on its way. It holds all that it takes to send it again.
struct Sending {
  AppendName name;
  // How many of the appends that wait are in it.
  std::size_t appends = 0;
  // What is put before the transaction, and how much of it is there.
  std::vector<etcd::Put> parts;
  std::size_t parts_put = 0;
  // What is written after that. It has the bytes of the append.
  std::optional<SendingFile> file;
  etcd::Txn txn;
  // Whether this is a deletion that puts nothing, since etcd is full.
  bool is_bare = false;
  // Whether etcd has refused it for want of space, though it may have applied it.
  bool is_refused = false;
  // Whether it was ever sent, and whether an answer left open if it was applied.
  bool is_sent = false;
  bool is_in_doubt = false;
  // When it was sent last.
  std::chrono::steady_clock::time_point sent_at;
};

// One map as this server knows it.
struct MapLane {
  // The version that the store has, of epoch 0 if there is no map; and the revision of etcd that brought it,
  // or 0 if there was no map ever.
  core::MapVersion version = {.epoch = 0};
  std::int64_t etcd_revision = 0;
  std::deque<Append> waiting;
  std::optional<Sending> sending;
  // Whether others were first: nothing is sent before the store has followed what they did.
  bool is_behind = false;
  // Names the loading of what others have done to the map, be it a beginning or a large record; 0 if there
  // is none. Until it is there, their later changes wait, unless there are too many: then all is read afresh.
  std::uint64_t loading = 0;
  std::deque<MapChange> changes;
  std::size_t change_bytes = 0;
  bool has_missed_changes = false;
  // What the appends that failed were answered with. It is the answer, too, of those that were made upon
  // them before the store had heard of that.
  std::optional<core::AppendOutcome> lost;
  // Whether what follows cannot be applied, and the map is not served.
  bool is_broken = false;
  // The records since the newest image, and their bytes.
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;
};

}  // namespace waystar::cluster
