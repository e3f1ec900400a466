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
    // Added before the check, so that the thread that provides the version afterwards sees the waiter.
    waiters_.insert(&waiter);
    count_.store(waiters_.size());
    if (is_stopping_ || is_cancelled.load()) {
      over = &Waiter::OnNoVersion;
    } else if (is_over()) {
      over = &Waiter::OnVersion;
    }
    if (over != nullptr) {
      Take([&](const Waiter& each) { return &each == &waiter; });
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
  const bool awaits_load = version.epoch == 0;
  waiter.version_ = version;
  waiter.map_ = std::string(awaits_load ? map : "");
  const auto is_over = [&] {
    const absl::StatusOr<core::PinnedSnapshot> latest = store_.Pin(map);
    if (awaits_load) {
      // If the map was loaded and unloaded since it was requested, it is requested again.
      return core::LoadingMapOf(latest.status()).empty();
    }
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

void VersionWaits::OnLoadOver(absl::string_view map, bool is_failed) {
  if (count_.load() == 0) {
    return;
  }
  Waiters over;
  {
    MutexLock lock(mutex_);
    over = Take([&](const Waiter& waiter) { return waiter.map_ == map; });
  }
  Tell(over, is_failed ? &Waiter::OnNoVersion : &Waiter::OnVersion);
}

void VersionWaits::Cancel(Waiter& waiter) {
  {
    MutexLock lock(mutex_);
    if (!waiters_.contains(&waiter)) {
      return;
    }
    Take([&](const Waiter& each) { return &each == &waiter; });
  }
  waiter.OnNoVersion();
}

void VersionWaits::CancelSoon(Waiter& waiter) {
  MutexLock lock(mutex_);
  if (waiters_.contains(&waiter)) {
    waiter.until_ = Clock::time_point::min();
    wake_.NotifyOne();
  }
}

void VersionWaits::Stop() {
  Waiters over;
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    over = Take([](const Waiter&) { return true; });
    wake_.NotifyOne();
  }
  Tell(over, &Waiter::OnNoVersion);
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
  while (true) {
    Waiters due;
    Waiters late;
    {
      MutexLock lock(mutex_);
      const Clock::time_point now = Clock::now();
      due.swap(due_);
      late = Take([&](const Waiter& waiter) { return waiter.until_ <= now; });
      if (due.empty() && late.empty()) {
        if (is_stopping_) {
          return;
        }
        Clock::time_point next = Clock::time_point::max();
        for (const Waiter* waiter : waiters_) {
          next = std::min(next, waiter->until_);
        }
        wake_.WaitUntil(mutex_, next);
      }
    }
    Tell(due, &Waiter::OnVersion);
    Tell(late, &Waiter::OnNoVersion);
  }
}

template <typename IsOver>
VersionWaits::Waiters VersionWaits::Take(IsOver is_over) {
  Waiters taken;
  absl::erase_if(waiters_, [&](Waiter* waiter) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const bool takes = is_over(*waiter);
    if (takes) {
      places_.GiveBack(waiter->client_);
      taken.push_back(waiter);
    }
    return takes;
  });
  count_.store(waiters_.size());
  return taken;
}

template <typename IsOver>
void VersionWaits::TakeDue(IsOver is_over) {
  if (count_.load() == 0) {
    return;
  }
  MutexLock lock(mutex_);
  const Waiters over = Take(is_over);
  if (!over.empty()) {
    due_.insert(due_.end(), over.begin(), over.end());
    wake_.NotifyOne();
  }
}

void VersionWaits::Tell(const Waiters& waiters, void (Waiter::*how)()) {
  for (Waiter* const waiter : waiters) {
    (waiter->*how)();
  }
}

}  // namespace waystar::rpc
