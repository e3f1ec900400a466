#include "server/storage/etcd/etcd_client.h"

#include <cassert>
#include <utility>

#include "server/base/status_macros.h"
#include "server/base/thread.h"
#include "server/storage/etcd/etcd.grpc.pb.h"
#include "server/storage/etcd/etcd_error.h"
#include "server/storage/etcd/etcd_session.h"

namespace waystar::etcd {
namespace {

namespace pb = ::etcdserverpb;

void FillRange(const RangeQuery& query, pb::RangeRequest& request) {
  request.set_key(query.key);
  request.set_range_end(query.range_end);
  request.set_revision(query.revision);
  request.set_limit(query.limit);
  request.set_keys_only(query.keys_only);
  request.set_serializable(query.serializable);
}

std::vector<KeyValue> TakeEntries(pb::RangeResponse& response) {
  std::vector<KeyValue> entries;
  entries.reserve(response.kvs_size());
  for (pb::KeyValue& entry : *response.mutable_kvs()) {
    entries.push_back({.key = std::move(*entry.mutable_key()),
                       .value = std::move(*entry.mutable_value()),
                       .create_revision = entry.create_revision(),
                       .mod_revision = entry.mod_revision(),
                       .version = entry.version()});
  }
  return entries;
}

void FillCompare(const Compare& compare, pb::Compare& request) {
  request.set_key(compare.key);
  request.set_target(static_cast<pb::Compare::CompareTarget>(compare.target));
  request.set_result(static_cast<pb::Compare::CompareResult>(compare.relation));
  switch (compare.target) {
    case Compare::Target::kVersion:
      request.set_version(compare.number);
      break;
    case Compare::Target::kCreateRevision:
      request.set_create_revision(compare.number);
      break;
    case Compare::Target::kModRevision:
      request.set_mod_revision(compare.number);
      break;
    case Compare::Target::kValue:
      request.set_value(compare.value);
      break;
  }
}

void FillOperation(const Operation& operation, pb::RequestOp& request) {
  if (const auto* const put = std::get_if<Put>(&operation)) {
    request.mutable_request_put()->set_key(put->key);
    request.mutable_request_put()->set_value(put->value);
    request.mutable_request_put()->set_lease(put->lease);
  } else if (const auto* const removal = std::get_if<Delete>(&operation)) {
    request.mutable_request_delete_range()->set_key(removal->key);
    request.mutable_request_delete_range()->set_range_end(removal->range_end);
  } else {
    FillRange(std::get<RangeQuery>(operation), *request.mutable_request_range());
  }
}

pb::TxnRequest ToRequest(const Txn& txn) {
  pb::TxnRequest request;
  for (const Compare& compare : txn.compares) {
    FillCompare(compare, *request.add_compare());
  }
  for (const Operation& operation : txn.then) {
    FillOperation(operation, *request.add_success());
  }
  for (const Operation& operation : txn.otherwise) {
    FillOperation(operation, *request.add_failure());
  }
  return request;
}

RangeResult ToResult(pb::RangeResponse response) {
  return {.revision = response.header().revision(),
          .entries = TakeEntries(response),
          .has_more = response.more(),
          .cluster = response.header().cluster_id()};
}

TxnResult ToResult(pb::TxnResponse response) {
  TxnResult result{
      .succeeded = response.succeeded(), .revision = response.header().revision(), .results = {}};
  result.results.reserve(response.responses_size());
  for (pb::ResponseOp& each : *response.mutable_responses()) {
    OperationResult& operation = result.results.emplace_back();
    if (each.has_response_range()) {
      operation.has_more = each.response_range().more();
      operation.entries = TakeEntries(*each.mutable_response_range());
    } else if (each.has_response_delete_range()) {
      operation.deleted = each.response_delete_range().deleted();
    }
  }
  return result;
}

// Starts a call whose result is that of `ToResult`, and notes its revision.
template <typename Request, typename Response, typename Done>
void StartNoted(Session& session, CallKind<Request, Response> kind, Request request, Done done) {
  Call<Request, Response>::Start(
      session, kind, std::move(request),
      [&session, done = std::move(done)](absl::StatusOr<Response> response) mutable {
        if (!response.ok()) {
          std::move(done)(std::move(response).status());
          return;
        }
        auto result = ToResult(*std::move(response));
        session.NoteRevision(result.revision);
        std::move(done)(std::move(result));
      });
}

template <typename Request, typename Response>
absl::StatusOr<Response> Ask(Session& session, CallKind<Request, Response> kind, Request request) {
  return CallAndWait<absl::StatusOr<Response>>(
      [&](auto done) { Call<Request, Response>::Start(session, kind, std::move(request), std::move(done)); });
}

constexpr CallKind<pb::RangeRequest, pb::RangeResponse> kRange{
    .start = [](Member& member, auto* context, auto* request, auto* response, auto done) {
      member.kv.async()->Range(context, request, response, std::move(done));
    }};
constexpr CallKind<pb::TxnRequest, pb::TxnResponse> kTxn{
    .start = [](Member& member, auto* context, auto* request, auto* response,
                auto done) { member.kv.async()->Txn(context, request, response, std::move(done)); },
    .is_read = false};
// Safe to retry: an unused second lease expires.
constexpr CallKind<pb::LeaseGrantRequest, pb::LeaseGrantResponse> kGrant{
    .start = [](Member& member, auto* context, auto* request, auto* response, auto done) {
      member.lease.async()->LeaseGrant(context, request, response, std::move(done));
    }};
constexpr CallKind<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse> kKeepAlive{
    .start = [](Member& member, auto* context, auto* request, auto* response, auto done) {
      member.lease.async()->LeaseKeepAlive(context, request, response, std::move(done));
    }};
constexpr CallKind<pb::LeaseRevokeRequest, pb::LeaseRevokeResponse> kRevoke{
    .start = [](Member& member, auto* context, auto* request, auto* response, auto done) {
      member.lease.async()->LeaseRevoke(context, request, response, std::move(done));
    }};
// Safe to retry: compacting twice does no harm.
constexpr CallKind<pb::CompactionRequest, pb::CompactionResponse> kCompact{
    .start = [](Member& member, auto* context, auto* request, auto* response, auto done) {
      member.kv.async()->Compact(context, request, response, std::move(done));
    }};
constexpr CallKind<pb::StatusRequest, pb::StatusResponse> kStatus{
    .start = [](Member& member, auto* context, auto* request, auto* response, auto done) {
      member.maintenance.async()->Status(context, request, response, std::move(done));
    }};
constexpr CallKind<pb::AlarmRequest, pb::AlarmResponse> kAlarm{
    .start = [](Member& member, auto* context, auto* request, auto* response, auto done) {
      member.maintenance.async()->Alarm(context, request, response, std::move(done));
    }};

}  // namespace

std::string EndOfPrefix(absl::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') {
    end.pop_back();
  }
  if (end.empty()) {
    // etcd takes "\0" as the end of all keys.
    return std::string(1, '\0');
  }
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

absl::StatusOr<std::unique_ptr<Client>> Client::Open(const ClientOptions& options) {
  assert(!options.endpoints.empty());
  WAYSTAR_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Open(options));
  return std::unique_ptr<Client>(new Client(std::move(session)));
}

Client::Client(std::unique_ptr<Session> session) : session_(std::move(session)) {}

Client::~Client() = default;

void Client::Range(const RangeQuery& query, RangeDone done) {
  pb::RangeRequest request;
  FillRange(query, request);
  StartNoted(*session_, kRange, std::move(request), std::move(done));
}

absl::StatusOr<RangeResult> Client::Range(const RangeQuery& query) {
  return CallAndWait<absl::StatusOr<RangeResult>>([&](RangeDone done) { Range(query, std::move(done)); });
}

absl::StatusOr<std::int64_t> Client::ReadPages(RangeQuery query,
                                               absl::FunctionRef<absl::Status(const KeyValue& entry)> take) {
  assert(query.limit > 0);
  while (true) {
    WAYSTAR_ASSIGN_OR_RETURN(const RangeResult page, Range(query));
    if (query.revision == 0) {
      query.revision = page.revision;
    }
    for (const KeyValue& entry : page.entries) {
      WAYSTAR_RETURN_IF_ERROR(take(entry));
    }
    if (!page.has_more || page.entries.empty()) {
      return query.revision;
    }
    // The next greater key.
    query.key = page.entries.back().key;
    query.key.push_back('\0');
  }
}

void Client::Commit(const Txn& txn, TxnDone done) {
  StartNoted(*session_, kTxn, ToRequest(txn), std::move(done));
}

absl::StatusOr<TxnResult> Client::Commit(const Txn& txn) {
  return CallAndWait<absl::StatusOr<TxnResult>>([&](TxnDone done) { Commit(txn, std::move(done)); });
}

absl::StatusOr<std::int64_t> Client::GrantLease(absl::Duration time_to_live) {
  pb::LeaseGrantRequest request;
  request.set_ttl(absl::ToInt64Seconds(time_to_live));
  WAYSTAR_ASSIGN_OR_RETURN(const pb::LeaseGrantResponse response, Ask(*session_, kGrant, std::move(request)));
  return response.id();
}

absl::StatusOr<bool> Client::KeepLease(std::int64_t lease) {
  pb::LeaseKeepAliveRequest request;
  request.set_id(lease);
  WAYSTAR_ASSIGN_OR_RETURN(const pb::LeaseKeepAliveResponse response,
                           Ask(*session_, kKeepAlive, std::move(request)));
  return response.ttl() > 0;
}

absl::Status Client::RevokeLease(std::int64_t lease) {
  pb::LeaseRevokeRequest request;
  request.set_id(lease);
  return Ask(*session_, kRevoke, std::move(request)).status();
}

absl::Status Client::Compact(std::int64_t revision) {
  pb::CompactionRequest request;
  request.set_revision(revision);
  const absl::Status status = Ask(*session_, kCompact, std::move(request)).status();
  return FailureOf(status) == Failure::kCompacted ? absl::OkStatus() : status;
}

absl::Status Client::CheckCertificates() const { return session_->CheckCertificates(); }

absl::StatusOr<ClusterStatus> Client::Status() {
  WAYSTAR_ASSIGN_OR_RETURN(const pb::StatusResponse response, Ask(*session_, kStatus, pb::StatusRequest()));
  WAYSTAR_ASSIGN_OR_RETURN(const pb::AlarmResponse alarms, Ask(*session_, kAlarm, pb::AlarmRequest()));
  ClusterStatus status{.member = response.header().member_id(),
                       .leader = response.leader(),
                       .version = response.version(),
                       .db_bytes = response.db_size(),
                       .db_bytes_in_use = response.db_size_in_use(),
                       .revision = response.header().revision()};
  for (const pb::AlarmMember& alarm : alarms.alarms()) {
    status.has_no_space |= alarm.alarm() == pb::NOSPACE;
    status.is_corrupt |= alarm.alarm() == pb::CORRUPT;
  }
  return status;
}

}  // namespace waystar::etcd
