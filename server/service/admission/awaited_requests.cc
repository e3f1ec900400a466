#include "server/service/admission/awaited_requests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace waystar::rpc {
namespace {

// Typical upper bound of a call's bytes on the connection besides its request: its headers.
constexpr std::uint64_t kCallOverhead = 256;

// The library may call Leave before this returns.
void Cancel(grpc_call* call, grpc_status_code code, const char* why) {
  grpc_call_cancel_with_status(call, code, why, nullptr);
  grpc_call_unref(call);
}

std::uint64_t Beyond(std::uint64_t value, std::uint64_t least) { return value - std::min(value, least); }

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
      // The holder keeps its number of calls, which may exceed its share since others came.
      shares_.TakeAnyway(holder);
    }
    Line& line = lines_[holder];
    place.call_ = call;
    place.peer_ = &peer;
    place.holder_ = holder;
    place.begin_ = now;
    place.position_ = line.insert(line.end(), &place);
    place.is_inside_ = true;
  }
  if (crowded_out != nullptr) {
    Cancel(crowded_out, GRPC_STATUS_RESOURCE_EXHAUSTED,
           "too many calls have begun whose requests have not arrived");
  }
}

void AwaitedRequests::EnterStream(const std::string& peer, grpc_call* call, Place& place) {
  MutexLock lock(mutex_);
  std::shared_ptr<Connection>& connection = connections_[peer];
  if (connection == nullptr) {
    connection = std::make_shared<Connection>();
  }
  ++connection->streams;
  place.call_ = call;
  place.peer_ = &peer;
  place.connection_ = connection;
  place.position_ = streams_.insert(streams_.end(), &place);
  place.is_inside_ = true;
  stream_count_.fetch_add(1, std::memory_order_relaxed);
}

bool AwaitedRequests::Leave(Place& place) {
  MutexLock lock(mutex_);
  const bool was_inside = place.is_inside_;
  if (was_inside) {
    Forget(place);
  }
  return was_inside;
}

void AwaitedRequests::CountMessage(const std::string& peer, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  if (const auto connection = connections_.find(peer); connection != connections_.end()) {
    connection->second->whole.fetch_add(bytes + kCallOverhead, std::memory_order_relaxed);
  }
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

void AwaitedRequests::EndLarge(const BytesSent& bytes_sent, std::optional<std::uint64_t> memory_left) {
  struct Arriving {
    std::uint64_t sent = 0;
    std::uint64_t bytes = 0;
    std::vector<Place*> places;
  };
  absl::flat_hash_map<std::string, Arriving> by_peer;
  {
    MutexLock lock(mutex_);
    for (const auto& [holder, line] : lines_) {
      for (const Place* place : line) {
        by_peer.try_emplace(*place->peer_);
      }
    }
    for (const auto& [peer, connection] : connections_) {
      if (memory_left.has_value()) {
        by_peer.try_emplace(peer);
      }
    }
  }
  if (by_peer.empty()) {
    return;
  }
  std::vector<std::string> peers;
  std::vector<Arriving*> most;
  for (auto& [peer, arriving] : by_peer) {
    peers.push_back(peer);
    most.push_back(&arriving);
  }
  const std::vector<std::uint64_t> sent = bytes_sent(peers);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    most[i]->sent = sent[i];
  }
  // A peer that arrived meanwhile is not found.
  const auto look_at = [&](Place& place) {
    const auto found = by_peer.find(*place.peer_);
    if (found == by_peer.end()) {
      return;
    }
    Arriving& arriving = found->second;
    const std::uint64_t messages = place.messages_.load(std::memory_order_relaxed);
    const std::uint64_t whole =
        place.connection_ == nullptr ? 0 : place.connection_->whole.load(std::memory_order_relaxed);
    if (!place.sent_before_.has_value() || messages != place.seen_messages_) {
      place.seen_messages_ = messages;
      place.sent_before_ = arriving.sent;
      place.whole_before_ = whole;
      return;
    }
    arriving.places.push_back(&place);
    const std::uint64_t received = Beyond(arriving.sent, *place.sent_before_);
    arriving.bytes = std::max(arriving.bytes, Beyond(received, whole - place.whole_before_));
  };
  std::vector<grpc_call*> large;
  {
    MutexLock lock(mutex_);
    for (const auto& [holder, line] : lines_) {
      for (Place* place : line) {
        look_at(*place);
      }
    }
    for (Place* stream : streams_) {
      if (memory_left.has_value()) {
        look_at(*stream);
      }
    }
    std::uint64_t bytes = 0;
    for (Arriving* arriving : most) {
      arriving->bytes = std::min(arriving->bytes, arriving->places.size() * limits_.max_request_bytes);
      bytes += arriving->bytes;
    }
    std::ranges::sort(most, std::greater<>(), &Arriving::bytes);
    const std::uint64_t max_bytes =
        memory_left.has_value() ? std::min(limits_.max_bytes, *memory_left / 4) : limits_.max_bytes;
    for (std::size_t i = 0; i < most.size() && bytes > max_bytes; ++i) {
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

void AwaitedRequests::StartEnding(BytesSent bytes_sent, MemoryLeft memory_left) {
  const auto period = std::min<Clock::duration>(limits_.patience, std::chrono::milliseconds(50));
  ending_.Start("late-requests", absl::FromChrono(period),
                [this, bytes_sent = std::move(bytes_sent), memory_left = std::move(memory_left)] {
                  EndLate(Clock::now());
                  EndLarge(bytes_sent, HasStreams() ? memory_left() : std::nullopt);
                });
}

void AwaitedRequests::Collect(runtime::MetricSink& sink) const {
  const std::string name = absl::StrCat("waystar_", kind_, "_awaited");
  const std::string calls = kind_ == "requests" ? "Calls" : "Health checks and calls without a valid token";
  MutexLock lock(mutex_);
  sink.AddGauge(name, absl::StrCat(calls, " whose request has not arrived."), shares_.total());
  const std::string ended = absl::StrCat(name, "_ended_total");
  const std::string ended_help =
      absl::StrCat(calls, " that were ended before their request had arrived, by the reason.");
  sink.AddCounter(ended, ended_help, late_, {{"reason", "late"}});
  sink.AddCounter(ended, ended_help, large_, {{"reason", "too_large"}});
  sink.AddCounter(ended, ended_help, crowded_out_, {{"reason", "too_many"}});
}

grpc_call* AwaitedRequests::Take(Place& place) {
  grpc_call* const call = place.call_;
  grpc_call_ref(call);
  Forget(place);
  return call;
}

void AwaitedRequests::Forget(Place& place) {
  place.is_inside_ = false;
  if (place.connection_ != nullptr) {
    streams_.erase(place.position_);
    stream_count_.fetch_sub(1, std::memory_order_relaxed);
    if (--place.connection_->streams == 0) {
      connections_.erase(*place.peer_);
    }
    return;
  }
  const auto line = lines_.find(place.holder_);
  line->second.erase(place.position_);
  if (line->second.empty()) {
    lines_.erase(line);
  }
  shares_.GiveBack(place.holder_);
}

AwaitedRequests::Place& AwaitedRequests::Oldest() {
  const auto oldest = std::min_element(lines_.begin(), lines_.end(), [](const auto& one, const auto& other) {
    return one.second.front()->begin_ < other.second.front()->begin_;
  });
  return *oldest->second.front();
}

}  // namespace waystar::rpc
