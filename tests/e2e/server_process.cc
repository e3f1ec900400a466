#include "tests/e2e/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "gtest/gtest.h"
#include "tests/testing/folders.h"
#include "tests/testing/patience.h"

namespace waystar {
namespace {

// Opens a process to wait for its end. glibc 2.36 declares pidfd_open without C linkage.
int OpenProcess(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// Waits until there is something to read in one of them: data, the end of a pipe, or the end of a process.
bool IsReadable(int file, int other = -1) {
  pollfd polled[] = {{.fd = file, .events = POLLIN, .revents = 0},
                     {.fd = other, .events = POLLIN, .revents = 0}};
  return ::poll(polled, 2, static_cast<int>(absl::ToInt64Milliseconds(kPatience))) > 0;
}

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> flags, const std::function<void()>& prepare,
                             std::vector<std::string> environment, WhenItEnds when_it_ends) {
  const std::string port_file = absl::StrCat(::testing::TempDir(), "/port-", ::getpid());
  std::filesystem::remove(port_file);
  EXPECT_EQ(::mkfifo(port_file.c_str(), 0600), 0);
  // The program opens the pipe for writing when it answers, and writes the port.
  const int pipe = ::open(port_file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  flags.insert(flags.begin(),
               {BuildFolder() / "bin/waystar-server", "--listen=127.0.0.1:0", "--port_file=" + port_file});
  std::vector<char*> arguments;
  for (std::string& flag : flags) {
    arguments.push_back(flag.data());
  }
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (std::string& variable : environment) {
    variables.push_back(variable.data());
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    prepare();
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  const int process = OpenProcess(pid_);
  char port[16] = {};
  EXPECT_TRUE(IsReadable(pipe, process)) << "the server does not start";
  const bool has_answered = ::read(pipe, port, sizeof(port) - 1) > 0;
  ::close(pipe);
  ::close(process);
  port_ = has_answered ? std::atoi(port) : 0;
  EXPECT_TRUE(port_ > 0 || when_it_ends == WhenItEnds::kReturn) << "the server has ended before it answers";
  std::filesystem::remove(port_file);
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
}

std::shared_ptr<grpc::Channel> ServerProcess::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Else the library may come to take in whole transfers that nobody reads.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials(),
                                   arguments);
}

std::unique_ptr<client::Client> ServerProcess::NewClient() const {
  return std::make_unique<client::Client>(client::Options{.target = absl::StrCat("127.0.0.1:", port_),
                                                          .timeout = kPatience,
                                                          .transfer_timeout = kPatience,
                                                          .retry = false,
                                                          .reads_own_writes = false,
                                                          .stream_timeout = kPatience});
}

void ServerProcess::Signal(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }

int ServerProcess::Wait() {
  const int process = OpenProcess(pid_);
  if (!IsReadable(process)) {
    ADD_FAILURE() << "the server does not end";
    Signal(SIGKILL);
  }
  ::close(process);
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = 0;
  return status;
}

v1::CreateMapRequest BlankMap(const std::string& map, int side) {
  v1::CreateMapRequest request;
  request.set_map(map);
  request.mutable_blank()->set_width(side);
  request.mutable_blank()->set_height(side);
  return request;
}

v1::FindPathRequest PathAcross(const std::string& map, int side) {
  v1::FindPathRequest request;
  request.set_map(map);
  request.mutable_start()->mutable_cell();
  v1::Cell& goal = *request.add_goals()->mutable_cell();
  goal.set_x(side - 1);
  goal.set_y(side - 1);
  return request;
}

}  // namespace waystar
