// Random edits, queries, watches, deletes and re-creates over real sockets, by clients that wait for their
// answers and by others that go away, cancel or let deadlines pass; and what all of that does to the server's
// process. Ends with 1 if a call fails in a way that it must not, or if memory, threads or open files grow
// after the warm-up.

#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
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
#include "tests/e2e/server_process.h"
#include "tests/service/bounded_context.h"
#include "tests/stress/process_watch.h"
#include "tests/stress/random_requests.h"
#include "tests/stress/rude_clients.h"
#include "tests/stress/soak_tally.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"

ABSL_FLAG(double, minutes, 1.0, "How long to go on.");
ABSL_FLAG(int, side, 256, "Of the maps, in cells.");
ABSL_FLAG(std::uint64_t, seed, 1, "Of the requests.");
ABSL_FLAG(bool, judge_memory, true, "Off where a sanitizer keeps what was freed.");

namespace waystar::stress {
namespace {

constexpr int kWatchers = 8;

class Soak {
 public:
  Soak(const testing::ServerProcess& server, int side, std::uint64_t seed)
      : watch_(server.pid()),
        channel_(server.NewChannel()),
        rude_clients_(server.port(), tally_),
        side_(side),
        seed_(seed) {}

  // True if nothing went wrong.
  bool Run(std::chrono::duration<double> length, bool is_memory_judged);

 private:
  using Actor = void (Soak::*)(RandomRequests&);

  void Act(Actor actor, std::uint64_t seed);
  void Edit(RandomRequests& requests);
  void StreamEdits(RandomRequests& requests);
  void Query(RandomRequests& requests);
  void WatchMap(RandomRequests& requests);
  void WatchPath(RandomRequests& requests);
  void Recreate(RandomRequests& requests);
  void List(RandomRequests& requests);
  void ComeAndGo(RandomRequests& requests) { rude_clients_.ComeAndGo(requests); }
  void Cancel(RandomRequests& requests) { rude_clients_.Cancel(requests); }
  void LetExpire(RandomRequests& requests) { rude_clients_.LetExpire(requests); }

  ProcessWatch watch_;
  SoakTally tally_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::MapService::Stub> maps_ = v1::MapService::NewStub(channel_);
  const std::unique_ptr<v1::PathService::Stub> paths_ = v1::PathService::NewStub(channel_);
  RudeClients rude_clients_;
  const int side_;
  const std::uint64_t seed_;
  std::atomic<bool> stop_ = false;
};

void Soak::Edit(RandomRequests& requests) {
  testing::BoundedContext context;
  v1::UpdateObstaclesResponse response;
  tally_.Note("UpdateObstacles",
              maps_->UpdateObstacles(&context, requests.UpdateObstacles(requests.MapId()), &response));
}

void Soak::StreamEdits(RandomRequests& requests) {
  testing::BoundedContext context;
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
      tally_.Fault("an update was answered out of order");
    }
  }
  writer.join();
  tally_.CountMessages(answered);
  tally_.Note("StreamObstacleUpdates", stream->Finish());
}

void Soak::Query(RandomRequests& requests) {
  {
    testing::BoundedContext context;
    v1::FindPathResponse response;
    tally_.Note("FindPath", paths_->FindPath(&context, requests.FindPath(requests.MapId()), &response));
  }
  if (requests.random().Chance(0.1)) {
    testing::BoundedContext context;
    v1::ValidatePathResponse response;
    tally_.Note("ValidatePath",
                paths_->ValidatePath(&context, requests.ValidatePath(requests.MapId()), &response));
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
    tally_.CountMessages(1);
    const bool follows = !response.has_commit() || response.commit().version().revision() == last + 1;
    last = response.has_watching() ? response.watching().version().revision()
           : response.has_commit() ? response.commit().version().revision()
                                   : response.resynchronize().version().revision();
    if (!follows) {
      tally_.Fault(absl::StrCat("a watcher missed a revision before ", last));
    }
  }
  tally_.Note("WatchMap", reader->Finish());
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
    tally_.CountMessages(1);
  }
  tally_.Note("WatchPath", reader->Finish());
}

void Soak::Recreate(RandomRequests& requests) {
  const std::string map = requests.MapId();
  {
    testing::BoundedContext context;
    v1::DeleteMapRequest request;
    request.set_map(map);
    v1::DeleteMapResponse response;
    tally_.Note("DeleteMap", maps_->DeleteMap(&context, request, &response));
  }
  {
    testing::BoundedContext context;
    v1::CreateMapResponse response;
    tally_.Note("CreateMap", maps_->CreateMap(&context, requests.CreateMap(map), &response));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

void Soak::List(RandomRequests& requests) {
  testing::BoundedContext context;
  v1::ListObstaclesRequest request;
  request.set_map(requests.MapId());
  v1::ListObstaclesResponse response;
  tally_.Note("ListObstacles", maps_->ListObstacles(&context, request, &response));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void Soak::Act(Actor actor, std::uint64_t seed) {
  RandomRequests requests(seed, side_);
  while (!stop_) {
    (this->*actor)(requests);
  }
}

bool Soak::Run(std::chrono::duration<double> length, bool is_memory_judged) {
  const auto end = std::chrono::steady_clock::now() + length;
  std::vector<Actor> actors = {&Soak::Recreate, &Soak::Edit,      &Soak::Edit,      &Soak::StreamEdits,
                               &Soak::Query,    &Soak::Query,     &Soak::List,      &Soak::Cancel,
                               &Soak::Cancel,   &Soak::LetExpire, &Soak::ComeAndGo, &Soak::ComeAndGo};
  for (int i = 0; i < kWatchers; ++i) {
    actors.push_back(i % 2 == 0 ? &Soak::WatchMap : &Soak::WatchPath);
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    threads.emplace_back([this, actor = actors[i], seed = seed_ * 1000 + i] { Act(actor, seed); });
  }
  constexpr int kSamples = 60;
  for (int sample = 1; sample <= kSamples; ++sample) {
    std::this_thread::sleep_until(end - length * (kSamples - sample) / kSamples);
    const ProcessFigures& now = watch_.Sample();
    std::cout
        << absl::StreamFormat(
               "%3d / %d: %d MiB, %d threads, %d open files; %d calls, %d messages of streams, %d faults\n",
               sample, kSamples, now.bytes >> 20, now.threads, now.open_files, tally_.calls(),
               tally_.messages(), tally_.faults())
        << std::flush;
  }
  stop_ = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  const std::string growth = watch_.Growth(is_memory_judged);
  std::cerr << growth;
  return growth.empty() && tally_.faults() == 0;
}

}  // namespace
}  // namespace waystar::stress

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  waystar::testing::ServerProcess server({"--workers=2", "--log_level=error"});
  bool passed = false;
  {
    waystar::stress::Soak soak(server, absl::GetFlag(FLAGS_side), absl::GetFlag(FLAGS_seed));
    passed = soak.Run(std::chrono::duration<double>(absl::GetFlag(FLAGS_minutes) * 60),
                      absl::GetFlag(FLAGS_judge_memory));
  }
  server.Signal(SIGTERM);
  const int ended = server.Wait();
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
    std::cerr << "the server did not end well: " << ended << "\n";
    passed = false;
  }
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
