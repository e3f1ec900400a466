#include "server/service/auth/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
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

// Returns OpenSSL's error, and clears it.
absl::Status BadPem(const std::string& path, absl::string_view what) {
  std::array<char, 256> why = {};
  ERR_error_string_n(ERR_peek_last_error(), why.data(), why.size());
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what, " (", why.data(), ")"));
}

// Returns the first certificate of a file, and appends the expiry of all. Everything after it must be
// certificates too.
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

}  // namespace waystar::rpc
