// TLS for the server's port, with certificates that may be replaced while it runs.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "server/rpc/access/watched_file.h"

namespace waystar::rpc {

// Paths of PEM files.
struct TlsFiles {
  // The server's certificate, followed by those between it and the root that clients know.
  std::string cert;
  // Its private key, without a password.
  std::string key;
  // The roots of the certificates that clients must show; empty if they need none.
  std::string client_ca;
};

// What is in them.
struct TlsMaterial {
  std::string cert;
  std::string key;
  std::string client_ca;
};

// Reads and checks the files: certificates and key are there and belong together. An error names the file
// and says why. A certificate that is over, or not yet valid, is taken: clients say so.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// Of all files together.
struct TlsStamp {
  FileStamp cert;
  FileStamp key;
  FileStamp client_ca;

  friend bool operator==(const TlsStamp&, const TlsStamp&) = default;
};

TlsStamp StampOf(const TlsFiles& files);

// TLS 1.2 and above. With client_ca every client must show a certificate of that root.
//
// The files are looked at whenever a client connects: what is new holds from that connection on, and
// connections that there are go on. Files that are bad then are logged, once for each change, and those
// before them stay in use.
//
// Errors of ReadTlsFiles.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(const TlsFiles& files);

}  // namespace waystar::rpc
