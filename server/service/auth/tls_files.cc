#include "server/service/auth/tls_files.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <cstddef>
#include <ctime>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "grpcpp/version_info.h"
#include "server/base/error.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

constexpr std::size_t kMaxPemBytes = std::size_t{4} << 20;
constexpr absl::Duration kWarningPeriod = absl::Hours(24);
constexpr absl::Duration kNear = absl::Hours(30 * 24);

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

std::string SubjectOf(const X509& cert) {
  const Owned<BIO> text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(&cert), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

// Returns OpenSSL's error, and clears it.
absl::Status BadPem(const std::string& path, absl::string_view what) {
  std::array<char, 256> why = {};
  ERR_error_string_n(ERR_peek_last_error(), why.data(), why.size());
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what, " (", why.data(), ")"));
}

// Returns the first certificate of a file, and appends the expiry of all. A later damaged one is an error.
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

// Returns no password: by default OpenSSL would ask at a terminal, which a server does not have.
int NoPassword(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*data*/) { return -1; }

absl::StatusOr<Owned<EVP_PKEY>> ParseKey(const std::string& path, const std::string& pem) {
  ERR_clear_error();
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(OpenText(pem).get(), nullptr, &NoPassword, nullptr));
  if (key == nullptr) {
    return BadPem(path, "there is no private key in PEM format, without a password, in it");
  }
  return key;
}

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

absl::StatusOr<std::shared_ptr<WatchedTlsFiles>> WatchedTlsFiles::Open(TlsFiles files) {
  // The stamp is taken before the files are read, so that a later change is detected next time.
  const TlsStamp stamp = StampOf(files);
  WAYSTAR_ASSIGN_OR_RETURN(TlsMaterial material, ReadTlsFiles(files));
  return std::shared_ptr<WatchedTlsFiles>(new WatchedTlsFiles(std::move(files), stamp, std::move(material)));
}

WatchedTlsFiles::WatchedTlsFiles(TlsFiles files, const TlsStamp& stamp, TlsMaterial material)
    : files_(std::move(files)),
      stamp_(stamp),
      material_(std::make_shared<const TlsMaterial>(std::move(material))),
      next_warning_(absl::Now() + kWarningPeriod) {
  WarnOfEnds(material_->ends, absl::Now());
}

std::shared_ptr<const TlsMaterial> WatchedTlsFiles::Current() {
  MutexLock lock(mutex_);
  if (const absl::Time now = absl::Now(); now >= next_warning_) {
    WarnOfEnds(material_->ends, now);
    next_warning_ = now + kWarningPeriod;
  }
  const TlsStamp stamp = StampOf(files_);
  if (stamp == stamp_) {
    return material_;
  }
  stamp_ = stamp;
  absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files_);
  if (!material.ok()) {
    runtime::Log(runtime::LogLevel::kError, "tls_files_refused",
                 {{"error", material.status().message()}, {"in_use", "those before"}});
    return material_;
  }
  material_ = std::make_shared<const TlsMaterial>(*std::move(material));
  runtime::Log(runtime::LogLevel::kInfo, "tls_files_loaded", {{"cert", files_.cert}});
  WarnOfEnds(material_->ends, absl::Now());
  return material_;
}

CertificateEnd EndOf(const X509& cert, const std::string& file) {
  std::tm time{};
  // Ignores an end that cannot be parsed.
  const bool is_known = ASN1_TIME_to_tm(X509_get0_notAfter(&cert), &time) == 1;
  return {.file = file,
          .subject = SubjectOf(cert),
          .end = is_known ? absl::FromTM(time, absl::UTCTimeZone()) : absl::InfiniteFuture()};
}

void WarnOfEnds(const std::vector<CertificateEnd>& ends, absl::Time now) {
  for (const CertificateEnd& cert : ends) {
    if (cert.end - now > kNear) {
      continue;
    }
    const bool is_over = cert.end <= now;
    runtime::Log(is_over ? runtime::LogLevel::kError : runtime::LogLevel::kWarning,
                 is_over ? "certificate_expired" : "certificate_expires_soon",
                 {{"file", cert.file},
                  {"subject", cert.subject},
                  {"expires", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", cert.end, absl::UTCTimeZone())},
                  {"days_left", (cert.end - now) / absl::Hours(24)}});
  }
}

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
// Newer versions of the library store the credentials themselves.
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
