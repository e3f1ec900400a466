#include "server/service/gateway/http_tls.h"

#include <utility>

#include "server/base/status_macros.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

absl::StatusOr<std::shared_ptr<http::TlsContext>> ContextOf(const TlsMaterial& material) {
  return http::MakeTlsContext(
      {.certificates = material.cert, .key = material.key, .client_roots = material.client_ca});
}

}  // namespace

absl::StatusOr<std::shared_ptr<HttpTls>> HttpTls::Make(std::shared_ptr<WatchedTlsFiles> files) {
  std::shared_ptr<const TlsMaterial> material = files->Current();
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<http::TlsContext> context, ContextOf(*material));
  return std::shared_ptr<HttpTls>(new HttpTls(std::move(files), std::move(material), std::move(context)));
}

HttpTls::HttpTls(std::shared_ptr<WatchedTlsFiles> files, std::shared_ptr<const TlsMaterial> material,
                 std::shared_ptr<http::TlsContext> context)
    : files_(std::move(files)), material_(std::move(material)), context_(std::move(context)) {}

std::shared_ptr<http::TlsContext> HttpTls::Current() {
  MutexLock lock(mutex_);
  std::shared_ptr<const TlsMaterial> material = files_->Current();
  if (material == material_) {
    return context_;
  }
  material_ = std::move(material);
  absl::StatusOr<std::shared_ptr<http::TlsContext>> context = ContextOf(*material_);
  if (context.ok()) {
    context_ = *std::move(context);
  } else {
    runtime::Log(runtime::LogLevel::kError, "http_tls_refused",
                 {{"error", context.status().message()}, {"in_use", "the certificate before"}});
  }
  return context_;
}

}  // namespace waystar::rpc
