// The ends of certificates, and warnings of those that are near.
#pragma once

#include <openssl/types.h>

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace waystar::rpc {

struct CertificateEnd {
  std::string file;
  // Whose certificate it is, such as "CN=waystar".
  std::string subject;
  absl::Time end;
};

CertificateEnd EndOf(const X509& cert, const std::string& file);

// Writes a line to the log for each certificate that ends within 30 days after `now`, at level warning, or
// has ended before, at level error.
void WarnOfEnds(const std::vector<CertificateEnd>& ends, absl::Time now);

}  // namespace waystar::rpc
