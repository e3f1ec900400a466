#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>

#include <memory>
#include <vector>

#include "client/connection.h"
#include "client/load/exchange.h"
#include "client/load/settings.h"
#include "client/load/workload.h"

namespace waystar::load {

// Makes an exchange that makes a call for each message: FindPath, or FindPaths with Mode::kBatch. All that is
// passed must outlive it. Messages take turns over the channels.
std::unique_ptr<Exchange> MakeCallExchange(const Settings& settings, const Workload& workload,
                                           const client::Connection& connection,
                                           const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                                           grpc::CompletionQueue& queue, std::uint64_t seed,
                                           Listener& listener);

}  // namespace waystar::load
