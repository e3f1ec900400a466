#include "tests/e2e/server_process.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "gtest/gtest.h"

namespace waystar::testing {

ServerProcess::ServerProcess(std::vector<std::string> flags) {
  const std::string port_file = absl::StrCat(::testing::TempDir(), "/port-", ::getpid());
  // Opening a pipe for reading waits until the server opens it for writing.
  std::filesystem::remove(port_file);
  EXPECT_EQ(::mkfifo(port_file.c_str(), 0600), 0);
  flags.insert(flags.begin(), {WAYSTAR_SERVER_PROGRAM, "--listen=127.0.0.1:0", "--port_file=" + port_file});
  std::vector<char*> arguments;
  for (std::string& flag : flags) {
    arguments.push_back(flag.data());
  }
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  std::ifstream(port_file) >> port_;
  EXPECT_GT(port_, 0);
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
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials(),
                                   arguments);
}

void ServerProcess::Signal(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }

int ServerProcess::Wait() {
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = 0;
  return status;
}

}  // namespace waystar::testing
