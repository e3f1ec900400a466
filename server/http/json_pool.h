// Threads that convert JSON, which takes too long for those that serve sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace waystar::http {

// Small messages have threads of their own, so that they never wait for large ones. Among each kind the
// clients take turns, one message each. One client has at most half of the threads for large messages if
// there is more than one, and of what may wait no more than it leaves free.
//
// Thread safety: any; destroyed by a thread that is none of the pool's. Tasks that have not begun by then are
// destroyed.
class JsonPool {
 public:
  // A message of at most so many bytes is small.
  static constexpr std::size_t kSmallBytes = std::size_t{64} << 10;

  // `threads` convert large messages: at least one.
  explicit JsonPool(int threads);
  JsonPool(const JsonPool&) = delete;
  JsonPool& operator=(const JsonPool&) = delete;
  ~JsonPool();

  // Runs a task soon that converts a message of so many bytes. `client` is the same for all of one client.
  // Returns false, and destroys the task, if too many wait.
  bool Run(std::uint64_t client, std::size_t bytes, std::function<void()> task);

 private:
  class Lane;

  const std::unique_ptr<Lane> small_;
  const std::unique_ptr<Lane> large_;
};

}  // namespace waystar::http
