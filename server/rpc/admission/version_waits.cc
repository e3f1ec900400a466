#include "server/rpc/admission/version_waits.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "server/base/thread.h"

namespace waystar::rpc {

VersionWaits::VersionWaits(const core::MapStore& store)
    : store_(store), thread_(StartThread("version-waits", [this] { Run(); })) {}

VersionWaits::~VersionWaits() {
  Stop();
  thread_.join();
}

void VersionWaits::Begin(Waiter& waiter, absl::string_view map, std::uint64_t revision,
                         Clock::time_point until, const std::atomic<bool>& is_cancelled) {
  void (Waiter::*over)() = nullptr;
  {
    MutexLock lock(mutex_);
    // Counted before the map is looked at: whoever publishes the revision later sees that somebody waits.
    count_.fetch_add(1);
    const absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(map);
    if (is_stopping_ || is_cancelled.load()) {
      over = &Waiter::OnNoVersion;
    } else if (!latest.ok() || (*latest)->revision >= revision) {
      over = &Waiter::OnVersion;
    }
    if (over == nullptr) {
      waiter.map_ = map;
      waiter.revision_ = revision;
      waiter.until_ = until;
      Link(waiter);
      wake_.NotifyOne();
    } else {
      count_.fetch_sub(1);
    }
  }
  if (over != nullptr) {
    (waiter.*over)();
  }
}

void VersionWaits::Cancel(Waiter& waiter) {
  {
    MutexLock lock(mutex_);
    if (!waiter.is_waiting_) {
      return;
    }
    Unlink(waiter);
  }
  waiter.OnNoVersion();
}

void VersionWaits::Stop() {
  Waiter* over = nullptr;
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    over = Take([](const Waiter&) { return true; });
    wake_.NotifyOne();
  }
  TellAll(over, &Waiter::OnNoVersion);
}

void VersionWaits::OnCommit(const core::PinnedSnapshot& snapshot,
                            absl::Span<const core::SharedCommit> /*commits*/,
                            const core::MapChanges& /*changes*/) {
  if (count_.load() == 0) {
    return;
  }
  Waiter* over = nullptr;
  {
    MutexLock lock(mutex_);
    over = Take([&](const Waiter& waiter) {
      return waiter.revision_ <= snapshot->revision && waiter.map_ == snapshot->id;
    });
  }
  TellAll(over, &Waiter::OnVersion);
}

void VersionWaits::OnDelete(const core::PinnedSnapshot& last) {
  Waiter* over = nullptr;
  {
    MutexLock lock(mutex_);
    over = Take([&](const Waiter& waiter) { return waiter.map_ == last->id; });
  }
  TellAll(over, &Waiter::OnVersion);
}

void VersionWaits::Run() {
  while (Waiter* const late = AwaitLate()) {
    TellAll(late, &Waiter::OnNoVersion);
  }
}

VersionWaits::Waiter* VersionWaits::AwaitLate() {
  MutexLock lock(mutex_);
  while (!is_stopping_) {
    const Clock::time_point now = Clock::now();
    if (Waiter* const late = Take([&](const Waiter& waiter) { return waiter.until_ <= now; })) {
      return late;
    }
    if (first_ == nullptr) {
      wake_.Wait(mutex_);
      continue;
    }
    Clock::time_point next = first_->until_;
    for (const Waiter* waiter = first_; waiter != nullptr; waiter = waiter->next_) {
      next = std::min(next, waiter->until_);
    }
    wake_.WaitUntil(mutex_, next);
  }
  return nullptr;
}

template <typename IsOver>
VersionWaits::Waiter* VersionWaits::Take(IsOver is_over) {
  Waiter* taken = nullptr;
  for (Waiter* waiter = first_; waiter != nullptr;) {
    Waiter* const next = waiter->next_;
    if (is_over(*waiter)) {
      Unlink(*waiter);
      waiter->next_ = taken;
      taken = waiter;
    }
    waiter = next;
  }
  return taken;
}

void VersionWaits::Link(Waiter& waiter) {
  waiter.is_waiting_ = true;
  waiter.previous_ = nullptr;
  waiter.next_ = first_;
  if (first_ != nullptr) {
    first_->previous_ = &waiter;
  }
  first_ = &waiter;
}

void VersionWaits::Unlink(Waiter& waiter) {
  waiter.is_waiting_ = false;
  (waiter.previous_ == nullptr ? first_ : waiter.previous_->next_) = waiter.next_;
  if (waiter.next_ != nullptr) {
    waiter.next_->previous_ = waiter.previous_;
  }
  count_.fetch_sub(1);
}

void VersionWaits::TellAll(Waiter* first, void (Waiter::*tell)()) {
  while (first != nullptr) {
    Waiter* const waiter = first;
    first = waiter->next_;
    (waiter->*tell)();
  }
}

}  // namespace waystar::rpc
