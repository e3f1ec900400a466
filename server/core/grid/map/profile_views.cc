#include "server/core/grid/map/profile_views.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "server/core/grid/cells/lazy.h"

namespace waystar::core {

// One view of one state of a map.
class ProfileViews::Slot {
 public:
  // `source` is the slot of an earlier state, or null.
  Slot(std::shared_ptr<const TerrainRules> rules, std::shared_ptr<const Slot> source)
      : rules_(std::move(rules)), source_(std::move(source)) {}

  const std::shared_ptr<const TerrainRules>& rules() const { return rules_; }

  std::shared_ptr<const GridMap> Get(Maker make) const {
    return view_.Get([&] {
      const std::shared_ptr<const Slot> source = Source();
      const auto* before = source == nullptr ? nullptr : source->view_.Wait();
      std::shared_ptr<const GridMap> view = make(before == nullptr ? nullptr : before->get());
      MutexLock lock(mutex_);
      source_ = nullptr;
      return view;
    });
  }

  // Returns the slot from which the view can be made after an edit of the map. If a view without a source is
  // not made yet, its caller is making it.
  static std::shared_ptr<const Slot> SourceAfter(const std::shared_ptr<const Slot>& slot) {
    if (slot->view_.GetIfMade() == nullptr) {
      if (std::shared_ptr<const Slot> source = slot->Source()) {
        return source;
      }
    }
    return slot;
  }

  bool is_made() const { return view_.GetIfMade() != nullptr; }

  // Returns the view, else the view that it will be made from, else null.
  std::shared_ptr<const GridMap> Held() const {
    const std::shared_ptr<const Slot> source = Source();
    const auto* view = view_.GetIfMade();
    if (view == nullptr && source != nullptr) {
      view = source->view_.GetIfMade();
    }
    return view == nullptr ? nullptr : *view;
  }

 private:
  std::shared_ptr<const Slot> Source() const {
    MutexLock lock(mutex_);
    return source_;
  }

  const std::shared_ptr<const TerrainRules> rules_;
  // Its lock is held while the view is being made; mutex_ only while a pointer is copied. Of two slots, lock
  // the newer state's first.
  Lazy<std::shared_ptr<const GridMap>> view_;
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
           .idle_edits = kept.idle_edits + 1,
           .was_used = kept.was_used});
    }
  }
  return after;
}

std::shared_ptr<const GridMap> ProfileViews::Get(const TerrainRules& rules, Maker make, std::size_t max_bytes,
                                                 Weigher weigh) const {
  std::shared_ptr<const Slot> slot;
  bool is_one_more = false;
  {
    MutexLock lock(mutex_);
    auto found = std::find_if(kept_.begin(), kept_.end(),
                              [&](const Kept& kept) { return *kept.slot->rules() == rules; });
    if (found == kept_.end()) {
      is_one_more = kept_.size() >= kAlwaysKept;
      kept_.push_back(
          {.slot = std::make_shared<const Slot>(std::make_shared<const TerrainRules>(rules), nullptr)});
      found = kept_.end() - 1;
    }
    found->last_use = ++uses_;
    found->idle_edits = 0;
    found->was_used = true;
    slot = found->slot;
  }
  std::shared_ptr<const GridMap> view = slot->Get(make);
  if (is_one_more) {
    LetGo(rules, max_bytes, weigh);
  }
  return view;
}

void ProfileViews::LetGo(const TerrainRules& rules, std::size_t max_bytes, Weigher weigh) const {
  const std::vector<View> held = Held();
  std::vector<std::size_t> weights;
  std::size_t bytes = 0;
  for (const View& view : held) {
    weights.push_back(weigh(view.map.get()));
    bytes += weights.back();
  }
  // Declared before the lock, so that views are freed outside it.
  std::vector<Kept> dropped;
  MutexLock lock(mutex_);
  while (kept_.size() > kMaxKept || (kept_.size() > kAlwaysKept && bytes > max_bytes)) {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(), [&](const Kept& a, const Kept& b) {
      const bool is_a = *a.slot->rules() == rules;
      const bool is_b = *b.slot->rules() == rules;
      return is_a != is_b ? is_b : a.last_use < b.last_use;
    });
    const auto view = std::find_if(held.begin(), held.end(),
                                   [&](const View& other) { return other.rules == oldest->slot->rules(); });
    if (view != held.end()) {
      bytes -= weights[static_cast<std::size_t>(view - held.begin())];
    }
    dropped.push_back(std::move(*oldest));
    kept_.erase(oldest);
  }
}

bool ProfileViews::Has(const TerrainRules& rules) const {
  MutexLock lock(mutex_);
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& kept) { return *kept.slot->rules() == rules && kept.slot->is_made(); });
}

void ProfileViews::Drop(bool used_too) const {
  // Declared before the lock, so that views are freed outside it.
  std::vector<Kept> dropped;
  MutexLock lock(mutex_);
  const auto is_kept = [&](const Kept& kept) { return kept.was_used && !used_too; };
  const auto first = std::stable_partition(kept_.begin(), kept_.end(), is_kept);
  std::move(first, kept_.end(), std::back_inserter(dropped));
  kept_.erase(first, kept_.end());
  for (Kept& kept : kept_) {
    kept.was_used = false;
  }
}

std::vector<ProfileViews::View> ProfileViews::Held() const {
  MutexLock lock(mutex_);
  std::vector<View> views;
  for (const Kept& kept : kept_) {
    if (std::shared_ptr<const GridMap> map = kept.slot->Held()) {
      views.push_back({kept.slot->rules(), std::move(map)});
    }
  }
  return views;
}

std::shared_ptr<const GridMap> ProfileViews::FindHeld(const TerrainRules& rules) const {
  MutexLock lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return *kept.slot->rules() == rules; });
  return found == kept_.end() ? nullptr : found->slot->Held();
}

}  // namespace waystar::core
