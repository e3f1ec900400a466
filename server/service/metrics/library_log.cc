#include "server/service/metrics/library_log.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/stubs/common.h"
#include "grpcpp/version_info.h"
#include "server/base/mutex.h"
#include "server/runtime/logging.h"

// Older versions of the library had their own log, and Protobuf too. Protobuf's lines are dropped: errors in
// requests are returned to clients, and logging each would let anyone fill the log.
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 66
#define WAYSTAR_LIBRARY_LOG_IS_ABSEIL 0
#include "grpc/support/log.h"
#else
#define WAYSTAR_LIBRARY_LOG_IS_ABSEIL 1
#include "absl/base/log_severity.h"
#include "absl/log/globals.h"
#include "absl/log/initialize.h"
#include "absl/log/log_entry.h"
#include "absl/log/log_sink.h"
#include "absl/log/log_sink_registry.h"
#endif
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include "google/protobuf/stubs/logging.h"
#endif

namespace waystar::rpc {
namespace {

using runtime::LogLevel;

class LatestAddresses {
 public:
  void Set(std::function<std::string()> get) {
    MutexLock lock(mutex_);
    get_ = std::move(get);
  }
  std::string Get() {
    MutexLock lock(mutex_);
    return get_ ? get_() : "";
  }

 private:
  Mutex mutex_;
  std::function<std::string()> get_ ABSL_GUARDED_BY(mutex_);
};

LatestAddresses& Addresses() {
  static auto* const addresses = new LatestAddresses;
  return *addresses;
}

void Write(LogLevel level, absl::string_view file, int line, absl::string_view message) {
  static auto* const limit = new runtime::LineLimit;
  std::optional<std::uint64_t> left_out = 0;
  if (runtime::CurrentLogLevel() != LogLevel::kDebug) {
    left_out = limit->Admit();
  }
  if (left_out.has_value()) {
    const absl::string_view name = file.substr(file.rfind('/') + 1);
    const std::string source = absl::StrCat(name, ":", line);
    if (!absl::StrContains(message, "andshak")) {
      runtime::Log(level, "rpc_library", {{"source", source}, {"left_out", *left_out}, {"message", message}});
      return;
    }
    runtime::Log(level, "rpc_library",
                 {{"source", source},
                  {"left_out", *left_out},
                  {"latest_addresses", Addresses().Get()},
                  {"message", message}});
  }
}

#if WAYSTAR_LIBRARY_LOG_IS_ABSEIL

class LibrarySink final : public absl::LogSink {
 public:
  void Send(const absl::LogEntry& entry) override {
    if (absl::StrContains(entry.source_filename(), "google/protobuf/")) {
      return;
    }
    const bool is_error = entry.log_severity() >= absl::LogSeverity::kWarning;
    Write(is_error ? LogLevel::kWarning : LogLevel::kInfo, entry.source_basename(), entry.source_line(),
          entry.text_message());
  }
};

void Route() {
  absl::InitializeLog();
  // Fatal lines are written immediately.
  absl::SetStderrThreshold(absl::LogSeverityAtLeast::kFatal);
  absl::AddLogSink(new LibrarySink);
}

#else

LogLevel LevelOf(gpr_log_severity severity) {
  switch (severity) {
    case GPR_LOG_SEVERITY_DEBUG:
      return LogLevel::kDebug;
    case GPR_LOG_SEVERITY_INFO:
      return LogLevel::kInfo;
    case GPR_LOG_SEVERITY_ERROR:
      break;
  }
  return LogLevel::kWarning;
}

void Route() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    Write(LevelOf(args->severity), args->file, args->line, args->message);
    if (absl::StartsWith(args->message, "assertion failed")) {
      // The library aborts the process next.
      runtime::FlushLog();
    }
  });
}

#endif

}  // namespace

void SetLatestAddresses(std::function<std::string()> latest_addresses) {
  Addresses().Set(std::move(latest_addresses));
}

void RouteLibraryLog() {
  [[maybe_unused]] static const bool is_routed = [] {
    Route();
#if GOOGLE_PROTOBUF_VERSION < 4022000
    google::protobuf::SetLogHandler(nullptr);
#endif
    return true;
  }();
}

}  // namespace waystar::rpc
