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
  // Returns INVALID_ARGUMENT if the TLS library rejects the files' contents.
  static absl::StatusOr<std::shared_ptr<HttpTls>> Make(std::shared_ptr<WatchedTlsFiles> files);

  // Checks the files, and returns the context for a new connection. Contents that the TLS library rejects are
  // logged, and the previous ones stay in use.
  std::shared_ptr<http::TlsContext> Current();

 private:
  HttpTls(std::shared_ptr<WatchedTlsFiles> files, std::shared_ptr<const TlsMaterial> material,
          std::shared_ptr<http::TlsContext> context);

  const std::shared_ptr<WatchedTlsFiles> files_;
  Mutex mutex_;
  // Contents at the last check.
  std::shared_ptr<const TlsMaterial> material_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<http::TlsContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
