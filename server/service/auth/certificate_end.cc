#include "server/service/auth/certificate_end.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

constexpr absl::Duration kNear = absl::Hours(30 * 24);

std::string SubjectOf(const X509& cert) {
  const std::unique_ptr<BIO, int (*)(BIO*)> text(BIO_new(BIO_s_mem()), &BIO_free);
  X509_NAME_print_ex(text.get(), X509_get_subject_name(&cert), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

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

}  // namespace waystar::rpc
