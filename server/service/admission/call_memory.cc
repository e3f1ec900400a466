#include "server/service/admission/call_memory.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// Retry delay of a call rejected for unread answers: a client that reads makes progress in this time.
constexpr absl::Duration kUnreadDelay = absl::Milliseconds(100);

absl::Status Unread(absl::string_view whose, std::size_t bytes) {
  return Refusal(ErrorReason::kAnswersUnread, kUnreadDelay,
                 absl::StrCat("large requests and unread answers of ", whose, " hold ", bytes,
                              " bytes, as many as they may"));
}

// The address includes the client's port, and so identifies the connection. All unix socket connections count
// as one, and so do those of an HTTP client.
std::uint64_t ConnectionOf(const CallHead& head) { return absl::HashOf(head.Peer()); }

}  // namespace

absl::Status CallMemory::Share::SetTo(std::size_t bytes) {
  if (bytes < bytes_) {
    memory_.Subtract(connection_, bytes_ - bytes);
    bytes_ = bytes;
    return absl::OkStatus();
  }
  if (bytes_ == 0) {
    connection_ = ConnectionOf(head_);
  }
  absl::Status status = memory_.Add(connection_, bytes - bytes_);
  if (status.ok()) {
    bytes_ = bytes;
  }
  return status;
}

absl::Status CallMemory::LookUpConnection(const CallHead& head) const {
  const std::uint64_t connection = ConnectionOf(head);
  MutexLock lock(mutex_);
  const std::size_t own = held_.Of(connection);
  if (own < max_connection_bytes_) {
    return absl::OkStatus();
  }
  refused_connection_.fetch_add(1, std::memory_order_relaxed);
  return Unread("the connection", own);
}

absl::Status CallMemory::Add(std::uint64_t connection, std::size_t bytes) {
  MutexLock lock(mutex_);
  const std::size_t total = held_.total();
  const std::size_t own = held_.Of(connection);
  if (own > 0 && own + bytes > max_connection_bytes_) {
    refused_connection_.fetch_add(1, std::memory_order_relaxed);
    return Unread("the connection", own);
  }
  if (total > 0 && total + bytes > max_bytes_ && own + bytes > kAlwaysAllowed) {
    refused_all_.fetch_add(1, std::memory_order_relaxed);
    return Unread("all connections", total);
  }
  held_.TakeAnyway(connection, bytes);
  total_.store(held_.total(), std::memory_order_relaxed);
  return absl::OkStatus();
}

void CallMemory::Collect(runtime::MetricSink& sink) const {
  sink.AddGauge("waystar_call_memory_bytes", "Memory of large requests and unread answers.", total());
  constexpr char kRefused[] = "waystar_call_memory_refused_total";
  constexpr char kRefusedHelp[] =
      "Calls that were refused for the memory of large requests and unread answers, by the limit.";
  sink.AddCounter(kRefused, kRefusedHelp, refused_all_, {{"limit", "all"}});
  sink.AddCounter(kRefused, kRefusedHelp, refused_connection_, {{"limit", "connection"}});
}

void CallMemory::Subtract(std::uint64_t connection, std::size_t bytes) {
  MutexLock lock(mutex_);
  held_.GiveBack(connection, bytes);
  total_.store(held_.total(), std::memory_order_relaxed);
}

}  // namespace waystar::rpc
