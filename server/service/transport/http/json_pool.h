// Threads that convert JSON, to keep that off the threads that serve sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace waystar::http {

// Small messages have threads of their own, so they never wait for large ones. In each lane, clients take
// turns message by message. One client gets at most half of the threads for large messages, but at least one;
// and it may have at most as many waiting messages as it leaves free.
//
// Thread safety: any method may be called from any thread. The destructor must not run on a thread of the
// pool; it drops tasks that have not started.
class JsonPool {
 public:
  // Largest size of a small message in bytes.
  static constexpr std::size_t kSmallBytes = std::size_t{64} << 10;

  // `threads` is the number of threads for large messages, at least 1.
  explicit JsonPool(int threads);
  JsonPool(const JsonPool&) = delete;
  JsonPool& operator=(const JsonPool&) = delete;
  ~JsonPool();

  // Queues a task that converts a message of that size. `client` identifies the client. Returns false, and
  // destroys the task, if too many wait.
  bool Run(std::uint64_t client, std::size_t bytes, std::function<void()> task);

 private:
  class Lane;

  const std::unique_ptr<Lane> small_;
  const std::unique_ptr<Lane> large_;
};

}  // namespace waystar::http
