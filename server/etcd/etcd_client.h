// A client of etcd, version 3.4 or later.
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
#include "server/etcd/etcd_address.h"

namespace waystar::etcd {

// Paths of PEM files.
struct TlsFiles {
  // The roots of the members' certificates; empty for those of the system.
  std::string ca;
  // This client's certificate and its key; both are empty if it shows none.
  std::string cert;
  std::string key;
};

struct ClientOptions {
  // The members of one cluster, in any order.
  std::vector<Endpoint> endpoints;
  bool uses_tls = false;
  TlsFiles tls;
  // A file whose first line is "USER:PASSWORD"; empty if etcd asks for neither.
  std::string password_file;
  // How long a call may take, over all members that are tried.
  absl::Duration call_timeout = absl::Seconds(5);
  // How long a read waits for one member before it goes to the next.
  absl::Duration read_timeout = absl::Seconds(2);
  // How often a member is pinged while calls or watches run there, and how long it may take to answer. etcd
  // closes connections that ping more often than every five seconds.
  absl::Duration ping_interval = absl::Seconds(10);
  absl::Duration ping_timeout = absl::Seconds(3);
};

struct KeyValue {
  std::string key;
  std::string value;
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;
  // How often the key was put since it was created.
  std::int64_t version = 0;

  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};

// Returns the end of the range of all keys that begin with `prefix`: "/maps0" for "/maps/".
std::string EndOfPrefix(absl::string_view prefix);

struct RangeQuery {
  std::string key;
  // The range is of keys from `key` to before this; only `key` if it is empty.
  std::string range_end;
  // Which state to read: 0 for the latest.
  std::int64_t revision = 0;
  // How many at most; 0 for all.
  std::int64_t limit = 0;
  bool keys_only = false;
  // Whether an old state will do, which costs no word with other members.
  bool serializable = false;
};

struct RangeResult {
  // The latest revision of etcd when it answered, whatever revision was asked for.
  std::int64_t revision = 0;
  // In the order of their keys.
  std::vector<KeyValue> entries;
  // Whether there are more than `limit`.
  bool has_more = false;
  // Names the cluster.
  std::uint64_t cluster = 0;
};

struct Compare {
  enum class Target : std::uint8_t { kVersion, kCreateRevision, kModRevision, kValue };
  enum class Relation : std::uint8_t { kEqual, kGreater, kLess, kNotEqual };

  std::string key;
  Target target = Target::kModRevision;
  Relation relation = Relation::kEqual;
  // What to compare with: the value for kValue, else the number, which is 0 where there is no such key.
  std::int64_t number = 0;
  std::string value;
};

struct Put {
  std::string key;
  std::string value;
  // The key goes when this lease ends; 0 for a key that stays.
  std::int64_t lease = 0;
};

struct Delete {
  std::string key;
  // As in RangeQuery.
  std::string range_end;
};

using Operation = std::variant<Put, Delete, RangeQuery>;

// etcd takes 128 operations in a branch, 1.5 MiB in all, and no key that is put twice, unless it is
// configured otherwise.
struct Txn {
  std::vector<Compare> compares;
  // Done if all comparisons hold.
  std::vector<Operation> then;
  // Done otherwise.
  std::vector<Operation> otherwise;
};

struct OperationResult {
  // Of a RangeQuery.
  std::vector<KeyValue> entries;
  bool has_more = false;
  // How many keys a Delete has removed.
  std::int64_t deleted = 0;
};

struct TxnResult {
  // Whether all comparisons held.
  bool succeeded = false;
  // That of the transaction if it put or deleted anything, else the latest.
  std::int64_t revision = 0;
  // One for each operation of the branch that was done.
  std::vector<OperationResult> results;
};

struct ClusterStatus {
  // The member that answered, and the one that it takes for the leader, which is 0 if it knows none.
  std::uint64_t member = 0;
  std::uint64_t leader = 0;
  // Its version of etcd, such as "3.4.23".
  std::string version;
  std::int64_t db_bytes = 0;
  // What is left of them after a defragmentation.
  std::int64_t db_bytes_in_use = 0;
  std::int64_t revision = 0;
  // The alarms of all members.
  bool has_no_space = false;
  bool is_corrupt = false;
};

class Session;

// The client keeps a connection to each member. Calls go to one of them, and to the next when that fails or
// does not answer. A write goes to another member only if the first one certainly did not apply it.
//
// All calls return the errors of etcd_error.h (`FailureOf`).
//
// Thread safety: any method may be called from any thread.
class Client {
 public:
  // Returns INVALID_ARGUMENT / BAD_VALUE with the field of the options if a file cannot be read or has not
  // what it should. It does not wait for a connection. REQUIRES: there is an endpoint.
  static absl::StatusOr<std::unique_ptr<Client>> Open(const ClientOptions& options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Cancels what runs, and returns when no callback runs any more. REQUIRES: there is no Watch of it, and it
  // is no callback that does this.
  ~Client();

  using RangeDone = absl::AnyInvocable<void(absl::StatusOr<RangeResult>) &&>;
  // Calls `done` as that of Commit.
  void Range(const RangeQuery& query, RangeDone done);
  absl::StatusOr<RangeResult> Range(const RangeQuery& query);

  // Reads all keys that begin with `prefix` as of one revision, in pages of at most `page_keys`, and returns
  // that revision: `revision`, or the latest if that is 0. The pages come in the order of their keys. An
  // error of `on_page` ends it and is returned. REQUIRES: page_keys > 0.
  absl::StatusOr<std::int64_t> ReadPrefix(
      absl::string_view prefix, std::int64_t revision, std::int64_t page_keys,
      absl::FunctionRef<absl::Status(std::vector<KeyValue> page)> on_page);

  using TxnDone = absl::AnyInvocable<void(absl::StatusOr<TxnResult>) &&>;
  // Calls `done` once, on a thread of the RPC library or, if it fails early, on this one; it must not wait
  // for anything. Several transactions may be on their way, and etcd is free to apply them in another order.
  void Commit(const Txn& txn, TxnDone done);
  absl::StatusOr<TxnResult> Commit(const Txn& txn);

  // Returns a new lease, which ends after so long, in whole seconds, unless it is kept.
  absl::StatusOr<std::int64_t> GrantLease(absl::Duration time_to_live);
  // Has the lease last as long again from now on. Returns false if it has ended.
  absl::StatusOr<bool> KeepLease(std::int64_t lease);
  // Ends the lease: its keys are deleted.
  absl::Status RevokeLease(std::int64_t lease);

  // Forgets all that was replaced or deleted up to `revision`, and cannot be read any more. A revision that
  // is compacted already is a success.
  absl::Status Compact(std::int64_t revision);

  // Looks whether it is for certificates that no member can be reached: returns kDenied, with who refuses
  // whose certificate and why, if that is so with most members, and OK otherwise. It takes some seconds for
  // each member, and more where hosts are hard to find.
  absl::Status CheckCertificates() const;

  // Asks one of the members.
  absl::StatusOr<ClusterStatus> Status();

 private:
  friend class Watch;

  explicit Client(std::unique_ptr<Session> session);

  const std::unique_ptr<Session> session_;
};

}  // namespace waystar::etcd
