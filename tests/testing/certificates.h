// Certificates for tests of TLS, made when they are needed.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

namespace waystar {

// A certificate and its key, both in PEM.
struct Identity {
  std::string cert;
  std::string key;
};

// From when to when a certificate is valid, in seconds from now.
struct Validity {
  long begin = -3600;
  long end = 3600;
};

// Authority: a root certificate, and what it signs.
class Authority {
 public:
  Authority();
  ~Authority();

  // The certificate that others trust in order to trust what this one signs.
  const std::string& cert() const { return cert_pem_; }

  // Issues a certificate for a host of that name or IPv4 address, or for anyone else.
  Identity Issue(const std::string& name, Validity validity = {}) const;

 private:
  struct Freer {
    void operator()(X509* cert) const;
    void operator()(EVP_PKEY* key) const;
  };

  std::unique_ptr<EVP_PKEY, Freer> key_;
  std::unique_ptr<X509, Freer> cert_;
  std::string cert_pem_;
};

}  // namespace waystar
