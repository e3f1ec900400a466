#include "server/service/admission/version_waits.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/base/thread.h"

namespace waystar::rpc {
namespace {

// Retry delay of a rejected wait: commits end most waits in this time.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);

bool Has(const core::MapSnapshot& snapshot, const core::MapVersion& version) {
  return snapshot.epoch == version.epoch && snapshot.revision >= version.revision;
}

}  // namespace

VersionWaits::VersionWaits(const core::MapStore& store, std::size_t places)
    : store_(store),
      places_(Quota<std::uint64_t>::Shared(places)),
      thread_(StartThread("version-waits", [this] { Run(); })) {}

VersionWaits::~VersionWaits() {
  Stop();
  thread_.join();
}

template <typename IsOver>
absl::Status VersionWaits::BeginUnless(IsOver is_over, Waiter& waiter, std::uint64_t client,
                                       Clock::time_point until, const std::atomic<bool>& is_cancelled) {
  void (Waiter::*over)() = nullptr;
  {
    MutexLock lock(mutex_);
    if (!places_.Take(client)) {
      return Refusal(ErrorReason::kClientBusy, kRetryDelay, "too many calls wait for versions of maps");
    }
    waiter.client_ = client;
    waiter.until_ = until;
    // Linked before the check, so that the thread that provides the version afterwards sees the waiter.
    Link(waiter);
    if (is_stopping_ || is_cancelled.load()) {
      over = &Waiter::OnNoVersion;
    } else if (is_over()) {
      over = &Waiter::OnVersion;
    }
    if (over != nullptr) {
      Unlink(waiter);
    } else {
      wake_.NotifyOne();
    }
  }
  if (over != nullptr) {
    (waiter.*over)();
  }
  return absl::OkStatus();
}

absl::Status VersionWaits::Begin(Waiter& waiter, std::uint64_t client, absl::string_view map,
                                 const core::MapVersion& version, Clock::time_point until,
                                 const std::atomic<bool>& is_cancelled) {
  waiter.version_ = version;
  waiter.map_.clear();
  const auto is_over = [&] {
    const absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(map);
    return !latest.ok() || (*latest)->epoch != version.epoch || Has(**latest, version);
  };
  return BeginUnless(is_over, waiter, client, until, is_cancelled);
}

absl::Status VersionWaits::BeginFollowing(Waiter& waiter, std::uint64_t client, std::int64_t revision,
                                          Clock::time_point until, const std::atomic<bool>& is_cancelled) {
  waiter.version_ = {.epoch = 0};
  waiter.map_.clear();
  waiter.fleet_revision_ = revision;
  return BeginUnless([&] { return followed_.load() >= revision; }, waiter, client, until, is_cancelled);
}

absl::Status VersionWaits::BeginLoad(Waiter& waiter, std::uint64_t client, absl::string_view map,
                                     Clock::time_point until, const std::atomic<bool>& is_cancelled) {
  waiter.version_ = {.epoch = 0};
  waiter.map_ = std::string(map);
  // If the map was loaded and unloaded since it was requested, it is requested again.
  const auto is_over = [&] { return core::LoadingMapOf(store_.Pin(map).status()).empty(); };
  return BeginUnless(is_over, waiter, client, until, is_cancelled);
}

void VersionWaits::OnLoadOver(absl::string_view map, bool is_failed) {
  if (count_.load() == 0) {
    return;
  }
  Over over{.tell = is_failed ? &Waiter::OnNoVersion : &Waiter::OnVersion};
  {
    MutexLock lock(mutex_);
    Take([&](const Waiter& waiter) { return waiter.map_ == map; }, over.first);
  }
  over.Tell();
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

void VersionWaits::CancelSoon(Waiter& waiter) {
  MutexLock lock(mutex_);
  if (waiter.is_waiting_) {
    waiter.until_ = Clock::time_point::min();
    wake_.NotifyOne();
  }
}

void VersionWaits::Stop() {
  Over over{.tell = &Waiter::OnNoVersion};
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    Take([](const Waiter&) { return true; }, over.first);
    wake_.NotifyOne();
  }
  over.Tell();
}

void VersionWaits::OnCommit(const core::PinnedSnapshot& snapshot,
                            absl::Span<const core::CommitPtr> /*commits*/,
                            const core::MapChanges& /*changes*/) {
  TakeDue([&](const Waiter& waiter) { return Has(*snapshot, waiter.version_); });
}

void VersionWaits::OnDelete(const core::PinnedSnapshot& last) {
  TakeDue([&](const Waiter& waiter) { return waiter.version_.epoch == last->epoch; });
}

void VersionWaits::OnLoad(const core::PinnedSnapshot& snapshot) {
  TakeDue([&](const Waiter& waiter) { return Has(*snapshot, waiter.version_); });
}

void VersionWaits::OnFollowed(std::int64_t revision) {
  followed_.store(revision);
  TakeDue([&](const Waiter& waiter) {
    return waiter.version_.epoch == 0 && waiter.map_.empty() && waiter.fleet_revision_ <= revision;
  });
}

void VersionWaits::Run() {
  for (Over over = AwaitOver(); over.first != nullptr; over = AwaitOver()) {
    over.Tell();
  }
}

VersionWaits::Over VersionWaits::AwaitOver() {
  MutexLock lock(mutex_);
  while (true) {
    if (due_ != nullptr) {
      return {.first = std::exchange(due_, nullptr), .tell = &Waiter::OnVersion};
    }
    if (is_stopping_) {
      return {};
    }
    const Clock::time_point now = Clock::now();
    Over late{.tell = &Waiter::OnNoVersion};
    Take([&](const Waiter& waiter) { return waiter.until_ <= now; }, late.first);
    if (late.first != nullptr) {
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
}

template <typename IsOver>
void VersionWaits::Take(IsOver is_over, Waiter*& taken) {
  for (Waiter* waiter = first_; waiter != nullptr;) {
    Waiter* const next = waiter->next_;
    if (is_over(*waiter)) {
      Unlink(*waiter);
      waiter->next_ = taken;
      taken = waiter;
    }
    waiter = next;
  }
}

template <typename IsOver>
void VersionWaits::TakeDue(IsOver is_over) {
  if (count_.load() == 0) {
    return;
  }
  MutexLock lock(mutex_);
  Take(is_over, due_);
  if (due_ != nullptr) {
    wake_.NotifyOne();
  }
}

void VersionWaits::Link(Waiter& waiter) {
  waiter.is_waiting_ = true;
  waiter.previous_ = nullptr;
  waiter.next_ = first_;
  if (first_ != nullptr) {
    first_->previous_ = &waiter;
  }
  first_ = &waiter;
  count_.fetch_add(1);
}

void VersionWaits::Unlink(Waiter& waiter) {
  waiter.is_waiting_ = false;
  (waiter.previous_ == nullptr ? first_ : waiter.previous_->next_) = waiter.next_;
  if (waiter.next_ != nullptr) {
    waiter.next_->previous_ = waiter.previous_;
  }
  count_.fetch_sub(1);
  places_.GiveBack(waiter.client_);
}

void VersionWaits::Over::Tell() const {
  for (Waiter* waiter = first; waiter != nullptr;) {
    Waiter* const next = waiter->next_;
    (waiter->*tell)();
    waiter = next;
  }
}

}  // namespace waystar::rpc
