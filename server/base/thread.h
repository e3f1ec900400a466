// Threads that have names.
#pragma once

#include <pthread.h>

#include <string>
#include <thread>
#include <utility>

namespace waystar {

// Starts a thread whose name debuggers and `top -H` show. The system takes 15 characters; a longer name is
// none.
template <typename Run>
std::thread StartThread(std::string name, Run run) {
  return std::thread([name = std::move(name), run = std::move(run)]() mutable {
    static_cast<void>(pthread_setname_np(pthread_self(), name.c_str()));
    run();
  });
}

}  // namespace waystar
