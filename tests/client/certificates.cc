#include "tests/client/certificates.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <fstream>
#include <memory>

namespace waystar::testing {
namespace {

using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

void AddExtension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Vouched for by `authority`, or by itself without one.
Certificate Make(const std::string& name, const Certificate* authority) {
  const KeyPtr key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const X509Ptr made(X509_new(), &X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  static int serial = 0;
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 24L * 3600);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  if (authority == nullptr) {
    AddExtension(made.get(), NID_basic_constraints, "critical,CA:TRUE");
    X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
    X509_sign(made.get(), key.get(), EVP_sha256());
  } else {
    AddExtension(made.get(), NID_subject_alt_name, "DNS:" + name);
    const BioPtr pem(BIO_new_mem_buf(authority->certificate.data(), -1), &BIO_free);
    const X509Ptr issuer(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr), &X509_free);
    const BioPtr key_pem(BIO_new_mem_buf(authority->key.data(), -1), &BIO_free);
    const KeyPtr issuer_key(PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr),
                            &EVP_PKEY_free);
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get()));
    X509_sign(made.get(), issuer_key.get(), EVP_sha256());
  }
  const BioPtr certificate_text(BIO_new(BIO_s_mem()), &BIO_free);
  const BioPtr key_text(BIO_new(BIO_s_mem()), &BIO_free);
  EXPECT_EQ(PEM_write_bio_X509(certificate_text.get(), made.get()), 1);
  EXPECT_EQ(PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  return {Text(certificate_text.get()), Text(key_text.get())};
}

}  // namespace

Certificate MakeAuthority(const std::string& name) { return Make(name, nullptr); }

Certificate MakeCertificate(const std::string& name, const Certificate& authority) {
  return Make(name, &authority);
}

std::string WriteFile(const std::string& name, const std::string& text) {
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string path = ::testing::TempDir() + test->test_suite_name() + "." + test->name() + "." + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace waystar::testing
