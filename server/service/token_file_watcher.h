// Watcher of the token file, which updates the server's tokens.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"
#include "server/service/admission/call_gate.h"
#include "server/service/auth/access_control.h"
#include "server/service/auth/token.h"
#include "server/service/auth/watched_file.h"

namespace waystar::rpc {

// Runs one thread, which checks twice per second whether the file has changed. A bad file is logged, once per
// change, and the previous tokens stay in use. A file without tokens rejects everyone, but only when two
// consecutive checks find it so: a file that is rewritten in place is briefly empty. Open-ended calls whose
// callers have lost access are ended at once; those whose clients do not read are cut off half a second
// later.
//
// Thread safety: Look from any thread once this is started; the rest by one thread.
class TokenFileWatcher {
 public:
  // Both must outlive this.
  TokenFileWatcher(AccessControl& access, CallGate& gate) : access_(access), gate_(gate) {}

  // Requires the tokens of a file from now on, even if it has none. Returns the errors of ReadTokensFile.
  // REQUIRES: called once.
  absl::Status Start(const std::string& path);

  // Checks the file now.
  void Look();

 private:
  void Reload() ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mutex_);
  void Take(std::shared_ptr<const TokenList> tokens) ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mutex_);

  AccessControl& access_;
  CallGate& gate_;
  std::string path_;
  // Held during a check.
  Mutex look_mutex_;
  // Stamp of the file at the last check.
  FileStamp stamp_ ABSL_GUARDED_BY(look_mutex_);
  // Empty list found by the last check; null if the list was not empty.
  std::shared_ptr<const TokenList> nobody_ ABSL_GUARDED_BY(look_mutex_);
  bool is_cut_off_due_ ABSL_GUARDED_BY(look_mutex_) = false;
  // Last member, so that it ends before the rest.
  PeriodicThread thread_;
};

}  // namespace waystar::rpc
