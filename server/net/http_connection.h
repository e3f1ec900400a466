// One connection of an HTTP client: reads the head of a request, writes the answer and ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/net/descriptor.h"
#include "server/net/network.h"

namespace waystar::net {

// Each of the three steps has a time limit: 5 s for the head, 10 s for the answer and 1 s for the client to
// close after that. A head has at most 8 KiB; the rest of a request is not looked at.
class HttpConnection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  // Returns the whole answer, headers included, to a request with that method and path.
  using Responder = std::function<std::string(absl::string_view method, absl::string_view path)>;

  // `socket` does not block.
  HttpConnection(Descriptor socket, TimePoint now);

  int fd() const { return socket_.fd(); }
  const Network& network() const { return network_; }
  // Returns what poll is to wait for.
  short events() const;
  // Returns when it is to be closed, whatever it waits for.
  TimePoint deadline() const { return deadline_; }

  // Reads and writes what the socket has and takes. Returns false if the connection is over.
  bool Continue(TimePoint now, const Responder& respond);

 private:
  enum class Step : std::uint8_t { kHead, kAnswer, kEnd };

  // Each returns false if the connection is over; they go on to the next step if they can.
  bool ReadHead(TimePoint now, const Responder& respond);
  bool WriteAnswer(TimePoint now);
  bool AwaitEnd();

  Descriptor socket_;
  Network network_;
  Step step_ = Step::kHead;
  TimePoint deadline_;
  std::string head_;
  std::string answer_;
  std::size_t written_ = 0;
};

// Returns an answer after which the connection ends.
std::string HttpAnswer(absl::string_view status, absl::string_view content_type, absl::string_view body);

}  // namespace waystar::net
