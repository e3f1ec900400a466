// Clients that do not wait for what they asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "client/errors.h"
#include "grpcpp/channel.h"
#include "tests/stress/random_requests.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"

namespace waystar::stress {

// What the clients of a soak count.
//
// Thread safety: any.
class SoakTally {
 public:
  // Counts a call, and complains if it ended in a way that a client's fault, or another client, cannot
  // explain.
  void Note(const char* call, const absl::Status& status);
  void Note(const char* call, const grpc::Status& status) { Note(call, client::FromGrpc(status)); }
  void CountMessages(std::uint64_t messages) { messages_ += messages; }
  // Complains.
  void Fault(const std::string& what);

  std::uint64_t calls() const { return calls_; }
  std::uint64_t messages() const { return messages_; }
  int faults() const { return faults_; }

 private:
  std::atomic<std::uint64_t> calls_ = 0;
  // Of streams.
  std::atomic<std::uint64_t> messages_ = 0;
  std::atomic<int> faults_ = 0;
};

// Each method is one visit to the server.
//
// Thread safety: any.
class RudeClients {
 public:
  RudeClients(int port, SoakTally& tally);

  // A connection of its own for a call or two; now and then one that breaks in the middle of a frame.
  void ComeAndGo(RandomRequests& requests);
  // A call of any kind that is cancelled before its end.
  void Cancel(RandomRequests& requests);
  // A call of any kind with a deadline that is too near.
  void LetExpire(RandomRequests& requests);

 private:
  struct Stubs {
    explicit Stubs(const std::shared_ptr<grpc::Channel>& channel);

    std::unique_ptr<v1::MapService::Stub> maps;
    std::unique_ptr<v1::PathService::Stub> paths;
    std::unique_ptr<v1::PictureService::Stub> pictures;
  };

  std::shared_ptr<grpc::Channel> NewChannel() const;
  // Makes a call of any kind. Of streams it reads and writes some messages and cancels them.
  void CallAny(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests);
  void Update(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests);
  void StreamQueries(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests);
  void StreamUpdates(const Stubs& stubs, grpc::ClientContext& context, RandomRequests& requests);
  void BreakConnection(RandomRequests& requests) const;

  const int port_;
  SoakTally& tally_;
  const Stubs shared_;
};

}  // namespace waystar::stress
