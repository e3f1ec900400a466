#include "server/storage/etcd/etcd_client.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/optional.h"
#include "server/base/error.h"
#include "server/base/thread.h"
#include "server/storage/etcd/etcd.grpc.pb.h"
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
}

std::vector<KeyValue> TakeEntries(pb::RangeResponse& response) {
  std::vector<KeyValue> entries;
  entries.reserve(response.kvs_size());
  for (pb::KeyValue& entry : *response.mutable_kvs()) {
    entries.push_back({.key = std::move(*entry.mutable_key()),
                       .value = std::move(*entry.mutable_value()),
                       .mod_revision = entry.mod_revision()});
  }
  return entries;
}

void FillCompare(const Compare& compare, pb::Compare& request) {
  request.set_key(compare.key);
  request.set_target(static_cast<pb::Compare::CompareTarget>(compare.target));
  request.set_result(static_cast<pb::Compare::CompareResult>(compare.relation));
  if (compare.target == Compare::Target::kCreateRevision) {
    request.set_create_revision(compare.number);
  } else {
    request.set_mod_revision(compare.number);
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

namespace {

constexpr char kFailurePayload[] = "waystar/etcd-failure";

absl::Status WithoutKind(Failure failure, absl::string_view message) {
  switch (failure) {
    case Failure::kNone:
      return absl::OkStatus();
    case Failure::kUnknownOutcome:
    case Failure::kUnreachable:
    case Failure::kNoLeader:
      return MakeError(ErrorReason::kStorageFailed, "", message);
    case Failure::kTooLarge:
      return MakeError(ErrorReason::kRequestTooLarge, "", message);
    case Failure::kNoSpace:
    case Failure::kBusy:
      return absl::ResourceExhaustedError(message);
    case Failure::kCompacted:
    case Failure::kFutureRevision:
      return absl::OutOfRangeError(message);
    case Failure::kDenied:
      return absl::PermissionDeniedError(message);
    case Failure::kRefused:
      return absl::FailedPreconditionError(message);
    case Failure::kClosed:
      return absl::CancelledError(message);
  }
  return absl::UnknownError(message);
}

}  // namespace

absl::Status MakeFailure(Failure failure, absl::string_view message) {
  absl::Status status = WithoutKind(failure, message);
  status.SetPayload(kFailurePayload, absl::Cord(absl::StrCat(static_cast<int>(failure))));
  return status;
}

Failure FailureOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kFailurePayload);
  int failure = 0;
  return payload.has_value() && absl::SimpleAtoi(std::string(*payload), &failure)
             ? static_cast<Failure>(failure)
             : Failure::kNone;
}

namespace {

absl::Status Bad(absl::string_view field, absl::string_view message) {
  return MakeError(ErrorReason::kBadValue, field, message);
}

bool IsIp6(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool IsName(absl::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
  });
}

absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view text, const std::string& field) {
  Endpoint endpoint;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "[")) {
    const std::size_t end = std::min(rest.find(']'), rest.size());
    endpoint.host = std::string(rest.substr(0, end));
    rest.remove_prefix(end);
    if (!absl::ConsumePrefix(&rest, "]") || !IsIp6(endpoint.host)) {
      return Bad(field, absl::StrCat("'", text, "' has no IPv6 address in its brackets"));
    }
  } else {
    endpoint.host = std::string(rest.substr(0, rest.find(':')));
    rest.remove_prefix(endpoint.host.size());
    if (std::count(rest.begin(), rest.end(), ':') > 1) {
      return Bad(field, absl::StrCat("'", text, "' has several colons: an IPv6 address is in brackets"));
    }
    if (!IsName(endpoint.host)) {
      return Bad(field, absl::StrCat("'", text, "' has no host: write HOST or HOST:PORT"));
    }
  }
  if (rest.empty()) {
    return endpoint;
  }
  int port = 0;
  if (!absl::ConsumePrefix(&rest, ":") || !absl::SimpleAtoi(rest, &port) || port < 1 || port > 65535) {
    return Bad(field, absl::StrCat("'", text, "': the port is a number from 1 to 65535"));
  }
  endpoint.port = static_cast<std::uint16_t>(port);
  return endpoint;
}

absl::StatusOr<std::vector<Endpoint>> ParseEndpoints(absl::string_view text) {
  if (text.empty()) {
    return Bad("hosts", "there is no host: write etcd://HOST:PORT/PREFIX");
  }
  if (absl::StrContains(text, '@')) {
    return Bad("hosts", "user and password are in a file of their own, not in the address");
  }
  std::vector<Endpoint> endpoints;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::string field = absl::StrCat("hosts[", endpoints.size(), "]");
    WAYSTAR_ASSIGN_OR_RETURN(Endpoint endpoint, ParseEndpoint(part, field));
    if (std::find(endpoints.begin(), endpoints.end(), endpoint) != endpoints.end()) {
      return Bad(field, absl::StrCat(TextOf(endpoint), " is there twice"));
    }
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

absl::StatusOr<std::string> ParsePrefix(absl::string_view path) {
  if (path.empty() || path == "/") {
    return std::string(kDefaultPrefix);
  }
  const absl::string_view parts = absl::StripSuffix(absl::StripPrefix(path, "/"), "/");
  for (const absl::string_view part : absl::StrSplit(parts, '/')) {
    if (!IsName(part) || part == "." || part == "..") {
      return Bad("prefix",
                 absl::StrCat("'", part, "' is not a part of a prefix: letters, digits, '-', '_', '.'"));
    }
  }
  std::string prefix = absl::StrCat("/", parts, "/");
  if (prefix.size() > kMaxPrefixBytes) {
    return Bad("prefix", absl::StrCat("the prefix has more than ", kMaxPrefixBytes, " bytes"));
  }
  return prefix;
}

}  // namespace

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "etcd://")) {
    return Bad("scheme", "the address of etcd begins with etcd://");
  }
  const std::size_t slash = std::min(text.find('/'), text.size());
  Address address;
  WAYSTAR_ASSIGN_OR_RETURN(address.endpoints, ParseEndpoints(text.substr(0, slash)));
  WAYSTAR_ASSIGN_OR_RETURN(address.prefix, ParsePrefix(text.substr(slash)));
  return address;
}

std::string TextOf(const Endpoint& endpoint) {
  return absl::StrContains(endpoint.host, ':') ? absl::StrCat("[", endpoint.host, "]:", endpoint.port)
                                               : absl::StrCat(endpoint.host, ":", endpoint.port);
}

}  // namespace waystar::etcd
