#include "server/rpc/admission/awaited_requests.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace waystar::rpc {
namespace {

// The library may call Leave before this returns.
void Cancel(grpc_call* call, grpc_status_code code, const char* why) {
  grpc_call_cancel_with_status(call, code, why, nullptr);
  grpc_call_unref(call);
}

}  // namespace

void AwaitedRequests::Enter(std::uint64_t holder, grpc_call* call, Clock::time_point now, Place& place) {
  grpc_call* crowded_out = nullptr;
  {
    MutexLock lock(mutex_);
    if (!shares_.Take(holder)) {
      const auto own = lines_.find(holder);
      ++crowded_out_;
      crowded_out = Take(own == lines_.end() ? Oldest() : *own->second.front());
      shares_.Take(holder);
    }
    Line& line = lines_[holder];
    place.call_ = call;
    place.holder_ = holder;
    place.begin_ = now;
    place.position_ = line.insert(line.end(), &place);
    place.is_waiting_ = true;
  }
  if (crowded_out != nullptr) {
    Cancel(crowded_out, GRPC_STATUS_RESOURCE_EXHAUSTED,
           "too many calls have begun whose requests have not arrived");
  }
}

bool AwaitedRequests::Leave(Place& place) {
  MutexLock lock(mutex_);
  const bool was_waiting = place.is_waiting_;
  if (was_waiting) {
    Forget(place);
  }
  return was_waiting;
}

void AwaitedRequests::EndLate(Clock::time_point now) {
  std::vector<grpc_call*> late;
  {
    MutexLock lock(mutex_);
    const auto is_late = [&](const Place& place) { return now - place.begin_ >= limits_.patience; };
    while (!lines_.empty() && is_late(Oldest())) {
      late.push_back(Take(Oldest()));
    }
    late_ += late.size();
  }
  for (grpc_call* call : late) {
    Cancel(call, GRPC_STATUS_DEADLINE_EXCEEDED, "the request did not arrive in time");
  }
}

void AwaitedRequests::StartEnding() {
  const auto period = std::min<Clock::duration>(limits_.patience, std::chrono::seconds(1));
  ending_.Start("late-requests", absl::FromChrono(period), [this] { EndLate(Clock::now()); });
}

void AwaitedRequests::Collect(runtime::MetricSink& sink) const {
  const std::string name = absl::StrCat("waystar_", kind_, "_awaited");
  MutexLock lock(mutex_);
  sink.AddGauge(name, "Calls whose headers are here and whose request is not.", {},
                static_cast<double>(shares_.total()));
  const std::string ended = absl::StrCat(name, "_ended_total");
  constexpr char kEndedHelp[] = "Calls that were ended before their request was there.";
  sink.AddCounter(ended, kEndedHelp, {{"reason", "late"}}, static_cast<double>(late_));
  sink.AddCounter(ended, kEndedHelp, {{"reason", "too_many"}}, static_cast<double>(crowded_out_));
}

grpc_call* AwaitedRequests::Take(Place& place) {
  grpc_call* const call = place.call_;
  grpc_call_ref(call);
  Forget(place);
  return call;
}

void AwaitedRequests::Forget(Place& place) {
  const auto line = lines_.find(place.holder_);
  line->second.erase(place.position_);
  if (line->second.empty()) {
    lines_.erase(line);
  }
  shares_.GiveBack(place.holder_);
  place.is_waiting_ = false;
}

AwaitedRequests::Place& AwaitedRequests::Oldest() {
  const auto oldest = std::min_element(lines_.begin(), lines_.end(), [](const auto& one, const auto& other) {
    return one.second.front()->begin_ < other.second.front()->begin_;
  });
  return *oldest->second.front();
}

}  // namespace waystar::rpc
