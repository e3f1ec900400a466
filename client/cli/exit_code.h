#pragma once

#include <string>

#include "absl/status/status.h"
#include "client/options.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::cli {

// Exit codes of `waystar`, for scripts to tell apart.
enum class ExitCode {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,
  kNoPath = 3,
  kRefused = 4,
  kUnavailable = 5,
};

// The explanation of the codes, for the help.
extern const char kExitCodeHelp[];

ExitCode ExitCodeFor(const absl::Status& status);
ExitCode ExitCodeFor(v1::Outcome outcome);

// Returns true if a call ended without an answer of the server.
bool IsUnreachable(const absl::Status& status);

// Returns a sentence about a failed call to `server`, and, if possible, one about the remedy. REQUIRES:
// `status` is not OK.
std::string ErrorText(const absl::Status& status, const std::string& server);

// Why calls do not reach the server of `options`, and what to do about it, found out by knocking at the first
// of its addresses, for a few seconds at most: nothing listens there, it speaks TLS or does not, or one side
// does not trust the other's certificate. Empty where that does not tell. `server` is its name for people.
std::string WhyUnreachable(const client::Options& options, const std::string& server);

}  // namespace waystar::cli
