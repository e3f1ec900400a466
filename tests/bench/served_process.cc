#include "tests/bench/served_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "tests/bench/bench.h"

namespace waystar::bench {

ServedProcess::ServedProcess(const std::function<Ports()>& serve) {
  int ends[2];
  if (pipe(ends) != 0) {
    Die("no pipe");
  }
  pid_ = fork();
  if (pid_ == 0) {
    // However the benchmark ends, this process ends with it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    const Ports ports = serve();
    if (write(ends[1], ports.data(), sizeof(ports)) != sizeof(ports)) {
      Die("the served process has lost its parent");
    }
    for (;;) {
      pause();
    }
  }
  close(ends[1]);
  if (pid_ < 0 || read(ends[0], ports_.data(), sizeof(ports_)) != sizeof(ports_)) {
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
