// Threads that convert JSON, which takes too long for those that serve sockets.
#pragma once

#include <functional>
#include <memory>

namespace waystar::http {

// Thread safety: any; destroyed by a thread that is none of the pool's. Tasks that have not begun by then are
// destroyed.
class JsonPool {
 public:
  // REQUIRES: at least one thread.
  explicit JsonPool(int threads);
  JsonPool(const JsonPool&) = delete;
  JsonPool& operator=(const JsonPool&) = delete;
  ~JsonPool();

  // Runs a task soon. Returns false, and destroys the task, if too many wait.
  bool Run(std::function<void()> task);

 private:
  class Threads;

  const std::unique_ptr<Threads> threads_;
};

}  // namespace waystar::http
