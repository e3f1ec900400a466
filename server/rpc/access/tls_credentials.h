// TLS for the server's port, with certificates that may be replaced while it runs.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "server/rpc/access/tls_files.h"

namespace waystar::rpc {

// TLS 1.2 and above. With client_ca every client must show a certificate of that root.
//
// The files are looked at whenever a client connects: what is new holds from that connection on, and
// connections that there are go on. Files that are bad then are logged, once for each change, and those
// before them stay in use.
//
// Errors of ReadTlsFiles.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(const TlsFiles& files);

}  // namespace waystar::rpc
