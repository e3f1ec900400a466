// Keeps the tokens that the server accepts those of its file.
#pragma once

#include <string>
#include <thread>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/rpc/access/access_control.h"
#include "server/rpc/access/watched_file.h"
#include "server/rpc/admission/call_gate.h"

namespace waystar::rpc {

// One thread, which looks twice a second whether the file is another. A file that is bad then is logged, once
// for each change, and the tokens before it stay. Calls that may never end by themselves, and whose callers
// may not go on, are ended at once; those whose clients do not read that are cut off half a second later.
//
// Thread safety: Look from any thread once this is started; the rest by one thread.
class TokenFileWatcher {
 public:
  // Both must outlive this.
  TokenFileWatcher(AccessControl& access, CallGate& gate) : access_(access), gate_(gate) {}
  TokenFileWatcher(const TokenFileWatcher&) = delete;
  TokenFileWatcher& operator=(const TokenFileWatcher&) = delete;
  ~TokenFileWatcher();

  // Has callers asked for the tokens of a file, from here on. Errors of ReadTokensFile. To be called once.
  absl::Status Start(const std::string& path);

  // Looks at the file now.
  void Look();

 private:
  void Run();
  // False if it is time to stop.
  bool WaitForNextLook();
  void Reload();

  AccessControl& access_;
  CallGate& gate_;
  std::string path_;
  // Of who looks at the file.
  Mutex look_mutex_;
  // Of the file that was looked at last.
  FileStamp stamp_ ABSL_GUARDED_BY(look_mutex_);
  bool is_cut_off_due_ ABSL_GUARDED_BY(look_mutex_) = false;
  Mutex mutex_;
  CondVar wake_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::rpc
