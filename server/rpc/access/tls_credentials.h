// TLS credentials of the server's port, whose certificates may be replaced while it runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "server/rpc/access/certificate_end.h"
#include "server/rpc/access/watched_file.h"

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

// Makes credentials for TLS 1.2 and above. With client_ca every client must show a certificate of that root.
//
// The files are checked whenever a client connects: new ones hold from that connection on, and open
// connections go on. Bad files are logged, once for each change, and those before them stay in use.
// Certificates that are near their end are logged when they are read and, while clients connect, once a day.
//
// Returns the errors of ReadTlsFiles.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(const TlsFiles& files);

}  // namespace waystar::rpc
