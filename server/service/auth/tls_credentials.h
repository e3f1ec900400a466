// TLS credentials of the server's port, whose certificates may be replaced at run time.
#pragma once

#include <memory>

#include "grpcpp/security/server_credentials.h"
#include "server/service/auth/tls_files.h"

namespace waystar::rpc {

// Makes credentials for TLS 1.2 and above. With client_ca, every client must present a certificate of that
// root. New files apply to new connections only.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(std::shared_ptr<WatchedTlsFiles> files);

}  // namespace waystar::rpc
