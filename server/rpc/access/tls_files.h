// The certificates that the server shows and asks for, as files.
#pragma once

#include <string>

#include "absl/status/statusor.h"
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

}  // namespace waystar::rpc
