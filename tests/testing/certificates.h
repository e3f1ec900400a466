// Certificates for tests of TLS, made when they are needed.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

namespace waystar::testing {

// PEM, both.
struct Identity {
  std::string cert;
  std::string key;
};

// From when to when a certificate is valid, in seconds from now.
struct Validity {
  long begin = -3600;
  long end = 3600;
};

// A root of certificates, and what it signs.
class Authority {
 public:
  Authority();
  ~Authority();

  // What others trust to trust it.
  const std::string& cert() const { return cert_pem_; }

  // Of a host of that name, or of whoever else.
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

}  // namespace waystar::testing
