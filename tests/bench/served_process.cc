#include "tests/bench/served_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/service/server.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::bench {
namespace {

constexpr int kFieldSide = 64;
constexpr int kPathPoints = 40;

[[noreturn]] void Die(const char* what) {
  std::cerr << what << "\n";
  std::_Exit(1);
}

class DoNothing final : public v1::PathService::CallbackService {
 public:
  grpc::ServerUnaryReactor* FindPath(grpc::CallbackServerContext* context,
                                     const v1::FindPathRequest* /*request*/,
                                     v1::FindPathResponse* response) override {
    for (int i = 0; i < kPathPoints; ++i) {
      v1::Cell& point = *response->add_points();
      point.set_x(i);
      point.set_y(i);
    }
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

void CreateField(int port) {
  const auto stub = v1::MapService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  v1::CreateMapRequest request;
  request.set_map("field");
  request.mutable_blank()->set_width(kFieldSide);
  request.mutable_blank()->set_height(kFieldSide);
  v1::CreateMapResponse response;
  grpc::ClientContext context;
  if (!stub->CreateMap(&context, request, &response).ok()) {
    Die("the benchmark's map was not created");
  }
}

[[noreturn]] void Serve(int port_pipe) {
  const auto server = rpc::Server::Start({.listen = "127.0.0.1:0",
                                          .workers = 2,
                                          .http_listen = "127.0.0.1:0",
                                          .http_calls = 256,
                                          .log_level = "error"});
  if (!server.ok()) {
    Die("the server does not start");
  }
  DoNothing service;
  int ports[3] = {(*server)->port(), 0, (*server)->http_port()};
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &ports[1]);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> do_nothing = builder.BuildAndStart();
  CreateField(ports[0]);
  if (do_nothing == nullptr || write(port_pipe, ports, sizeof(ports)) != sizeof(ports)) {
    Die("the do-nothing server does not start");
  }
  for (;;) {
    pause();
  }
}

}  // namespace

ServedProcess::ServedProcess() {
  int ends[2];
  if (pipe(ends) != 0) {
    Die("no pipe");
  }
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    Serve(ends[1]);
  }
  close(ends[1]);
  if (pid_ < 0 || read(ends[0], ports_, sizeof(ports_)) != sizeof(ports_)) {
    Die("the served process did not start");
  }
  close(ends[0]);
}

ServedProcess::~ServedProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::chrono::nanoseconds ServedProcess::CpuTime() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    Die("the served process has gone");
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace waystar::bench
