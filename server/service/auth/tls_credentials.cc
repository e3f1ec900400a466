#include "server/service/auth/tls_credentials.h"

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "grpcpp/version_info.h"
#include "server/base/mutex.h"

namespace waystar::rpc {
namespace {

#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 56
class OwnedCredentials : public grpc::ServerCredentials {
 public:
  explicit OwnedCredentials(grpc_server_credentials* credentials) : credentials_(credentials) {}
  ~OwnedCredentials() override { grpc_server_credentials_release(credentials_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>& /*processor*/) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* const credentials_;
};
#else
// Newer versions of the library provide all of this.
class OwnedCredentials : public grpc::ServerCredentials {
 public:
  using grpc::ServerCredentials::ServerCredentials;
};
#endif

// The RPC library's own file watcher (grpc::experimental::FileWatcherCertificateProvider) drops the current
// certificate before it has validated the new one, and serves nobody if that is invalid.
class ReloadingCredentials final : public OwnedCredentials {
 public:
  explicit ReloadingCredentials(std::shared_ptr<WatchedTlsFiles> files)
      : OwnedCredentials(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                files->files().client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                 : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
                &ReloadingCredentials::OnConnection, this))),
        files_(std::move(files)) {}

 private:
  static grpc_ssl_certificate_config_reload_status OnConnection(void* self,
                                                                grpc_ssl_server_certificate_config** config) {
    return static_cast<ReloadingCredentials*>(self)->Refresh(config);
  }

  grpc_ssl_certificate_config_reload_status Refresh(grpc_ssl_server_certificate_config** config) {
    MutexLock lock(mutex_);
    std::shared_ptr<const TlsMaterial> material = files_->Current();
    if (material == in_use_) {
      return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    }
    in_use_ = std::move(material);
    const grpc_ssl_pem_key_cert_pair pair = {.private_key = in_use_->key.c_str(),
                                             .cert_chain = in_use_->cert.c_str()};
    // The library requires roots even if client certificates are not requested.
    const std::string& roots = in_use_->client_ca.empty() ? in_use_->cert : in_use_->client_ca;
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<WatchedTlsFiles> files_;
  Mutex mutex_;
  // Null before the first connection.
  std::shared_ptr<const TlsMaterial> in_use_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(std::shared_ptr<WatchedTlsFiles> files) {
  return std::make_shared<ReloadingCredentials>(std::move(files));
}

}  // namespace waystar::rpc
