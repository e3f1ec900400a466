// Certificate files, which may be replaced at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/service/auth/certificate_end.h"
#include "server/service/auth/watched_file.h"

namespace waystar::rpc {

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
  // Returns the errors of ReadTlsFiles.
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

}  // namespace waystar::rpc
