// Watcher of the file of tokens, which keeps the server's tokens up to date with it.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/base/periodic_thread.h"
#include "server/service/admission/call_gate.h"
#include "server/service/auth/access_control.h"
#include "server/service/auth/token_list.h"
#include "server/service/auth/watched_file.h"

namespace waystar::rpc {

// Runs one thread, which checks twice a second whether the file has changed. A bad file is logged, once for
// each change, and the tokens before it stay. A file without a token lets nobody in, from the second look on
// that finds it so: a file that is being written in place is empty for a moment. Open-ended calls whose
// callers may not go on are ended at once; those whose clients do not read that are cut off half a second
// later.
//
// Thread safety: Look from any thread once this is started; the rest by one thread.
class TokenFileWatcher {
 public:
  // Both must outlive this.
  TokenFileWatcher(AccessControl& access, CallGate& gate) : access_(access), gate_(gate) {}

  // Requires the tokens of a file from here on, be there any or none. Returns the errors of ReadTokensFile.
  // REQUIRES: called once.
  absl::Status Start(const std::string& path);

  // Looks at the file now.
  void Look();

 private:
  void Reload() ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mutex_);
  void Take(std::shared_ptr<const TokenList> tokens) ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mutex_);

  AccessControl& access_;
  CallGate& gate_;
  std::string path_;
  // Held while the file is looked at.
  Mutex look_mutex_;
  // The stamp of the file that was looked at last.
  FileStamp stamp_ ABSL_GUARDED_BY(look_mutex_);
  // The list without a token that the last look found in the file; null if it found another.
  std::shared_ptr<const TokenList> nobody_ ABSL_GUARDED_BY(look_mutex_);
  bool is_cut_off_due_ ABSL_GUARDED_BY(look_mutex_) = false;
  // The last member: it ends before the rest.
  PeriodicThread thread_;
};

}  // namespace waystar::rpc
