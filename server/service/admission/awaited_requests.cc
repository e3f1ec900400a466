#include "server/service/admission/awaited_requests.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
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

void AwaitedRequests::EnterStream(const std::string& peer, grpc_call* call, Stream& stream) {
  MutexLock lock(mutex_);
  KnownConnection& known = connections_[peer];
  ++known.streams;
  stream.call_ = call;
  stream.peer_ = &peer;
  stream.connection_ = known.connection;
  stream.position_ = streams_.insert(streams_.end(), &stream);
  stream.is_inside_ = true;
  stream_count_.fetch_add(1, std::memory_order_relaxed);
}

void AwaitedRequests::LeaveStream(Stream& stream) {
  MutexLock lock(mutex_);
  if (stream.is_inside_) {
    Forget(stream);
  }
}

void AwaitedRequests::CountMessage(const std::string& peer, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  if (const auto connection = connections_.find(peer); connection != connections_.end()) {
    connection->second.connection->Count(bytes + kCallOverhead);
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

std::vector<std::string> AwaitedRequests::Peers(bool with_streams) const {
  absl::flat_hash_set<std::string> peers;
  MutexLock lock(mutex_);
  for (const auto& [holder, line] : lines_) {
    for (const Place* place : line) {
      peers.insert(*place->peer_);
    }
  }
  if (with_streams) {
    for (const auto& [peer, known] : connections_) {
      peers.insert(peer);
    }
  }
  return {peers.begin(), peers.end()};
}

void AwaitedRequests::EndLarge(const BytesSent& bytes_sent, std::optional<std::uint64_t> memory_left) {
  const std::vector<std::string> peers = Peers(memory_left.has_value());
  if (peers.empty()) {
    return;
  }
  const std::vector<std::uint64_t> sent = bytes_sent(peers);
  struct Arriving {
    std::uint64_t sent = 0;
    std::uint64_t bytes = 0;
    std::vector<Place*> places;
    std::vector<Stream*> streams;
  };
  absl::flat_hash_map<absl::string_view, Arriving> by_peer;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    by_peer[peers[i]].sent = sent[i];
  }
  std::vector<grpc_call*> large;
  {
    MutexLock lock(mutex_);
    std::uint64_t bytes = 0;
    // Returns null for a peer that arrived meanwhile.
    const auto arriving_of = [&](absl::string_view peer) {
      const auto found = by_peer.find(peer);
      return found == by_peer.end() ? nullptr : &found->second;
    };
    for (const auto& [holder, line] : lines_) {
      for (Place* place : line) {
        Arriving* const arriving = arriving_of(*place->peer_);
        if (arriving == nullptr) {
          continue;
        }
        if (!place->sent_before_.has_value()) {
          place->sent_before_ = arriving->sent;
          continue;
        }
        arriving->places.push_back(place);
        arriving->bytes = std::max(arriving->bytes, Beyond(arriving->sent, *place->sent_before_));
      }
    }
    for (Stream* stream : streams_) {
      Arriving* const arriving = memory_left.has_value() ? arriving_of(*stream->peer_) : nullptr;
      if (arriving == nullptr) {
        continue;
      }
      const std::uint64_t messages = stream->messages_.load(std::memory_order_relaxed);
      const std::uint64_t whole = stream->connection_->whole();
      if (!stream->is_seen_ || messages != stream->seen_messages_) {
        stream->is_seen_ = true;
        stream->seen_messages_ = messages;
        stream->sent_before_ = arriving->sent;
        stream->whole_before_ = whole;
        continue;
      }
      arriving->streams.push_back(stream);
      const std::uint64_t received = Beyond(arriving->sent, stream->sent_before_);
      arriving->bytes = std::max(arriving->bytes, Beyond(received, whole - stream->whole_before_));
    }
    std::vector<Arriving*> most;
    for (auto& [peer, arriving] : by_peer) {
      const std::size_t calls = arriving.places.size() + arriving.streams.size();
      arriving.bytes = std::min(arriving.bytes, calls * limits_.max_request_bytes);
      bytes += arriving.bytes;
      most.push_back(&arriving);
    }
    std::ranges::sort(most, std::greater<>(), &Arriving::bytes);
    const std::uint64_t max_bytes =
        memory_left.has_value() ? std::min(limits_.max_bytes, *memory_left / 4) : limits_.max_bytes;
    for (std::size_t i = 0; i < most.size() && bytes > max_bytes; ++i) {
      bytes -= most[i]->bytes;
      for (Place* place : most[i]->places) {
        large.push_back(Take(*place));
      }
      for (Stream* stream : most[i]->streams) {
        large.push_back(Take(*stream));
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
  MutexLock lock(mutex_);
  sink.AddGauge(name, "Calls whose headers are here and whose request is not.", shares_.total());
  const std::string ended = absl::StrCat(name, "_ended_total");
  constexpr char kEndedHelp[] = "Calls that were ended before their request was there.";
  sink.AddCounter(ended, kEndedHelp, late_, {{"reason", "late"}});
  sink.AddCounter(ended, kEndedHelp, large_, {{"reason", "too_large"}});
  sink.AddCounter(ended, kEndedHelp, crowded_out_, {{"reason", "too_many"}});
}

grpc_call* AwaitedRequests::Take(Place& place) {
  grpc_call* const call = place.call_;
  grpc_call_ref(call);
  Forget(place);
  return call;
}

grpc_call* AwaitedRequests::Take(Stream& stream) {
  grpc_call* const call = stream.call_;
  grpc_call_ref(call);
  Forget(stream);
  return call;
}

void AwaitedRequests::Forget(Stream& stream) {
  streams_.erase(stream.position_);
  stream.is_inside_ = false;
  stream_count_.fetch_sub(1, std::memory_order_relaxed);
  const auto known = connections_.find(*stream.peer_);
  if (--known->second.streams == 0) {
    connections_.erase(known);
  }
}

void AwaitedRequests::Forget(Place& place) {
  place.is_waiting_ = false;
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
