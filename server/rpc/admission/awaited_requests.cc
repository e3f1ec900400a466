#include "server/rpc/admission/awaited_requests.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
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

void AwaitedRequests::Enter(std::uint64_t holder, const std::string& peer, grpc_call* call,
                            Clock::time_point now, Place& place) {
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
    place.peer_ = &peer;
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

std::vector<std::string> AwaitedRequests::Peers() const {
  absl::flat_hash_set<std::string> peers;
  MutexLock lock(mutex_);
  for (const auto& [holder, line] : lines_) {
    for (const Place* place : line) {
      peers.insert(*place->peer_);
    }
  }
  return {peers.begin(), peers.end()};
}

void AwaitedRequests::EndLarge(const BytesSent& bytes_sent) {
  const std::vector<std::string> peers = Peers();
  if (peers.empty()) {
    return;
  }
  const std::vector<std::uint64_t> sent = bytes_sent(peers);
  struct Arriving {
    std::uint64_t sent = 0;
    std::uint64_t bytes = 0;
    std::vector<Place*> places;
  };
  absl::flat_hash_map<absl::string_view, Arriving> by_peer;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    by_peer[peers[i]].sent = sent[i];
  }
  std::vector<grpc_call*> large;
  {
    MutexLock lock(mutex_);
    std::uint64_t bytes = 0;
    for (const auto& [holder, line] : lines_) {
      for (Place* place : line) {
        const auto found = by_peer.find(*place->peer_);
        // It came meanwhile.
        if (found == by_peer.end()) {
          continue;
        }
        Arriving& arriving = found->second;
        if (!place->sent_before_.has_value()) {
          place->sent_before_ = arriving.sent;
          continue;
        }
        arriving.places.push_back(place);
        arriving.bytes =
            std::max(arriving.bytes, arriving.sent - std::min(arriving.sent, *place->sent_before_));
      }
    }
    std::vector<Arriving*> most;
    for (auto& [peer, arriving] : by_peer) {
      arriving.bytes = std::min(arriving.bytes, arriving.places.size() * limits_.max_request_bytes);
      bytes += arriving.bytes;
      most.push_back(&arriving);
    }
    std::ranges::sort(most, std::greater<>(), &Arriving::bytes);
    for (std::size_t i = 0; i < most.size() && bytes > limits_.max_bytes; ++i) {
      bytes -= most[i]->bytes;
      for (Place* place : most[i]->places) {
        large.push_back(Take(*place));
      }
    }
    large_ += large.size();
  }
  for (grpc_call* call : large) {
    Cancel(call, GRPC_STATUS_RESOURCE_EXHAUSTED,
           "requests that have not arrived in whole hold as much memory as they may");
  }
}

void AwaitedRequests::StartEnding(BytesSent bytes_sent) {
  const auto period = std::min<Clock::duration>(limits_.patience, std::chrono::milliseconds(50));
  ending_.Start("late-requests", absl::FromChrono(period), [this, bytes_sent = std::move(bytes_sent)] {
    EndLate(Clock::now());
    EndLarge(bytes_sent);
  });
}

void AwaitedRequests::Collect(runtime::MetricSink& sink) const {
  const std::string name = absl::StrCat("waystar_", kind_, "_awaited");
  MutexLock lock(mutex_);
  sink.AddGauge(name, "Calls whose headers are here and whose request is not.", {},
                static_cast<double>(shares_.total()));
  const std::string ended = absl::StrCat(name, "_ended_total");
  constexpr char kEndedHelp[] = "Calls that were ended before their request was there.";
  sink.AddCounter(ended, kEndedHelp, {{"reason", "late"}}, static_cast<double>(late_));
  sink.AddCounter(ended, kEndedHelp, {{"reason", "too_large"}}, static_cast<double>(large_));
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
