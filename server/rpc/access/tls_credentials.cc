#include "server/rpc/access/tls_credentials.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

// The RPC library's own watcher of files (grpc::experimental::FileWatcherCertificateProvider) drops the
// certificate in use before it knows whether the next is any good, and serves nobody if it is not.
class ReloadingCredentials final : public grpc::ServerCredentials {
 public:
  ReloadingCredentials(TlsFiles files, TlsStamp stamp, TlsMaterial material)
      : files_(std::move(files)), stamp_(stamp), next_(std::move(material)), has_next_(true) {
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            files_.client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                     : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
            &ReloadingCredentials::OnConnection, this));
  }
  ~ReloadingCredentials() override { grpc_server_credentials_release(credentials_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  static grpc_ssl_certificate_config_reload_status OnConnection(void* self,
                                                                grpc_ssl_server_certificate_config** config) {
    return static_cast<ReloadingCredentials*>(self)->Refresh(config);
  }

  grpc_ssl_certificate_config_reload_status Refresh(grpc_ssl_server_certificate_config** config) {
    MutexLock lock(mutex_);
    LookAtFiles();
    if (!has_next_) {
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    }
    has_next_ = false;
    const TlsMaterial material = std::exchange(next_, {});
    const grpc_ssl_pem_key_cert_pair pair = {.private_key = material.key.c_str(),
                                             .cert_chain = material.cert.c_str()};
    // The library insists on roots, even to ask clients for nothing.
    const std::string& roots = files_.client_ca.empty() ? material.cert : material.client_ca;
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  void LookAtFiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const TlsStamp stamp = StampOf(files_);
    if (stamp == stamp_) {
      return;
    }
    stamp_ = stamp;
    absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files_);
    if (!material.ok()) {
      runtime::Log(runtime::LogLevel::kError, "tls_files_refused",
                   {{"error", material.status().message()}, {"in_use", "those before"}});
      return;
    }
    next_ = *std::move(material);
    has_next_ = true;
    runtime::Log(runtime::LogLevel::kInfo, "tls_files_loaded", {{"cert", files_.cert}});
  }

  const TlsFiles files_;
  grpc_server_credentials* credentials_;
  Mutex mutex_;
  // Of the files that were looked at last.
  TlsStamp stamp_ ABSL_GUARDED_BY(mutex_);
  // To be used from the next connection on, if there is any.
  TlsMaterial next_ ABSL_GUARDED_BY(mutex_);
  bool has_next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(const TlsFiles& files) {
  // Before the files are read: a change meanwhile is one to come.
  const TlsStamp stamp = StampOf(files);
  WAYSTAR_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsFiles(files));
  return std::make_shared<ReloadingCredentials>(files, stamp, std::move(material));
}

}  // namespace waystar::rpc
