// Expiry of certificates, and warnings about it.
#pragma once

#include <openssl/types.h>

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace waystar::rpc {

struct CertificateEnd {
  std::string file;
  // Subject of the certificate, such as "CN=waystar".
  std::string subject;
  absl::Time end;
};

CertificateEnd EndOf(const X509& cert, const std::string& file);

// Logs each certificate that expires within 30 days after `now` at level warning, and each expired one at
// level error.
void WarnOfEnds(const std::vector<CertificateEnd>& ends, absl::Time now);

}  // namespace waystar::rpc
