// Memory of request bodies, in total and by client network.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/service/transport/net/network.h"

namespace waystar::http {

// Thread safety: any method may be called from any thread.
class BodyLedger {
 public:
  BodyLedger(std::size_t max_bytes, std::size_t max_network_bytes)
      : held_(Quota<net::Network>::Fixed(max_bytes, max_network_bytes)) {}

  // Adds bytes. Returns false, and adds nothing, if a limit would be exceeded.
  bool Add(const net::Network& network, std::size_t bytes);
  void Remove(const net::Network& network, std::size_t bytes);
  std::size_t bytes() const;

 private:
  mutable Mutex mutex_;
  Quota<net::Network> held_ ABSL_GUARDED_BY(mutex_);
};

// Bytes of one body, counted in a ledger until they are given back or this is destroyed. Counts nothing
// without a ledger.
//
// Thread safety: one thread.
class BodyShare {
 public:
  BodyShare() = default;
  BodyShare(std::shared_ptr<BodyLedger> ledger, const net::Network& network)
      : ledger_(std::move(ledger)), network_(network) {}
  BodyShare(BodyShare&& other) noexcept
      : ledger_(std::move(other.ledger_)), network_(other.network_), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyShare& operator=(BodyShare&& other) noexcept;
  ~BodyShare() { GiveBack(); }

  // Raises the count to `bytes`. Returns false if a limit would be exceeded.
  bool GrowTo(std::size_t bytes);
  // Lowers the count to `bytes` if it is higher.
  void ShrinkTo(std::size_t bytes);
  void GiveBack() { ShrinkTo(0); }

 private:
  std::shared_ptr<BodyLedger> ledger_;
  net::Network network_;
  std::size_t bytes_ = 0;
};

}  // namespace waystar::http
