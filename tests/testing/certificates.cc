#include "tests/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace waystar {
namespace {

void AddExtension(X509* cert, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  ASSERT_NE(extension, nullptr);
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
}

// Of a root, as yet without a signature, if it has no issuer.
X509* NewCertificate(const std::string& name, EVP_PKEY* key, X509* issuer, Validity validity) {
  X509* const cert = X509_new();
  X509_set_version(cert, X509_VERSION_3);
  std::uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial);
  X509_gmtime_adj(X509_getm_notBefore(cert), validity.begin);
  X509_gmtime_adj(X509_getm_notAfter(cert), validity.end);
  X509_set_pubkey(cert, key);
  X509_NAME* const subject = X509_get_subject_name(cert);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(cert, issuer == nullptr ? subject : X509_get_subject_name(issuer));
  AddExtension(cert, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (issuer == nullptr) {
    AddExtension(cert, NID_key_usage, "critical,keyCertSign");
  } else {
    const bool is_address = name.find_first_not_of("0123456789.") == std::string::npos;
    AddExtension(cert, NID_subject_alt_name, absl::StrCat(is_address ? "IP:" : "DNS:", name));
  }
  return cert;
}

template <typename Write>
std::string ToPem(Write write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  EXPECT_EQ(write(bio), 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return pem;
}

std::string ToPem(X509* cert) {
  return ToPem([cert](BIO* bio) { return PEM_write_bio_X509(bio, cert); });
}

std::string ToPem(EVP_PKEY* key) {
  return ToPem(
      [key](BIO* bio) { return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

}  // namespace

void Authority::Freer::operator()(X509* cert) const { X509_free(cert); }
void Authority::Freer::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }

Authority::Authority() : key_(EVP_EC_gen("P-256")) {
  cert_.reset(NewCertificate("test authority", key_.get(), nullptr, {.end = 24 * 3600}));
  EXPECT_GT(X509_sign(cert_.get(), key_.get(), EVP_sha256()), 0);
  cert_pem_ = ToPem(cert_.get());
}

Authority::~Authority() = default;

Identity Authority::Issue(const std::string& name, Validity validity) const {
  const std::unique_ptr<EVP_PKEY, Freer> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Freer> cert(NewCertificate(name, key.get(), cert_.get(), validity));
  EXPECT_GT(X509_sign(cert.get(), key_.get(), EVP_sha256()), 0);
  return {.cert = ToPem(cert.get()), .key = ToPem(key.get())};
}

}  // namespace waystar
