// TLS of HTTP, with the certificate of gRPC.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "server/base/mutex.h"
#include "server/service/auth/tls_files.h"
#include "server/service/transport/http/tls_context.h"

namespace waystar::rpc {

// Thread safety: any.
class HttpTls {
 public:
  // Returns INVALID_ARGUMENT if the TLS library does not take what the files contain.
  static absl::StatusOr<std::shared_ptr<HttpTls>> Make(std::shared_ptr<WatchedTlsFiles> files);

  // Looks at the files, and returns what a new connection is to use. What the TLS library does not take is
  // logged, and what was before it stays in use.
  std::shared_ptr<http::TlsContext> Current();

 private:
  HttpTls(std::shared_ptr<WatchedTlsFiles> files, std::shared_ptr<const TlsMaterial> material,
          std::shared_ptr<http::TlsContext> context);

  const std::shared_ptr<WatchedTlsFiles> files_;
  Mutex mutex_;
  // What was looked at last.
  std::shared_ptr<const TlsMaterial> material_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<http::TlsContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
