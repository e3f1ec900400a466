#include "server/rpc/token_file_watcher.h"

#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/base/thread.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

void WarnIfNobodyMayCall(const std::string& path, const TokenList& tokens) {
  if (tokens.size() == 0) {
    runtime::Log(runtime::LogLevel::kWarning, "tokens_let_nobody_in", {{"file", path}});
  }
}

}  // namespace

TokenFileWatcher::~TokenFileWatcher() {
  if (!thread_.joinable()) {
    return;
  }
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

absl::Status TokenFileWatcher::Start(const std::string& path) {
  path_ = path;
  {
    MutexLock lock(look_mutex_);
    // The stamp is taken before the file is read: a later change is seen next time.
    stamp_ = StampOf(path_);
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const TokenList> tokens, ReadTokensFile(path_));
    WarnIfNobodyMayCall(path_, *tokens);
    access_.Set(std::move(tokens));
  }
  thread_ = StartThread("token-file", [this] { Run(); });
  return absl::OkStatus();
}

void TokenFileWatcher::Run() {
  while (WaitForNextLook()) {
    Look();
  }
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

bool TokenFileWatcher::WaitForNextLook() {
  constexpr std::chrono::milliseconds kPeriod{500};
  const auto next = std::chrono::steady_clock::now() + kPeriod;
  MutexLock lock(mutex_);
  while (!is_stopping_ && std::chrono::steady_clock::now() < next) {
    wake_.WaitUntil(mutex_, next);
  }
  return !is_stopping_;
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
