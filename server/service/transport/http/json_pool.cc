#include "server/service/transport/http/json_pool.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"

namespace waystar::http {
namespace {

// Most waiting tasks per lane.
constexpr std::size_t kMaxTasks = 1024;
constexpr int kSmallThreads = 2;
// Lowers the priority of large messages without starving them.
constexpr int kLargeNiceness = 10;

}  // namespace

class JsonPool::Lane {
 public:
  // One client may use `client_threads` of the threads.
  Lane(const std::string& name, int threads, int client_threads, int niceness)
      : client_threads_(client_threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.push_back(StartThread(name, [this, niceness] {
        if (niceness > 0) {
          // The system may refuse.
          static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness));
        }
        Work();
      }));
    }
  }

  ~Lane() {
    {
      MutexLock lock(mutex_);
      is_stopping_ = true;
      wake_.NotifyAll();
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  bool Push(std::uint64_t key, std::function<void()> task) {
    MutexLock lock(mutex_);
    auto client =
        std::find_if(clients_.begin(), clients_.end(), [&](const Client& each) { return each.key == key; });
    const std::size_t own = client == clients_.end() ? 0 : client->tasks.size();
    if (own >= kMaxTasks - size_) {
      return false;
    }
    if (client == clients_.end()) {
      client = clients_.insert(client, Client{.key = key});
    }
    client->tasks.push_back(std::move(task));
    ++size_;
    wake_.NotifyOne();
    return true;
  }

 private:
  // A client with waiting or running tasks.
  struct Client {
    std::uint64_t key = 0;
    std::deque<std::function<void()>> tasks;
    int running = 0;
  };
  // Ordered by turn, next first.
  using Clients = std::list<Client>;

  void Work() {
    for (;;) {
      std::function<void()> task;
      Clients::iterator client;
      {
        MutexLock lock(mutex_);
        while ((client = NextClient()) == clients_.end() && !is_stopping_) {
          wake_.Wait(mutex_);
        }
        if (is_stopping_) {
          return;
        }
        task = std::move(client->tasks.front());
        client->tasks.pop_front();
        ++client->running;
        --size_;
        clients_.splice(clients_.end(), clients_, client);
      }
      task();
      task = nullptr;
      MutexLock lock(mutex_);
      if (--client->running == 0 && client->tasks.empty()) {
        clients_.erase(client);
      }
    }
  }

  Clients::iterator NextClient() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::find_if(clients_.begin(), clients_.end(), [this](const Client& each) {
      return !each.tasks.empty() && each.running < client_threads_;
    });
  }

  const int client_threads_;
  Mutex mutex_;
  CondVar wake_;
  Clients clients_ ABSL_GUARDED_BY(mutex_);
  // Number of waiting tasks.
  std::size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

JsonPool::JsonPool(int threads)
    : small_(std::make_unique<Lane>("json-small", kSmallThreads, kSmallThreads, 0)),
      large_(std::make_unique<Lane>("json-large", threads, std::max(threads / 2, 1), kLargeNiceness)) {}

JsonPool::~JsonPool() = default;

bool JsonPool::Run(std::uint64_t client, std::size_t bytes, std::function<void()> task) {
  return (bytes <= kSmallBytes ? small_ : large_)->Push(client, std::move(task));
}

}  // namespace waystar::http
