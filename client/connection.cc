#include "client/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "client/target.h"

namespace waystar::client {

// gRPC's service config as JSON: the text of client/service_config.json.
//
// Several servers take turns, and those whose health service says that they are stopping are passed over.
// Calls that only read and failed with UNAVAILABLE are retried. A call that changes a map is not, because the
// first may have been committed. Retries stop while most calls fail, so that clients do not keep down a
// server that struggles to come back. The format:
// https://github.com/grpc/grpc-proto/blob/master/grpc/service_config/service_config.proto
extern const char kServiceConfig[];

namespace {

// How soon a connection that broke is tried again, at first and at last: a server that restarts is back in a
// second or two.
constexpr int kPingMillis = 30'000;
constexpr int kFirstReconnectMillis = 100;
constexpr int kLastReconnectMillis = 2'000;

absl::Status CheckToken(const Options& options) {
  if (!std::all_of(options.token.begin(), options.token.end(),
                   [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); })) {
    return absl::InvalidArgumentError(
        "the token has a character that is not visible ASCII: a space or the end of a line perhaps");
  }
  if (!options.token.empty() && !options.tls && !IsOnThisMachine(options.target)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token is not sent to ", options.target, " unencrypted: use TLS"));
  }
  return absl::OkStatus();
}

absl::Status CheckTls(const Options& options) {
  if (!options.tls) {
    const bool is_plain = options.ca_file.empty() && options.cert_file.empty() && options.key_file.empty() &&
                          options.server_name.empty();
    return is_plain ? absl::OkStatus()
                    : absl::InvalidArgumentError("certificates and a server name make sense with TLS only");
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError("a client's certificate and its key go together");
  }
  if (HasSeveralAddresses(options.target) && options.server_name.empty()) {
    return absl::InvalidArgumentError(
        "with TLS and several addresses, say which name their certificates are for");
  }
  return absl::OkStatus();
}

// Nothing for no file.
absl::StatusOr<std::string> ReadPem(const std::string& path) {
  if (path.empty()) {
    return std::string();
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (text.find("-----BEGIN ") == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, file.is_open() ? " is not a PEM file" : " cannot be read"));
  }
  return text;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const Options& options) {
  if (!options.tls) {
    return grpc::InsecureChannelCredentials();
  }
  grpc::SslCredentialsOptions tls;
  for (const auto& [path, pem] : {std::pair{&options.ca_file, &tls.pem_root_certs},
                                  {&options.cert_file, &tls.pem_cert_chain},
                                  {&options.key_file, &tls.pem_private_key}}) {
    auto text = ReadPem(*path);
    if (!text.ok()) {
      return text.status();
    }
    *pem = *std::move(text);
  }
  return grpc::SslCredentials(tls);
}

grpc::ChannelArguments BasicArguments(const std::string& target, int max_receive_bytes,
                                      const std::string& server_name) {
  grpc::ChannelArguments arguments;
  // A proxy would see the token.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, IsOnThisMachine(target) ? 0 : 1);
  arguments.SetMaxReceiveMessageSize(max_receive_bytes);
  // A server that is gone without a word is noticed after kPingMillis and another 20 s.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMillis);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMillis);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastReconnectMillis);
  if (!server_name.empty()) {
    arguments.SetSslTargetNameOverride(server_name);
  }
  return arguments;
}

}  // namespace

Connection::Connection(const Options& options)
    : wait_for_ready_(options.wait_for_ready),
      max_receive_bytes_(options.max_receive_bytes),
      server_name_(options.server_name) {
  auto target = GrpcTarget(options.target);
  status_.Update(target.status());
  status_.Update(CheckTls(options));
  status_.Update(CheckToken(options));
  if (!status_.ok()) {
    return;
  }
  auto credentials = MakeCredentials(options);
  if (!credentials.ok()) {
    status_ = credentials.status();
    return;
  }
  target_ = *std::move(target);
  credentials_ = *std::move(credentials);
  authorization_ = options.token.empty() ? "" : absl::StrCat("Bearer ", options.token);

  grpc::ChannelArguments arguments = BasicArguments(target_, max_receive_bytes_, server_name_);
  // One server may have several addresses, which are not to take turns: another may be behind one of them.
  const bool takes_turns =
      StandsForSeveralServers(options.target) || IsOnThisMachine(options.target) || IsAddress(options.target);
  arguments.SetServiceConfigJSON(
      takes_turns ? kServiceConfig : absl::StrReplaceAll(kServiceConfig, {{"round_robin", "pick_first"}}));
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, options.retry ? 1 : 0);
  // The library takes the first of two values of an argument.
  grpc::ChannelArguments unchecked = arguments;
  unchecked.SetInt(GRPC_ARG_INHIBIT_HEALTH_CHECKING, 1);
  health_channel_ = grpc::CreateCustomChannel(target_, credentials_, unchecked);
  channel_ = grpc::CreateCustomChannel(target_, credentials_, options.retry ? arguments : unchecked);
}

std::shared_ptr<grpc::Channel> Connection::NewPlainChannel() const {
  grpc::ChannelArguments arguments = BasicArguments(target_, max_receive_bytes_, server_name_);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target_, credentials_, arguments);
}

absl::Status Connection::StatusForChanges() const {
  if (status_.ok() && StandsForSeveralServers(target_)) {
    return absl::FailedPreconditionError(
        absl::StrCat(target_, " may be several servers, and a change would reach one of them alone: ",
                     "make it at each of them by its own address, HOST:PORT"));
  }
  return status_;
}

void Connection::Prepare(grpc::ClientContext& context, absl::Duration timeout) const {
  if (timeout != absl::InfiniteDuration()) {
    context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  }
  if (wait_for_ready_) {
    context.set_wait_for_ready(true);
  }
  if (!authorization_.empty()) {
    context.AddMetadata("authorization", authorization_);
  }
}

}  // namespace waystar::client
