// Random edits, queries, watches, deletes and re-creates over real sockets, and what they do to the server's
// memory. Ends with 1 if a call fails in a way that it must not, or if memory grows after the warm-up.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "server/rpc/server.h"
#include "server/runtime/logging.h"
#include "server/runtime/options.h"
#include "tests/stress/memory_watch.h"
#include "tests/stress/random_requests.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"

ABSL_FLAG(double, minutes, 1.0, "How long to go on.");
ABSL_FLAG(int, side, 256, "Of the maps, in cells.");
ABSL_FLAG(std::uint64_t, seed, 1, "Of the requests.");

namespace waystar::stress {
namespace {

constexpr int kWatchers = 8;

class Soak {
 public:
  Soak(int port, int side, std::uint64_t seed)
      : channel_(grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials())),
        side_(side),
        seed_(seed) {}

  // True if nothing went wrong.
  bool Run(std::chrono::duration<double> length);

 private:
  using Actor = void (Soak::*)(RandomRequests&);

  // Counts a call, and complains if it ended in a way that a client's fault, or another client, cannot
  // explain.
  void Note(const char* call, const grpc::Status& status);

  void Act(Actor actor, std::uint64_t seed);
  void Edit(RandomRequests& requests);
  void StreamEdits(RandomRequests& requests);
  void Query(RandomRequests& requests);
  void WatchMap(RandomRequests& requests);
  void WatchPath(RandomRequests& requests);
  void Recreate(RandomRequests& requests);
  void List(RandomRequests& requests);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::MapService::Stub> maps_ = v1::MapService::NewStub(channel_);
  const std::unique_ptr<v1::PathService::Stub> paths_ = v1::PathService::NewStub(channel_);
  const int side_;
  const std::uint64_t seed_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::uint64_t> messages_ = 0;
  std::atomic<int> faults_ = 0;
};

void Soak::Note(const char* call, const grpc::Status& status) {
  ++calls_;
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return;
    default:
      if (faults_.fetch_add(1) < 20) {
        std::cerr << call << ": " << status.error_code() << " " << status.error_message() << "\n";
      }
  }
}

void Soak::Edit(RandomRequests& requests) {
  grpc::ClientContext context;
  v1::UpdateObstaclesResponse response;
  Note("UpdateObstacles",
       maps_->UpdateObstacles(&context, requests.UpdateObstacles(requests.MapId()), &response));
}

void Soak::StreamEdits(RandomRequests& requests) {
  grpc::ClientContext context;
  const auto stream = maps_->StreamObstacleUpdates(&context);
  const int batches = requests.random().Between(0, 200);
  std::thread writer([&] {
    v1::StreamObstacleUpdatesRequest request;
    for (int i = 0; i < batches; ++i) {
      *request.mutable_update() = requests.UpdateObstacles(requests.MapId());
      if (!stream->Write(request)) {
        break;
      }
    }
    stream->WritesDone();
  });
  v1::StreamObstacleUpdatesResponse response;
  std::uint64_t answered = 0;
  while (stream->Read(&response)) {
    if (response.index() != answered++) {
      ++faults_;
      std::cerr << "an update was answered out of order\n";
    }
  }
  writer.join();
  messages_ += answered;
  Note("StreamObstacleUpdates", stream->Finish());
}

void Soak::Query(RandomRequests& requests) {
  {
    grpc::ClientContext context;
    v1::FindPathResponse response;
    Note("FindPath", paths_->FindPath(&context, requests.FindPath(requests.MapId()), &response));
  }
  if (requests.random().Chance(0.1)) {
    grpc::ClientContext context;
    v1::ValidatePathResponse response;
    Note("ValidatePath", paths_->ValidatePath(&context, requests.ValidatePath(requests.MapId()), &response));
  }
}

void Soak::WatchMap(RandomRequests& requests) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(requests.random().Between(1, 3000)));
  v1::WatchMapRequest request;
  request.set_map(requests.MapId());
  request.set_with_edits(requests.random().Chance(0.5));
  const auto reader = maps_->WatchMap(&context, request);
  v1::WatchMapResponse response;
  std::uint64_t last = 0;
  while (reader->Read(&response)) {
    ++messages_;
    const bool follows = !response.has_revision() || response.revision().revision() == last + 1;
    last = response.has_watching()   ? response.watching().revision()
           : response.has_revision() ? response.revision().revision()
                                     : response.resynchronize().revision();
    if (!follows) {
      ++faults_;
      std::cerr << "a watcher missed a revision before " << last << "\n";
    }
  }
  Note("WatchMap", reader->Finish());
}

void Soak::WatchPath(RandomRequests& requests) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::milliseconds(requests.random().Between(1, 3000)));
  v1::WatchPathRequest request;
  *request.mutable_query() = requests.FindPath(requests.MapId());
  const auto reader = paths_->WatchPath(&context, request);
  v1::WatchPathResponse response;
  while (reader->Read(&response)) {
    ++messages_;
  }
  Note("WatchPath", reader->Finish());
}

void Soak::Recreate(RandomRequests& requests) {
  const std::string map = requests.MapId();
  {
    grpc::ClientContext context;
    v1::DeleteMapRequest request;
    request.set_map(map);
    v1::DeleteMapResponse response;
    Note("DeleteMap", maps_->DeleteMap(&context, request, &response));
  }
  {
    grpc::ClientContext context;
    v1::CreateMapResponse response;
    Note("CreateMap", maps_->CreateMap(&context, requests.CreateMap(map), &response));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

void Soak::List(RandomRequests& requests) {
  grpc::ClientContext context;
  v1::ListObstaclesRequest request;
  request.set_map(requests.MapId());
  v1::ListObstaclesResponse response;
  Note("ListObstacles", maps_->ListObstacles(&context, request, &response));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void Soak::Act(Actor actor, std::uint64_t seed) {
  RandomRequests requests(seed, side_);
  while (!stop_) {
    (this->*actor)(requests);
  }
}

bool Soak::Run(std::chrono::duration<double> length) {
  const auto end = std::chrono::steady_clock::now() + length;
  std::vector<Actor> actors = {&Soak::Recreate, &Soak::Edit,  &Soak::Edit, &Soak::StreamEdits,
                               &Soak::Query,    &Soak::Query, &Soak::List};
  for (int i = 0; i < kWatchers; ++i) {
    actors.push_back(i % 2 == 0 ? &Soak::WatchMap : &Soak::WatchPath);
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    threads.emplace_back([this, actor = actors[i], seed = seed_ * 1000 + i] { Act(actor, seed); });
  }
  constexpr int kSamples = 60;
  MemoryWatch memory;
  for (int sample = 1; sample <= kSamples; ++sample) {
    std::this_thread::sleep_until(end - length * (kSamples - sample) / kSamples);
    memory.Sample();
    std::cout << absl::StreamFormat("%3d / %d: %d MiB, %d calls, %d messages of streams, %d faults\n", sample,
                                    kSamples, memory.latest() >> 20, calls_.load(), messages_.load(),
                                    faults_.load())
              << std::flush;
  }
  stop_ = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (!memory.IsFlat()) {
    std::cerr << "memory has grown after the warm-up\n";
  }
  return memory.IsFlat() && faults_ == 0;
}

}  // namespace
}  // namespace waystar::stress

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  if (!waystar::runtime::StartLogging("error").ok()) {
    return EXIT_FAILURE;
  }
  waystar::runtime::Options options;
  options.listen = "127.0.0.1:0";
  options.workers = 2;
  const auto server = waystar::rpc::Server::Start(options);
  if (!server.ok()) {
    std::cerr << server.status() << "\n";
    return EXIT_FAILURE;
  }
  waystar::stress::Soak soak((*server)->port(), absl::GetFlag(FLAGS_side), absl::GetFlag(FLAGS_seed));
  const bool passed = soak.Run(std::chrono::duration<double>(absl::GetFlag(FLAGS_minutes) * 60));
  (*server)->Stop(absl::Seconds(10));
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
