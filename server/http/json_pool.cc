#include "server/http/json_pool.h"

// Asio 1.74 lacks this include.
#include <utility>
// It must stand first.
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>

namespace waystar::http {
namespace {

constexpr int kMaxTasks = 1024;

}  // namespace

class JsonPool::Threads {
 public:
  explicit Threads(int threads) : pool_(static_cast<std::size_t>(threads)) {}

  bool Run(std::function<void()> task) {
    if (tasks_.fetch_add(1, std::memory_order_relaxed) >= kMaxTasks) {
      tasks_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    boost::asio::post(pool_, [this, task = std::move(task)] {
      task();
      tasks_.fetch_sub(1, std::memory_order_relaxed);
    });
    return true;
  }

 private:
  std::atomic<int> tasks_ = 0;
  boost::asio::thread_pool pool_;
};

JsonPool::JsonPool(int threads) : threads_(std::make_unique<Threads>(threads)) {}

JsonPool::~JsonPool() = default;

bool JsonPool::Run(std::function<void()> task) { return threads_->Run(std::move(task)); }

}  // namespace waystar::http
