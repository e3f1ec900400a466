#pragma once

#include <pthread.h>

#include <csignal>
#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/connection.h"
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

// Returns a sentence about a server whose health is NOT_SERVING, and one about what to wait for.
std::string NotServing(const std::string& server);

// Returns a sentence about a failed call to `server`, and, if possible, one about the remedy. REQUIRES:
// `status` is not OK.
std::string ErrorText(const absl::Status& status, const std::string& server);

// Why calls do not reach the server of `options`, and what to do about it, found out by knocking at the first
// of its addresses, for a few seconds at most: nothing listens there, it speaks TLS or does not, or one side
// does not trust the other's certificate. Empty where that does not tell. `server` is its name for people.
std::string WhyUnreachable(const client::Options& options, const std::string& server);

// Until it ends, signals wait for somebody to ask: in all threads that are begun meanwhile, too.
class HeldSignals {
 public:
  HeldSignals(std::initializer_list<int> signals = {SIGINT, SIGTERM}) {
    sigemptyset(&signals_);
    for (const int signal : signals) {
      sigaddset(&signals_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Returns true if a signal has arrived within `time`.
  bool Wait(absl::Duration time) const {
    const timespec timeout = absl::ToTimespec(time);
    return sigtimedwait(&signals_, nullptr, &timeout) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace waystar::cli
