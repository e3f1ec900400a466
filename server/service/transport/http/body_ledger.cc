#include "server/service/transport/http/body_ledger.h"

namespace waystar::http {

bool BodyLedger::Add(const net::Network& network, std::size_t bytes) {
  MutexLock lock(mutex_);
  return held_.Take(network, bytes);
}

void BodyLedger::Remove(const net::Network& network, std::size_t bytes) {
  MutexLock lock(mutex_);
  held_.GiveBack(network, bytes);
}

std::size_t BodyLedger::bytes() const {
  MutexLock lock(mutex_);
  return held_.total();
}

BodyShare& BodyShare::operator=(BodyShare&& other) noexcept {
  GiveBack();
  ledger_ = std::move(other.ledger_);
  network_ = other.network_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool BodyShare::GrowTo(std::size_t bytes) {
  if (ledger_ == nullptr || bytes <= bytes_) {
    return true;
  }
  if (!ledger_->Add(network_, bytes - bytes_)) {
    return false;
  }
  bytes_ = bytes;
  return true;
}

void BodyShare::ShrinkTo(std::size_t bytes) {
  if (bytes < bytes_) {
    ledger_->Remove(network_, bytes_ - bytes);
    bytes_ = bytes;
  }
}

}  // namespace waystar::http
