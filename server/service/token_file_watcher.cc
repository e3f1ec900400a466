#include "server/service/token_file_watcher.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

void WarnIfNobodyMayCall(const std::string& path, const TokenList& tokens) {
  if (tokens.size() == 0) {
    runtime::Log(runtime::LogLevel::kWarning, "tokens_let_nobody_in", {{"file", path}});
  }
}

}  // namespace

absl::Status TokenFileWatcher::Start(const std::string& path) {
  path_ = path;
  {
    MutexLock lock(look_mutex_);
    // The stamp is taken before the file is read, so that a later change is detected next time.
    stamp_ = StampOf(path_);
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const TokenList> tokens, ReadTokensFile(path_));
    WarnIfNobodyMayCall(path_, *tokens);
    access_.Set(std::move(tokens));
  }
  thread_.Start("token-file", absl::Milliseconds(500), [this] { Look(); });
  return absl::OkStatus();
}

void TokenFileWatcher::Look() {
  MutexLock lock(look_mutex_);
  if (std::exchange(is_cut_off_due_, false)) {
    gate_.CutOffRevoked();
  }
  const FileStamp stamp = StampOf(path_);
  if (stamp != stamp_) {
    stamp_ = stamp;
    Reload();
  } else if (nobody_ != nullptr) {
    Take(std::exchange(nobody_, nullptr));
  }
}

void TokenFileWatcher::Reload() {
  nobody_ = nullptr;
  absl::StatusOr<std::shared_ptr<const TokenList>> tokens = ReadTokensFile(path_);
  if (!tokens.ok()) {
    runtime::Log(runtime::LogLevel::kError, "tokens_file_refused",
                 {{"error", tokens.status().message()}, {"in_use", "the tokens before"}});
    return;
  }
  if ((*tokens)->size() == 0) {
    nobody_ = *std::move(tokens);
    return;
  }
  Take(*std::move(tokens));
}

void TokenFileWatcher::Take(std::shared_ptr<const TokenList> tokens) {
  runtime::Log(runtime::LogLevel::kInfo, "tokens_loaded", {{"file", path_}, {"tokens", tokens->size()}});
  WarnIfNobodyMayCall(path_, *tokens);
  access_.Set(std::move(tokens));
  gate_.EndRevoked();
  is_cut_off_due_ = true;
}

}  // namespace waystar::rpc
