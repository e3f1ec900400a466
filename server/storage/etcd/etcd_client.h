// Client of etcd, version 3.4 or later.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/storage/etcd/etcd_address.h"

namespace waystar::etcd {

// Paths of PEM files.
struct TlsFiles {
  // Root certificates for the members; empty for those of the system.
  std::string ca;
  // Certificate and key of the client; both empty if it presents none.
  std::string cert;
  std::string key;
};

struct ClientOptions {
  // Members of one cluster, in any order.
  std::vector<Endpoint> endpoints;
  bool uses_tls = false;
  TlsFiles tls;
  // File whose first line is "USER:PASSWORD"; empty if etcd does not require authentication.
  std::string password_file;
  // Timeout of a call, over all members that are tried.
  absl::Duration call_timeout = absl::Seconds(5);
  // Timeout of a read on one member before the next one is tried.
  absl::Duration read_timeout = absl::Seconds(2);
  // HTTP/2 keepalive while calls or watches run: ping interval, and time to wait for the answer. etcd closes
  // connections that ping more often than every five seconds.
  absl::Duration ping_interval = absl::Seconds(10);
  absl::Duration ping_timeout = absl::Seconds(3);
};

struct KeyValue {
  std::string key;
  std::string value;
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;
  // Number of puts since the key was created.
  std::int64_t version = 0;

  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// Returns the end of the range of all keys that begin with `prefix`: "/maps0" for "/maps/".
std::string EndOfPrefix(absl::string_view prefix);

struct RangeQuery {
  std::string key;
  // Range [key, range_end); only `key` if empty.
  std::string range_end;
  // Revision to read at; 0 for the latest.
  std::int64_t revision = 0;
  // Maximum number of entries; 0 for all.
  std::int64_t limit = 0;
  bool keys_only = false;
  // If true, the member may answer from its own, possibly old state, without contacting others.
  bool serializable = false;
};

struct RangeResult {
  // Latest revision of etcd when it answered, whatever revision was read.
  std::int64_t revision = 0;
  // Sorted by key.
  std::vector<KeyValue> entries;
  // True if there are more entries than `limit`.
  bool has_more = false;
  // Id of the cluster.
  std::uint64_t cluster = 0;
};

struct Compare {
  // The numbers are those of etcd's protocol.
  enum class Target : std::uint8_t { kVersion, kCreateRevision, kModRevision, kValue };
  enum class Relation : std::uint8_t { kEqual, kGreater, kLess, kNotEqual };

  std::string key;
  Target target = Target::kModRevision;
  Relation relation = Relation::kEqual;
  // Operand: `value` for kValue, else `number`. The compared number is 0 if the key does not exist.
  std::int64_t number = 0;
  std::string value;
};

struct Put {
  std::string key;
  std::string value;
  // Lease that the key is bound to; 0 for none.
  std::int64_t lease = 0;
};

struct Delete {
  std::string key;
  // End of the range, as in RangeQuery.
  std::string range_end;
};

using Operation = std::variant<Put, Delete, RangeQuery>;

// etcd by default accepts 128 operations per branch and 1.5 MiB in all, and rejects a transaction that puts a
// key twice.
struct Txn {
  std::vector<Compare> compares;
  // Operations if all comparisons hold.
  std::vector<Operation> then;
  // Operations if a comparison fails.
  std::vector<Operation> otherwise;
};

struct OperationResult {
  // Result of a RangeQuery.
  std::vector<KeyValue> entries;
  bool has_more = false;
  // Number of keys removed by a Delete.
  std::int64_t deleted = 0;
};

struct TxnResult {
  // True if all comparisons held.
  bool succeeded = false;
  // Revision of the transaction if it put or deleted anything, else the latest one.
  std::int64_t revision = 0;
  // One result per operation of the executed branch.
  std::vector<OperationResult> results;
};

struct ClusterStatus {
  // Ids of the member that answered and of the leader it knows; the latter is 0 if it knows none.
  std::uint64_t member = 0;
  std::uint64_t leader = 0;
  // Version of etcd, such as "3.4.23".
  std::string version;
  std::int64_t db_bytes = 0;
  // Size of the database without free pages, that is, after a defragmentation.
  std::int64_t db_bytes_in_use = 0;
  std::int64_t revision = 0;
  // True if any member has raised the alarm NOSPACE, and if any has raised CORRUPT.
  bool has_no_space = false;
  bool is_corrupt = false;
};

class Session;

// Keeps a connection to each member. A call goes to one member, and to the next if that one fails or does not
// answer. A write goes to another member only if it is certain that the first one did not apply it.
//
// All calls return the errors of etcd_error.h (`FailureOf`).
//
// Thread safety: any method may be called from any thread.
class Client {
 public:
  // Makes a client without waiting for a connection. Returns INVALID_ARGUMENT / BAD_VALUE, with the name of
  // the option, if a file cannot be read or has the wrong content.
  // REQUIRES: there is at least one endpoint.
  static absl::StatusOr<std::unique_ptr<Client>> Open(const ClientOptions& options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Cancels running calls and waits for their callbacks.
  // REQUIRES: no Watch of this client exists, and the caller is not a callback.
  ~Client();

  using RangeDone = absl::AnyInvocable<void(absl::StatusOr<RangeResult>) &&>;
  // Reads a range at once. `done` is called as in Commit.
  void Range(const RangeQuery& query, RangeDone done);
  absl::StatusOr<RangeResult> Range(const RangeQuery& query);

  // Reads a range as of one revision, in pages of at most `query.limit` keys, and calls `take` for each
  // entry, sorted by key. Returns that revision: `query.revision`, or the latest if it is 0. An error of
  // `take` ends the read and is returned.
  // REQUIRES: query.limit > 0.
  absl::StatusOr<std::int64_t> ReadPages(RangeQuery query,
                                         absl::FunctionRef<absl::Status(const KeyValue& entry)> take);

  using TxnDone = absl::AnyInvocable<void(absl::StatusOr<TxnResult>) &&>;
  // Calls `done` once: on a thread of the gRPC library, or on the caller's if the call fails early. `done`
  // must not block. If several transactions are in flight, etcd may apply them in any order.
  void Commit(const Txn& txn, TxnDone done);
  absl::StatusOr<TxnResult> Commit(const Txn& txn);

  // Returns a new lease. `time_to_live` is in whole seconds; the lease expires unless it is kept alive.
  absl::StatusOr<std::int64_t> GrantLease(absl::Duration time_to_live);
  // Restarts the time to live of a lease. Returns false if it has expired.
  absl::StatusOr<bool> KeepLease(std::int64_t lease);
  // Ends a lease and deletes its keys.
  absl::Status RevokeLease(std::int64_t lease);

  // Compacts: discards everything that was replaced or deleted up to `revision`. Succeeds if that revision is
  // already compacted.
  absl::Status Compact(std::int64_t revision);

  // Checks whether members are unreachable because of certificates. Returns kDenied, with the rejecting side
  // and the reason, if that is so for most members; else OK. Takes some seconds per member, and more if hosts
  // are slow to resolve.
  absl::Status CheckCertificates() const;

  // Returns the status as reported by one of the members.
  absl::StatusOr<ClusterStatus> Status();

 private:
  friend class Watch;

  explicit Client(std::unique_ptr<Session> session);

  const std::unique_ptr<Session> session_;
};

}  // namespace waystar::etcd
