// waystar-server: serves until SIGTERM or SIGINT. `waystar-server data` runs the offline tools on a data
// folder instead.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/base/error.h"
#include "server/data_tool/data_tool.h"
#include "server/runtime/logging.h"
#include "server/runtime/options.h"
#include "server/runtime/process.h"
#include "server/service/server.h"
#include "server/service/transport/net/listener.h"

namespace {

using waystar::runtime::Log;
using waystar::runtime::LogLevel;

absl::Status WritePortFile(const std::string& path, int port) {
  std::ofstream file(path, std::ios::trunc);
  file << port << "\n";
  file.close();
  return file ? absl::OkStatus() : absl::UnknownError(absl::StrCat("cannot write --port_file ", path));
}

absl::Status Serve(const waystar::runtime::Options& options) {
  waystar::runtime::BlockStopSignals();
  waystar::net::RaiseDescriptorLimit();
  absl::StatusOr<std::unique_ptr<waystar::rpc::Server>> started = waystar::rpc::Server::Start(options);
  if (absl::IsCancelled(started.status()) && waystar::runtime::IsStopAsked()) {
    Log(LogLevel::kInfo, "stopped", {{"signal", waystar::runtime::WaitForStop()}, {"maps", "not all read"}});
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(started.status());
  std::unique_ptr<waystar::rpc::Server> server = *std::move(started);
  if (!options.port_file.empty()) {
    WAYSTAR_RETURN_IF_ERROR(WritePortFile(options.port_file, server->port()));
  }
  Log(LogLevel::kInfo, "serving",
      {{"address", options.listen},
       {"port", server->port()},
       {"workers", options.workers},
       {"scratch_mib", options.scratch_mib},
       {"max_maps_memory_mib", options.max_maps_memory_mib}});
  if (server->http_port() != 0) {
    Log(LogLevel::kInfo, "serving_http", {{"address", options.http_listen}, {"port", server->http_port()}});
  }
  if (server->metrics_port() != 0) {
    Log(LogLevel::kInfo, "serving_metrics",
        {{"address", options.metrics_listen}, {"port", server->metrics_port()}});
  }
  const int signal = waystar::runtime::WaitForStop();
  Log(LogLevel::kInfo, "stopping", {{"signal", signal}});
  server->ReportNotServing();
  absl::SleepFor(options.shutdown_delay);
  server->Stop(options.drain_timeout);
  if (const absl::Status ended = waystar::rpc::Server::End(std::move(server)); !ended.ok()) {
    return absl::Status(ended.code(), absl::StrCat("the data folder is not all synced: ", ended.message()));
  }
  Log(LogLevel::kInfo, "stopped", {});
  return absl::OkStatus();
}

absl::Status Main(int argc, char** argv) {
  WAYSTAR_ASSIGN_OR_RETURN(const waystar::runtime::Options options,
                           waystar::runtime::ReadOptions(argc, argv));
  WAYSTAR_RETURN_IF_ERROR(waystar::runtime::StartLogging(options.log_level));
  for (const std::string& variable : waystar::runtime::UnknownVariables()) {
    Log(LogLevel::kWarning, "unknown_variable", {{"variable", variable}});
  }
  return Serve(options);
}

}  // namespace

int main(int argc, char** argv) {
  waystar::runtime::SecureStandardFiles();
  if (argc > 1 && absl::string_view(argv[1]) == "data") {
    return waystar::data_tool::RunDataTool({argv + 2, argv + argc}, std::cout, std::cerr);
  }
  const absl::Status status = Main(argc, argv);
  if (!status.ok()) {
    Log(LogLevel::kError, "failed", {{"error", status.message()}});
  }
  waystar::runtime::FlushLog();
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
