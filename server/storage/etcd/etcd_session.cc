#include "server/storage/etcd/etcd_session.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/storage/etcd/certificate_check.h"

namespace waystar::etcd {
namespace {

// First and longest delay before a broken connection is retried, and timeout of one attempt.
constexpr int kFirstReconnectMillis = 100;
constexpr int kLastReconnectMillis = 1'000;
constexpr int kConnectMillis = 2'000;
constexpr absl::Duration kHandshakePatience = absl::Seconds(2);

absl::Status BadOption(absl::string_view field, absl::string_view message) {
  return MakeError(ErrorReason::kBadValue, field, message);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, absl::string_view field) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return BadOption(field, absl::StrCat(path, " cannot be read"));
  }
  return text;
}

// Returns the content of a PEM file; an empty string if `path` is empty.
absl::StatusOr<std::string> ReadPem(const std::string& path, absl::string_view field) {
  if (path.empty()) {
    return std::string();
  }
  WAYSTAR_ASSIGN_OR_RETURN(std::string text, ReadFile(path, field));
  if (!absl::StrContains(text, "-----BEGIN ")) {
    return BadOption(field, absl::StrCat(path, " is not a PEM file"));
  }
  return text;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const ClientOptions& options) {
  if (!options.uses_tls) {
    return grpc::InsecureChannelCredentials();
  }
  if (options.tls.cert.empty() != options.tls.key.empty()) {
    return BadOption("tls.key", "a client's certificate and its key go together");
  }
  grpc::SslCredentialsOptions tls;
  WAYSTAR_ASSIGN_OR_RETURN(tls.pem_root_certs, ReadPem(options.tls.ca, "tls.ca"));
  WAYSTAR_ASSIGN_OR_RETURN(tls.pem_cert_chain, ReadPem(options.tls.cert, "tls.cert"));
  WAYSTAR_ASSIGN_OR_RETURN(tls.pem_private_key, ReadPem(options.tls.key, "tls.key"));
  return grpc::SslCredentials(tls);
}

// Returns the user and the password, which may contain colons; both empty if `path` is empty.
absl::StatusOr<std::pair<std::string, std::string>> ReadPassword(const std::string& path) {
  if (path.empty()) {
    return std::pair<std::string, std::string>();
  }
  WAYSTAR_ASSIGN_OR_RETURN(std::string line, ReadFile(path, "password_file"));
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string::npos) {
    return BadOption("password_file", absl::StrCat("the first line of ", path, " is not USER:PASSWORD"));
  }
  return std::pair(line.substr(0, colon), line.substr(colon + 1));
}

grpc::ChannelArguments Arguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMillis);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastReconnectMillis);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMillis);
  // etcd closes connections that ping without a running call.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                   static_cast<int>(absl::ToInt64Milliseconds(options.ping_interval)));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   static_cast<int>(absl::ToInt64Milliseconds(options.ping_timeout)));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return arguments;
}

std::string TargetOf(const Endpoint& endpoint) {
  const std::string text = TextOf(endpoint);
  if (absl::StrContains(endpoint.host, ':')) {
    return absl::StrCat("ipv6:", text);
  }
  const bool is_ip4 = endpoint.host.find_first_not_of("0123456789.") == std::string::npos;
  return absl::StrCat(is_ip4 ? "ipv4:" : "dns:///", text);
}

// Returns why etcd rejected a call before it did anything; nullopt if that is not certain.
std::optional<Failure> RefusalOf(const grpc::Status& status) {
  const std::string& text = status.error_message();
  const bool is_of_etcd = absl::StartsWith(text, "etcdserver: ");
  if (absl::StrContains(text, "request is too large") ||
      absl::StrContains(text, "grpc: received message larger than max")) {
    return Failure::kTooLarge;
  }
  if (IsOfToken(status)) {
    return Failure::kDenied;
  }
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return text == "etcdserver: no leader" ? std::optional(Failure::kNoLeader) : std::nullopt;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      // The library uses this code too, for an answer that is too long.
      if (text == "etcdserver: mvcc: database space exceeded") {
        return Failure::kNoSpace;
      }
      return text == "etcdserver: too many requests" ? std::optional(Failure::kBusy) : std::nullopt;
    case grpc::StatusCode::OUT_OF_RANGE:
      if (absl::StrContains(text, "has been compacted")) {
        return Failure::kCompacted;
      }
      return absl::StrContains(text, "future revision") ? Failure::kFutureRevision : Failure::kRefused;
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
      return Failure::kDenied;
    case grpc::StatusCode::INVALID_ARGUMENT:
      return absl::StrContains(text, "authentication failed") ? Failure::kDenied : Failure::kRefused;
    case grpc::StatusCode::UNIMPLEMENTED:
      return Failure::kRefused;
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::NOT_FOUND:
      return is_of_etcd ? std::optional(Failure::kRefused) : std::nullopt;
    default:
      return std::nullopt;
  }
}

absl::Status FailureOfCall(const grpc::Status& status, Failure otherwise) {
  return MakeFailure(
      RefusalOf(status).value_or(otherwise),
      absl::StrCat("etcd: ", status.error_message(), " (code ", static_cast<int>(status.error_code()), ")"));
}

// Call that only waits for a connection; its answer is ignored.
struct ProbeCall final : public Session::Running {
  void Cancel() override { context.Cancel(); }

  RunningContext context;
  etcdserverpb::StatusRequest request;
  etcdserverpb::StatusResponse response;
};

}  // namespace

absl::Status FailureOfRead(const grpc::Status& status) {
  return FailureOfCall(status, Failure::kUnreachable);
}

absl::Status FailureOfWrite(const grpc::Status& status) {
  return FailureOfCall(status, Failure::kUnknownOutcome);
}

bool IsOfMember(Failure failure) { return failure == Failure::kUnreachable || failure == Failure::kNoLeader; }

bool IsOfToken(const grpc::Status& status) {
  const std::string& text = status.error_message();
  return text == "etcdserver: invalid auth token" || text == "etcdserver: user name is empty" ||
         text == "etcdserver: revision of auth store is old" || text == "auth: revision in header is old";
}

absl::StatusOr<std::unique_ptr<Session>> Session::Open(const ClientOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ChannelCredentials> credentials,
                           MakeCredentials(options));
  WAYSTAR_ASSIGN_OR_RETURN(auto password, ReadPassword(options.password_file));
  std::unique_ptr<Session> session(new Session(options, password.first, password.second));
  for (const Endpoint& endpoint : options.endpoints) {
    session->members_.push_back(std::make_unique<Member>(
        grpc::CreateCustomChannel(TargetOf(endpoint), credentials, Arguments(options))));
  }
  session->Pick();
  return session;
}

Session::Session(const ClientOptions& options, std::string user, std::string password)
    : options_(options), user_(std::move(user)), password_(std::move(password)) {}

Session::~Session() {
  std::vector<std::shared_ptr<Running>> running;
  {
    MutexLock lock(mutex_);
    is_closing_ = true;
    for (const auto& [key, call] : running_) {
      running.push_back(call);
    }
  }
  for (const std::shared_ptr<Running>& call : running) {
    call->Cancel();
  }
  MutexLock lock(mutex_);
  while (!running_.empty()) {
    left_.Wait(mutex_);
  }
}

Member* Session::Pick() {
  const std::size_t preferred = preferred_.load();
  Member* best = nullptr;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = *members_[(preferred + i) % members_.size()];
    if (member.channel->GetState(/*try_to_connect=*/false) != GRPC_CHANNEL_READY) {
      Probe(member);
    } else if (best == nullptr) {
      best = &member;
    }
  }
  return best;
}

void Session::Probe(Member& member) {
  if (member.is_probed.exchange(true)) {
    return;
  }
  const auto call = std::make_shared<ProbeCall>();
  if (!Enter(call)) {
    return;
  }
  auto context = std::make_shared<grpc::ClientContext>();
  context->set_wait_for_ready(true);
  context->set_deadline(absl::ToChronoTime(absl::Now() + options_.call_timeout));
  member.maintenance.async()->Status(call->context.Set(std::move(context)), &call->request, &call->response,
                                     [this, call, &member](const grpc::Status&) {
                                       call->context.Reset();
                                       member.is_probed = false;
                                       Leave(*call);
                                     });
}

void Session::Blame(const Member& member) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].get() == &member) {
      // Does nothing if another thread has moved on already.
      std::size_t expected = i;
      preferred_.compare_exchange_strong(expected, (i + 1) % members_.size());
    }
  }
}

absl::Status Session::CheckCertificates() const {
  if (!options_.uses_tls) {
    return absl::OkStatus();
  }
  std::size_t refused = 0;
  std::string why;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]->channel->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY) {
      return absl::OkStatus();
    }
    const Handshake handshake = ShakeHands(options_.endpoints[i], options_.tls, kHandshakePatience);
    if (handshake.end == HandshakeEnd::kNotRefused) {
      return absl::OkStatus();
    }
    if (handshake.end == HandshakeEnd::kRefused) {
      ++refused;
      why = handshake.why;
    }
  }
  return refused * 2 > members_.size() ? MakeFailure(Failure::kDenied, why) : absl::OkStatus();
}

void Session::WithToken(TokenDone done) {
  std::string token;
  {
    MutexLock lock(mutex_);
    token = token_;
    if (token.empty() && NeedsToken()) {
      token_waiters_.push_back(std::exchange(done, nullptr));
      if (token_waiters_.size() > 1) {
        return;
      }
    }
  }
  if (done != nullptr) {
    std::move(done)(std::move(token));
    return;
  }
  using etcdserverpb::AuthenticateRequest;
  using etcdserverpb::AuthenticateResponse;
  constexpr CallKind<AuthenticateRequest, AuthenticateResponse> kKind{
      .start =
          [](Member& member, grpc::ClientContext* context, const AuthenticateRequest* request,
             AuthenticateResponse* response, std::function<void(grpc::Status)> on_end) {
            member.auth.async()->Authenticate(context, request, response, std::move(on_end));
          },
      .takes_token = false};
  AuthenticateRequest request;
  request.set_name(user_);
  request.set_password(password_);
  Call<AuthenticateRequest, AuthenticateResponse>::Start(
      *this, kKind, std::move(request), [this](absl::StatusOr<AuthenticateResponse> response) {
        if (response.ok()) {
          HandOut(response->token());
        } else if (absl::StrContains(response.status().message(), "authentication is not enabled")) {
          HandOut(std::string());
        } else {
          HandOut(response.status());
        }
      });
}

void Session::HandOut(const absl::StatusOr<std::string>& token) {
  std::vector<TokenDone> waiters;
  {
    MutexLock lock(mutex_);
    token_ = token.value_or("");
    waiters.swap(token_waiters_);
  }
  for (TokenDone& waiter : waiters) {
    std::move(waiter)(token);
  }
}

void Session::DropToken(const std::string& token) {
  MutexLock lock(mutex_);
  if (token_ == token) {
    token_.clear();
  }
}

void Session::Prepare(grpc::ClientContext& context, const std::string& token) {
  // Makes a member without a leader fail at once instead of waiting.
  context.AddMetadata("hasleader", "true");
  if (!token.empty()) {
    context.AddMetadata("token", token);
  }
}

bool Session::Enter(const std::shared_ptr<Running>& running) {
  MutexLock lock(mutex_);
  if (is_closing_) {
    return false;
  }
  running_.emplace(running.get(), running);
  return true;
}

void Session::Leave(const Running& running) {
  // Destroys the call after the lock is released.
  std::shared_ptr<Running> last;
  MutexLock lock(mutex_);
  const auto found = running_.find(&running);
  last = std::move(found->second);
  running_.erase(found);
  left_.NotifyAll();
}

}  // namespace waystar::etcd
