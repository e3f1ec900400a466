#include "server/http/body_ledger.h"

namespace waystar::http {

bool BodyLedger::Add(const net::Network& network, std::size_t bytes) {
  MutexLock lock(mutex_);
  const auto found = by_network_.find(network);
  const std::size_t of_network = found == by_network_.end() ? 0 : found->second;
  if (bytes > max_bytes_ - bytes_ || bytes > max_network_bytes_ - of_network) {
    return false;
  }
  bytes_ += bytes;
  by_network_[network] = of_network + bytes;
  return true;
}

void BodyLedger::Remove(const net::Network& network, std::size_t bytes) {
  MutexLock lock(mutex_);
  bytes_ -= bytes;
  const auto found = by_network_.find(network);
  found->second -= bytes;
  if (found->second == 0) {
    by_network_.erase(found);
  }
}

std::size_t BodyLedger::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

BodyShare& BodyShare::operator=(BodyShare&& other) noexcept {
  GiveBack();
  ledger_ = std::move(other.ledger_);
  network_ = other.network_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool BodyShare::GrowTo(std::size_t bytes) {
  if (bytes <= bytes_) {
    return true;
  }
  if (!ledger_->Add(network_, bytes - bytes_)) {
    return false;
  }
  bytes_ = bytes;
  return true;
}

void BodyShare::GiveBack() {
  if (bytes_ > 0) {
    ledger_->Remove(network_, std::exchange(bytes_, 0));
  }
}

}  // namespace waystar::http
