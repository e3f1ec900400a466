#include "server/rpc/access/tls_credentials.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/version_info.h"
#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kMaxPemBytes = std::size_t{4} << 20;
constexpr absl::Duration kWarningPeriod = absl::Hours(24);

struct Freer {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* cert) const { X509_free(cert); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

template <typename T>
using Owned = std::unique_ptr<T, Freer>;

Owned<BIO> OpenText(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Returns what OpenSSL says is wrong, and makes it forget that.
absl::Status BadPem(const std::string& path, absl::string_view what) {
  std::array<char, 256> why = {};
  ERR_error_string_n(ERR_peek_last_error(), why.data(), why.size());
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what, " (", why.data(), ")"));
}

// Returns the first certificate of a file, and adds the ends of all; all that follow must be certificates as
// well.
absl::StatusOr<Owned<X509>> ParseCertificates(const std::string& path, const std::string& pem,
                                              std::vector<CertificateEnd>& ends) {
  const Owned<BIO> text = OpenText(pem);
  ERR_clear_error();
  Owned<X509> first(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  if (first == nullptr) {
    return BadPem(path, "there is no certificate in PEM format in it");
  }
  ends.push_back(EndOf(*first, path));
  while (const auto next = Owned<X509>(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr))) {
    ends.push_back(EndOf(*next, path));
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return BadPem(path, "a certificate behind the first is damaged");
  }
  ERR_clear_error();
  return first;
}

// Gives no password: OpenSSL would else ask for it at a terminal that a server does not have.
int NoPassword(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*data*/) { return -1; }

absl::StatusOr<Owned<EVP_PKEY>> ParseKey(const std::string& path, const std::string& pem) {
  ERR_clear_error();
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(OpenText(pem).get(), nullptr, &NoPassword, nullptr));
  if (key == nullptr) {
    return BadPem(path, "there is no private key in PEM format, without a password, in it");
  }
  return key;
}

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
// Newer versions of the library do all of that.
class OwnedCredentials : public grpc::ServerCredentials {
 public:
  using grpc::ServerCredentials::ServerCredentials;
};
#endif

// The RPC library's own watcher of files (grpc::experimental::FileWatcherCertificateProvider) drops the
// certificate in use before it knows whether the next is any good, and serves nobody if it is not.
class ReloadingCredentials final : public OwnedCredentials {
 public:
  ReloadingCredentials(TlsFiles files, TlsStamp stamp, TlsMaterial material)
      : OwnedCredentials(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                files.client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                        : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
                &ReloadingCredentials::OnConnection, this))),
        files_(std::move(files)),
        stamp_(stamp),
        ends_(std::move(material.ends)),
        next_(std::move(material)),
        has_next_(true) {
    WarnOfEnds(ends_, absl::Now());
  }

 private:
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
    if (const absl::Time now = absl::Now(); now >= next_warning_) {
      WarnOfEnds(ends_, now);
      next_warning_ = now + kWarningPeriod;
    }
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
    ends_ = std::move(next_.ends);
    WarnOfEnds(ends_, absl::Now());
  }

  const TlsFiles files_;
  Mutex mutex_;
  // The stamp of the files that were looked at last.
  TlsStamp stamp_ ABSL_GUARDED_BY(mutex_);
  // The ends of the certificates in use.
  std::vector<CertificateEnd> ends_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_warning_ ABSL_GUARDED_BY(mutex_) = absl::Now() + kWarningPeriod;
  // The credentials to use from the next connection on, if they are new.
  TlsMaterial next_ ABSL_GUARDED_BY(mutex_);
  bool has_next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  TlsMaterial material;
  WAYSTAR_ASSIGN_OR_RETURN(material.cert, ReadWholeFile(files.cert, kMaxPemBytes));
  WAYSTAR_ASSIGN_OR_RETURN(material.key, ReadWholeFile(files.key, kMaxPemBytes));
  WAYSTAR_ASSIGN_OR_RETURN(const Owned<X509> cert,
                           ParseCertificates(files.cert, material.cert, material.ends));
  WAYSTAR_ASSIGN_OR_RETURN(const Owned<EVP_PKEY> key, ParseKey(files.key, material.key));
  if (X509_check_private_key(cert.get(), key.get()) != 1) {
    return BadPem(files.key, absl::StrCat("this is not the key of the certificate in ", files.cert));
  }
  if (!files.client_ca.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(material.client_ca, ReadWholeFile(files.client_ca, kMaxPemBytes));
    WAYSTAR_RETURN_IF_ERROR(ParseCertificates(files.client_ca, material.client_ca, material.ends).status());
  }
  return material;
}

TlsStamp StampOf(const TlsFiles& files) {
  return {.cert = StampOf(files.cert),
          .key = StampOf(files.key),
          .client_ca = files.client_ca.empty() ? FileStamp() : StampOf(files.client_ca)};
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(const TlsFiles& files) {
  // The stamp is taken before the files are read: a later change is seen next time.
  const TlsStamp stamp = StampOf(files);
  WAYSTAR_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsFiles(files));
  return std::make_shared<ReloadingCredentials>(files, stamp, std::move(material));
}

}  // namespace waystar::rpc
