// The files of certificates, which may be replaced while the server runs.
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
  // The server's certificate, followed by those between it and the root that clients know.
  std::string cert;
  // The certificate's private key, without a password.
  std::string key;
  // The roots of the certificates that clients must show; empty if they need none.
  std::string client_ca;
};

// The contents of those files.
struct TlsMaterial {
  std::string cert;
  std::string key;
  std::string client_ca;
  // The ends of all certificates in them.
  std::vector<CertificateEnd> ends;
};

// Reads the files and checks that certificates and key are there and belong together. An error names the file
// and says why. A certificate that has expired or is not yet valid is accepted, as clients report it.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// The stamps of all files together.
struct TlsStamp {
  FileStamp cert;
  FileStamp key;
  FileStamp client_ca;

  friend bool operator==(const TlsStamp&, const TlsStamp&) = default;
};

TlsStamp StampOf(const TlsFiles& files);

// The contents in use of files that are looked at whenever a client connects. Bad files are logged, once for
// each change, and those before them stay in use. Certificates that are near their end are logged when they
// are read and, while clients connect, once a day.
//
// Thread safety: any.
class WatchedTlsFiles {
 public:
  // Returns the errors of ReadTlsFiles.
  static absl::StatusOr<std::shared_ptr<WatchedTlsFiles>> Open(TlsFiles files);
  WatchedTlsFiles(const WatchedTlsFiles&) = delete;
  WatchedTlsFiles& operator=(const WatchedTlsFiles&) = delete;

  const TlsFiles& files() const { return files_; }
  // Looks at the files, and returns what a new connection is to use: the same object until they change.
  std::shared_ptr<const TlsMaterial> Current();

 private:
  WatchedTlsFiles(TlsFiles files, const TlsStamp& stamp, TlsMaterial material);

  const TlsFiles files_;
  Mutex mutex_;
  // The stamp of the files that were looked at last.
  TlsStamp stamp_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const TlsMaterial> material_ ABSL_GUARDED_BY(mutex_);
  absl::Time next_warning_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
