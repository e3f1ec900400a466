#include "server/core/map/profile_views.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/core/map/grid_map.h"
#include "server/core/map/map_view.h"

namespace waystar::core {

// One view of one state of a map.
class ProfileViews::Slot {
 public:
  // `source` is of a state before; null if there is none.
  Slot(std::shared_ptr<const TerrainRules> rules, std::shared_ptr<const Slot> source)
      : rules_(std::move(rules)), source_(std::move(source)) {}

  const std::shared_ptr<const TerrainRules>& rules() const { return rules_; }

  // Returns null before the view is made.
  const GridMap* GetIfMade() const { return made_.load(std::memory_order_acquire); }

  const GridMap& Get(const GridMap& map) const {
    if (const GridMap* made = GetIfMade()) {
      return *made;
    }
    MutexLock making(making_);
    if (view_ == nullptr) {
      const std::shared_ptr<const Slot> source = Source();
      const GridMap* before = source == nullptr ? nullptr : source->Wait();
      view_ = std::make_unique<const GridMap>(before == nullptr ? MakeView(map, *rules_)
                                                                : RepairedView(*before, map));
      made_.store(view_.get(), std::memory_order_release);
      MutexLock lock(mutex_);
      source_ = nullptr;
    }
    return *view_;
  }

  // Returns what the view after edits of the map can be made from. A view without a source is being made, or
  // will be by the caller that asked for it.
  static std::shared_ptr<const Slot> SourceAfter(const std::shared_ptr<const Slot>& slot) {
    if (slot->GetIfMade() == nullptr) {
      if (std::shared_ptr<const Slot> source = slot->Source()) {
        return source;
      }
    }
    return slot;
  }

  // The view, or the one that it will be made from; null if there is neither.
  std::shared_ptr<const GridMap> Held(const std::shared_ptr<const Slot>& self) const {
    if (const GridMap* made = GetIfMade()) {
      return {self, made};
    }
    const std::shared_ptr<const Slot> source = Source();
    return source == nullptr ? nullptr : std::shared_ptr<const GridMap>(source, source->GetIfMade());
  }

 private:
  // Until whoever makes the view is done.
  const GridMap* Wait() const {
    MutexLock making(making_);
    return view_.get();
  }

  std::shared_ptr<const Slot> Source() const {
    MutexLock lock(mutex_);
    return source_;
  }

  const std::shared_ptr<const TerrainRules> rules_;
  // Held while the view is made; mutex_ is held for as long as it takes to copy a pointer. Of two slots the
  // lock of the newer state is taken first.
  mutable Mutex making_;
  mutable std::unique_ptr<const GridMap> view_ ABSL_GUARDED_BY(making_);
  mutable std::atomic<const GridMap*> made_ = nullptr;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Slot> source_ ABSL_GUARDED_BY(mutex_);
};

ProfileViews::ProfileViews() = default;
ProfileViews::~ProfileViews() = default;

std::shared_ptr<const ProfileViews> ProfileViews::AfterEdits() const {
  auto after = std::make_shared<ProfileViews>();
  MutexLock lock(mutex_);
  MutexLock after_lock(after->mutex_);
  after->uses_ = uses_;
  for (const Kept& kept : kept_) {
    if (kept.idle_edits < kMaxIdleEdits) {
      after->kept_.push_back(
          {.slot = std::make_shared<const Slot>(kept.slot->rules(), Slot::SourceAfter(kept.slot)),
           .last_use = kept.last_use,
           .idle_edits = kept.idle_edits + 1});
    }
  }
  return after;
}

std::shared_ptr<const GridMap> ProfileViews::Get(const GridMap& map, const TerrainRules& rules) const {
  std::shared_ptr<const Slot> slot;
  {
    MutexLock lock(mutex_);
    auto found = std::find_if(kept_.begin(), kept_.end(),
                              [&](const Kept& kept) { return *kept.slot->rules() == rules; });
    if (found == kept_.end()) {
      if (kept_.size() == kMaxKept) {
        kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                     [](const Kept& a, const Kept& b) { return a.last_use < b.last_use; }));
      }
      kept_.push_back(
          {.slot = std::make_shared<const Slot>(std::make_shared<const TerrainRules>(rules), nullptr)});
      found = kept_.end() - 1;
    }
    found->last_use = ++uses_;
    found->idle_edits = 0;
    slot = found->slot;
  }
  const GridMap& view = slot->Get(map);
  return {std::move(slot), &view};
}

std::vector<ProfileViews::Kept> ProfileViews::Copy() const {
  MutexLock lock(mutex_);
  return kept_;
}

std::size_t ProfileViews::memory_bytes(const GridMap& map) const {
  std::size_t bytes = sizeof(*this);
  for (const Kept& kept : Copy()) {
    const std::shared_ptr<const GridMap> view = kept.slot->Held(kept.slot);
    bytes += sizeof(Slot) + (view == nullptr ? 0 : view->BytesBeyond(map));
  }
  return bytes;
}

std::size_t ProfileViews::BytesBeyond(const GridMap& other, const ProfileViews& others) const {
  std::size_t bytes = sizeof(*this);
  const std::vector<Kept> kept_by_others = others.Copy();
  for (const Kept& kept : Copy()) {
    const std::shared_ptr<const GridMap> view = kept.slot->Held(kept.slot);
    const auto found = std::find_if(kept_by_others.begin(), kept_by_others.end(), [&](const Kept& candidate) {
      return *candidate.slot->rules() == *kept.slot->rules();
    });
    const std::shared_ptr<const GridMap> same =
        found == kept_by_others.end() ? nullptr : found->slot->Held(found->slot);
    if (view != nullptr && view.get() != same.get()) {
      bytes += view->DerivedBytesBeyond(same == nullptr ? other : *same);
    }
  }
  return bytes;
}

}  // namespace waystar::core
