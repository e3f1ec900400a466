// Certificate files, which may be replaced at run time, and credentials that follow them.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/security/server_credentials.h"
#include "server/base/mutex.h"
#include "server/service/auth/watched_file.h"

namespace waystar::rpc {

// Expiry of a certificate.
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

// Paths of PEM files.
struct TlsFiles {
  // Certificate chain: the server's certificate, followed by the intermediate ones.
  std::string cert;
  // Private key of the certificate, without a password.
  std::string key;
  // Root certificates for client certificates; empty if clients need none.
  std::string client_ca;
};

// Contents of the files.
struct TlsMaterial {
  std::string cert;
  std::string key;
  std::string client_ca;
  // Expiry of all certificates in the files.
  std::vector<CertificateEnd> ends;
};

// Reads the files and checks that certificates and key exist and match. Errors name the file and the cause. A
// certificate that has expired or is not yet valid is accepted, since clients report it.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// Stamps of all files.
struct TlsStamp {
  FileStamp cert;
  FileStamp key;
  FileStamp client_ca;

  friend bool operator==(const TlsStamp&, const TlsStamp&) = default;
};

TlsStamp StampOf(const TlsFiles& files);

// Current contents of files that are checked whenever a client connects. Bad files are logged, once per
// change, and the previous contents stay in use. Certificates close to expiry are logged when they are read
// and, while clients connect, once a day.
//
// Thread safety: any.
class WatchedTlsFiles {
 public:
  // Reads the files for the first time. Returns the errors of ReadTlsFiles.
  static absl::StatusOr<std::shared_ptr<WatchedTlsFiles>> Open(TlsFiles files);
  WatchedTlsFiles(const WatchedTlsFiles&) = delete;
  WatchedTlsFiles& operator=(const WatchedTlsFiles&) = delete;

  const TlsFiles& files() const { return files_; }
  // Checks the files, and returns the contents for a new connection: the same object until they change.
  std::shared_ptr<const TlsMaterial> Current();

 private:
  WatchedTlsFiles(TlsFiles files, const TlsStamp& stamp, TlsMaterial material);

  const TlsFiles files_;
  Mutex mutex_;
  // Stamp of the files at the last check.
  TlsStamp stamp_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const TlsMaterial> material_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_warning_ ABSL_GUARDED_BY(mutex_);
};

// Makes credentials of the RPC library for TLS 1.2 and above. With client_ca, every client must present a
// certificate of that root. New files apply to new connections only.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(std::shared_ptr<WatchedTlsFiles> files);

}  // namespace waystar::rpc
