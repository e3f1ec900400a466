#include "client/cli/exit_code.h"

#include "client/errors.h"

namespace waystar::cli {

const char kExitCodeHelp[] =
    "Exit codes:\n"
    "  0  done; with find, paths, trace, reachable: a path leads to each goal; with health: serving\n"
    "  1  something went wrong that should not\n"
    "  2  the command line is wrong, or a file cannot be read or written\n"
    "  3  find, paths, trace, reachable: no path to a goal, none within --max-expansions, or only a part of "
    "one\n"
    "  4  the server refused the request: no such map, a bad value, a stale revision ...\n"
    "  5  the server cannot be reached, is not serving, is overloaded or took too long\n";

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kResourceExhausted: {
      const std::string reason = client::ReasonOf(status);
      const bool passes = reason == "QUEUE_FULL" || reason == "QUEUE_TIMEOUT" || reason == "TRANSFERS_BUSY" ||
                          reason == "UPDATES_BUSY" || reason == "CLIENT_BUSY" || reason == "TOO_MANY_WATCHES";
      return passes ? ExitCode::kUnavailable : ExitCode::kRefused;
    }
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kRefused;
    default:
      return ExitCode::kFailure;
  }
}

ExitCode ExitCodeFor(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_FOUND ? ExitCode::kOk : ExitCode::kNoPath;
}

}  // namespace waystar::cli
