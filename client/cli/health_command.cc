#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"

namespace waystar::cli {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

ExitCode CheckHealth(const HealthCheckRequest& request, Session& session) {
  const auto response = session.client().CheckHealth(request);
  if (absl::IsNotFound(response.status()) && response.status().message().empty()) {
    return session.Fail(
        absl::NotFoundError(absl::StrCat("the server has no service '", request.service(), "'")));
  }
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    session.PrintJson(*response);
  } else {
    session.io().out << HealthCheckResponse::ServingStatus_Name(response->status()) << "\n";
  }
  return response->status() == HealthCheckResponse::SERVING ? ExitCode::kOk : ExitCode::kUnavailable;
}

}  // namespace

void AddHealthCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<HealthCheckRequest>();
  CLI::App& command = *parent.add_subcommand("health", "Tells whether the server is serving");
  command.add_option("SERVICE", *request->mutable_service(),
                     "A gRPC service, such as waystar.v1.PathService [the server as a whole]");
  command.footer(
      "Examples:\n"
      "  waystar health\n"
      "  waystar health waystar.v1.PathService --server game-7:7450\n");
  command.callback([request, &session] { session.exit_code = CheckHealth(*request, session); });
}

}  // namespace waystar::cli
