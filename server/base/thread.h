// Named threads.
#pragma once

#include <pthread.h>

#include <string>
#include <thread>
#include <utility>

namespace waystar {

// Starts a thread with a name for debuggers and `top -H`. The limit is 15 characters; a longer name is
// ignored.
template <typename Run>
std::thread StartThread(std::string name, Run run) {
  return std::thread([name = std::move(name), run = std::move(run)]() mutable {
    static_cast<void>(pthread_setname_np(pthread_self(), name.c_str()));
    run();
  });
}

}  // namespace waystar
