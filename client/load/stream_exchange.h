#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "client/connection.h"
#include "client/load/exchange.h"
#include "client/load/settings.h"
#include "client/load/workload.h"

namespace waystar::load {

// Exchange that sends messages over streams, one a channel, which take turns. A stream that breaks fails what
// is under way on it, and is opened again for the next message. All that is passed must outlive it.
class StreamExchange final : public Exchange {
 public:
  StreamExchange(const Settings& settings, const Workload& workload, const client::Connection& connection,
                 const std::vector<std::shared_ptr<grpc::Channel>>& channels, grpc::CompletionQueue& queue,
                 std::uint64_t seed, Listener& listener);
  ~StreamExchange() override;

  void Send(Time due) override;
  void Close() override;

 private:
  class Stream;

  const Workload& workload_;
  const int queries_;
  Workload::Random random_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::size_t next_stream_ = 0;
};

}  // namespace waystar::load
