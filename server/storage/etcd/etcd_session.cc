#include "server/storage/etcd/etcd_session.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"

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

constexpr char kProtocols[] = "\x02h2";

struct Freer {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
};

class Socket {
 public:
  Socket(const Endpoint& endpoint, absl::Duration patience) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(endpoint.host.c_str(), absl::StrCat(endpoint.port).c_str(), &hints, &found) != 0) {
      return;
    }
    const std::unique_ptr<addrinfo, Freer> addresses(found);
    const timeval limit = absl::ToTimeval(patience);
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
      socket_ = ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
      setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
      setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      if (connect(socket_, address->ai_addr, address->ai_addrlen) == 0) {
        return;
      }
      ::close(socket_);
      socket_ = -1;
    }
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (socket_ >= 0) {
      ::close(socket_);
    }
  }

  int get() const { return socket_; }

 private:
  int socket_ = -1;
};

// Returns the context of a client that uses these files, or null if one of them cannot be used.
std::unique_ptr<SSL_CTX, Freer> MakeContext(const TlsFiles& files) {
  std::unique_ptr<SSL_CTX, Freer> context(SSL_CTX_new(TLS_client_method()));
  const bool has_roots = files.ca.empty()
                             ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                             : SSL_CTX_load_verify_locations(context.get(), files.ca.c_str(), nullptr) == 1;
  const bool has_own = files.cert.empty() ||
                       (SSL_CTX_use_certificate_chain_file(context.get(), files.cert.c_str()) == 1 &&
                        SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) == 1);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(kProtocols),
                          sizeof(kProtocols) - 1);
  return has_roots && has_own ? std::move(context) : nullptr;
}

// Returns true if the peer ended the handshake because of a certificate.
bool IsRefusal(unsigned long error) {
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) {
    return false;
  }
  switch (ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET) {
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_DECRYPT_ERROR:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

void ExpectHost(const std::string& host, SSL* connection) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host.c_str()) != 1) {
    SSL_set1_host(connection, host.c_str());
    SSL_set_tlsext_host_name(connection, host.c_str());
  }
}

enum class HandshakeEnd : std::uint8_t { kRefused, kNotRefused, kNoAnswer };

struct Handshake {
  HandshakeEnd end = HandshakeEnd::kNoAnswer;
  // For kRefused: which side rejects which certificate, and why.
  std::string why;
};

// Performs a TLS handshake with a member to find out why connections fail, since the gRPC library does not
// say. `patience` limits each attempt to connect, each read and each write. The files must be usable, as
// checked by Client::Open.
Handshake ShakeHands(const Endpoint& endpoint, const TlsFiles& files, absl::Duration patience) {
  const std::unique_ptr<SSL_CTX, Freer> context = MakeContext(files);
  const Socket socket(endpoint, patience);
  if (context == nullptr || socket.get() < 0) {
    return {};
  }
  const std::unique_ptr<SSL, Freer> connection(SSL_new(context.get()));
  ExpectHost(endpoint.host, connection.get());
  SSL_set_fd(connection.get(), socket.get());
  ERR_clear_error();
  // In TLS 1.3 a member rejects a certificate after the client considers the handshake done. A member that
  // accepts it sends nothing, since it waits for the client.
  char byte = 0;
  const bool is_done = SSL_connect(connection.get()) == 1;
  if (is_done && SSL_read(connection.get(), &byte, 1) == 1) {
    return {.end = HandshakeEnd::kNotRefused};
  }
  const unsigned long error = ERR_get_error();
  const long verified = SSL_get_verify_result(connection.get());
  ERR_clear_error();
  if (verified != X509_V_OK) {
    return {.end = HandshakeEnd::kRefused,
            .why = absl::StrCat("the certificate of etcd at ", TextOf(endpoint),
                                " is not taken: ", X509_verify_cert_error_string(verified))};
  }
  if (IsRefusal(error)) {
    return {.end = HandshakeEnd::kRefused,
            .why = absl::StrCat("etcd at ", TextOf(endpoint),
                                files.cert.empty() ? " refuses a client that shows no certificate: "
                                                   : " refuses the client's certificate: ",
                                ERR_reason_error_string(error))};
  }
  return {.end = is_done ? HandshakeEnd::kNotRefused : HandshakeEnd::kNoAnswer};
}

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
