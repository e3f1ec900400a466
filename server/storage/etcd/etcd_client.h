// Client of etcd, version 3.4 or later.
#pragma once

#include <cstddef>
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

namespace waystar::etcd {

inline constexpr std::uint16_t kDefaultPort = 2379;
inline constexpr char kDefaultPrefix[] = "/waystar/";
inline constexpr std::size_t kMaxPrefixBytes = 200;

// A member of a cluster.
struct Endpoint {
  // Host name or IP address; IPv6 without brackets.
  std::string host;
  std::uint16_t port = kDefaultPort;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct Address {
  // At least one, without duplicates.
  std::vector<Endpoint> endpoints;
  // Prefix of all keys; begins and ends with a slash.
  std::string prefix;

  friend bool operator==(const Address&, const Address&) = default;
};

// Parses "etcd://HOST[:PORT][,HOST[:PORT]...][/PREFIX]", such as "etcd://10.0.0.1,[fd00::2]:2379/maps". IPv6
// addresses are in brackets. The default prefix is kDefaultPrefix. A prefix consists of parts of letters,
// digits, '-', '_' and '.', separated by slashes; no part is empty, "." or "..". A trailing slash is
// optional. A prefix has at most kMaxPrefixBytes, slashes included.
//
// Returns INVALID_ARGUMENT / BAD_VALUE; the field is "scheme", "hosts", "hosts[1]" or "prefix".
absl::StatusOr<Address> ParseAddress(absl::string_view text);

// Returns "HOST:PORT", with brackets around an IPv6 address.
std::string TextOf(const Endpoint& endpoint);

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
  std::int64_t mod_revision = 0;

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
  enum class Target : std::uint8_t { kCreateRevision = 1, kModRevision = 2 };
  enum class Relation : std::uint8_t { kEqual, kGreater, kLess };

  std::string key;
  Target target = Target::kModRevision;
  Relation relation = Relation::kEqual;
  // Compared with 0 if the key does not exist.
  std::int64_t number = 0;
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

class Session;

// Keeps a connection to each member. A call goes to one member, and to the next if that one fails or does not
// answer. A write goes to another member only if it is certain that the first one did not apply it.
//
// All calls return errors whose kind FailureOf returns.
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

 private:
  friend class Watch;

  explicit Client(std::unique_ptr<Session> session);

  const std::unique_ptr<Session> session_;
};

// Kinds of failed calls. For every kind except kUnknownOutcome, the call is certain to have changed nothing.
enum class Failure : std::uint8_t {
  // The status is OK, or not from a call to etcd.
  kNone,
  // A write was sent and its outcome is unknown: it was applied, will be, or never is. A later linearizable
  // read tells, unless the write is still pending in etcd.
  kUnknownOutcome,
  // No member could be reached, or none answered a read in time.
  kUnreachable,
  // The reachable members have no leader.
  kNoLeader,
  // The database quota is exhausted; the operator must act.
  kNoSpace,
  // The request exceeds etcd's size limit.
  kTooLarge,
  // Too many writes are pending; retry later.
  kBusy,
  // The requested revision is compacted.
  kCompacted,
  // The requested revision is not reached yet.
  kFutureRevision,
  // User, password, token or certificate are invalid, or the user lacks permission.
  kDenied,
  // Any other rejection: the call itself is invalid.
  kRefused,
  // The client was closed.
  kClosed,
};

// Returns an error of that kind: UNAVAILABLE / STORAGE_FAILED for kUnknownOutcome, kUnreachable and
// kNoLeader; RESOURCE_EXHAUSTED / REQUEST_TOO_LARGE for kTooLarge. The others have no reason:
// RESOURCE_EXHAUSTED for kNoSpace and kBusy, OUT_OF_RANGE for kCompacted and kFutureRevision,
// PERMISSION_DENIED for kDenied, FAILED_PRECONDITION for kRefused, CANCELLED for kClosed.
absl::Status MakeFailure(Failure failure, absl::string_view message);

// Returns the kind that MakeFailure was given; kNone for any other status.
Failure FailureOf(const absl::Status& status);

}  // namespace waystar::etcd
