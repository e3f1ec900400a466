#include "server/service/transport/http/connection_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace waystar::http {

bool ConnectionSet::MakeRoom(const net::Network& network) {
  MutexLock lock(mutex_);
  // Unix sockets count only towards the total.
  if (network.has_address() && places_.Of(network) >= limits_.max_network_connections) {
    return Evict(&network);
  }
  return connections_.size() < limits_.max_connections || Evict(nullptr);
}

bool ConnectionSet::EndOne() {
  MutexLock lock(mutex_);
  return Evict(nullptr);
}

void ConnectionSet::Add(std::shared_ptr<HttpConnection> connection) {
  MutexLock lock(mutex_);
  places_.TakeAnyway(connection->network());
  connections_.push_back(std::move(connection));
}

void ConnectionSet::Remove(const HttpConnection& connection) {
  MutexLock lock(mutex_);
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& each) { return each.get() == &connection; });
  // An evicted connection is already forgotten.
  if (found != connections_.end()) {
    Forget(found);
  }
}

void ConnectionSet::Tick(std::chrono::steady_clock::time_point now) const {
  MutexLock lock(mutex_);
  for (const auto& connection : connections_) {
    connection->Tick(now);
  }
}

void ConnectionSet::EndWaiting() const {
  MutexLock lock(mutex_);
  for (const auto& connection : connections_) {
    connection->EndIfWaiting();
  }
}

void ConnectionSet::EndAll() const {
  MutexLock lock(mutex_);
  for (const auto& connection : connections_) {
    connection->End();
  }
}

std::size_t ConnectionSet::size() const {
  MutexLock lock(mutex_);
  return connections_.size();
}

std::uint64_t ConnectionSet::evicted() const {
  MutexLock lock(mutex_);
  return evicted_;
}

void ConnectionSet::WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (!connections_.empty() && std::chrono::steady_clock::now() < deadline) {
    changed_.WaitUntil(mutex_, deadline);
  }
}

bool ConnectionSet::Evict(const net::Network* network) {
  const auto rank = [&](const HttpConnection& connection) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return std::tuple(!connection.is_trusted(), places_.Of(connection.network()));
  };
  auto worst = connections_.end();
  for (auto each = connections_.begin(); each != connections_.end(); ++each) {
    const bool may_go = !(*each)->is_serving() && (network == nullptr || (*each)->network() == *network);
    if (may_go && (worst == connections_.end() || rank(**each) > rank(**worst))) {
      worst = each;
    }
  }
  // The connection may have started to serve a request since the check.
  if (worst == connections_.end() || !(*worst)->EndIfWaiting()) {
    return false;
  }
  ++evicted_;
  Forget(worst);
  return true;
}

void ConnectionSet::Forget(Connections::iterator connection) {
  places_.GiveBack((*connection)->network());
  connections_.erase(connection);
  changed_.NotifyAll();
}

}  // namespace waystar::http
