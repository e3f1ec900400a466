// TLS credentials of the server's port, whose certificates may be replaced while it runs.
#pragma once

#include <memory>

#include "grpcpp/security/server_credentials.h"
#include "server/service/auth/tls_files.h"

namespace waystar::rpc {

// Makes credentials for TLS 1.2 and above. With client_ca every client must show a certificate of that root.
// New files hold from the next connection on, and open connections go on.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(std::shared_ptr<WatchedTlsFiles> files);

}  // namespace waystar::rpc
