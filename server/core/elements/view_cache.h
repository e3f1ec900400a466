// Cache of a map's views: the map as agents see it to whom other rules apply.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "server/base/lazy.h"
#include "server/base/mutex.h"

namespace waystar::core {

// Cache of views. A view is a complete map under other rules, made on first use and shared by all queries.
// Edits of the map do not touch views: the first use after an edit makes the view from the one before it. The
// kAlwaysKept most recently used views are kept, and up to kMaxKept while they fit into the map's memory
// limit for views, except those unused for the last kMaxIdleEdits revisions.
//
// Thread safety: thread-safe.
template <typename Rules, typename Map>
class ViewCache {
 public:
  static constexpr std::size_t kAlwaysKept = 8;
  static constexpr std::size_t kMaxKept = 16;
  static constexpr int kMaxIdleEdits = 16 * 1024;

  ViewCache() = default;
  // Returns the views for a map made by edits from this one's map.
  std::shared_ptr<const ViewCache> AfterEdits() const;
  ViewCache(const ViewCache&) = delete;
  ViewCache& operator=(const ViewCache&) = delete;

  // Makes a view from the same view of an earlier state of the map, or from scratch if `before` is null.
  using Maker = absl::FunctionRef<std::shared_ptr<const Map>(const Map* before)>;

  // Returns the bytes that a view takes beyond its map.
  using Weigher = absl::FunctionRef<std::size_t(const Map* view)>;

  // Returns the view under these rules; calls `make` if it is not cached. Blocks while another thread makes
  // the same view. More than kAlwaysKept views are kept only while they take at most `max_bytes` by `weigh`.
  std::shared_ptr<const Map> Get(const Rules& rules, Maker make, std::size_t max_bytes, Weigher weigh) const;

  // Returns true if the view under these rules is made.
  bool Has(const Rules& rules) const;
  // Drops the views that were not used since the last call, or all if `used_too`. Current holders keep
  // theirs.
  void Drop(bool used_too) const;

  struct View {
    std::shared_ptr<const Rules> rules;
    std::shared_ptr<const Map> map;
  };
  // Returns the cached views, each as of its last use.
  std::vector<View> Held() const;
  // Returns the cached view under these rules, or null.
  std::shared_ptr<const Map> FindHeld(const Rules& rules) const;

 private:
  class Slot;

  struct Kept {
    std::shared_ptr<const Slot> slot;
    std::uint64_t last_use = 0;
    int idle_edits = 0;
    bool was_used = true;
  };

  // Evicts the least recently used views, except the one under these rules.
  void LetGo(const Rules& rules, std::size_t max_bytes, Weigher weigh) const;

  mutable Mutex mutex_;
  mutable std::uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable std::vector<Kept> kept_ ABSL_GUARDED_BY(mutex_);
};

// One view of one state of a map.
template <typename Rules, typename Map>
class ViewCache<Rules, Map>::Slot {
 public:
  // `source` is the slot of an earlier state, or null.
  Slot(std::shared_ptr<const Rules> rules, std::shared_ptr<const Slot> source)
      : rules_(std::move(rules)), source_(std::move(source)) {}

  const std::shared_ptr<const Rules>& rules() const { return rules_; }

  std::shared_ptr<const Map> Get(Maker make) const {
    return view_.Get([&] {
      const std::shared_ptr<const Slot> source = Source();
      const auto* before = source == nullptr ? nullptr : source->view_.Wait();
      std::shared_ptr<const Map> view = make(before == nullptr ? nullptr : before->get());
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
  std::shared_ptr<const Map> Held() const {
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

  const std::shared_ptr<const Rules> rules_;
  // The lock of view_ is held while the view is made, mutex_ only while a pointer is copied. If two slots are
  // locked, the one of the newer state comes first.
  Lazy<std::shared_ptr<const Map>> view_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const Slot> source_ ABSL_GUARDED_BY(mutex_);
};

template <typename Rules, typename Map>
std::shared_ptr<const ViewCache<Rules, Map>> ViewCache<Rules, Map>::AfterEdits() const {
  auto after = std::make_shared<ViewCache>();
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

template <typename Rules, typename Map>
std::shared_ptr<const Map> ViewCache<Rules, Map>::Get(const Rules& rules, Maker make, std::size_t max_bytes,
                                                      Weigher weigh) const {
  std::shared_ptr<const Slot> slot;
  bool is_one_more = false;
  {
    MutexLock lock(mutex_);
    auto found = std::find_if(kept_.begin(), kept_.end(),
                              [&](const Kept& kept) { return *kept.slot->rules() == rules; });
    if (found == kept_.end()) {
      is_one_more = kept_.size() >= kAlwaysKept;
      kept_.push_back({.slot = std::make_shared<const Slot>(std::make_shared<const Rules>(rules), nullptr)});
      found = kept_.end() - 1;
    }
    found->last_use = ++uses_;
    found->idle_edits = 0;
    found->was_used = true;
    slot = found->slot;
  }
  std::shared_ptr<const Map> view = slot->Get(make);
  if (is_one_more) {
    LetGo(rules, max_bytes, weigh);
  }
  return view;
}

template <typename Rules, typename Map>
void ViewCache<Rules, Map>::LetGo(const Rules& rules, std::size_t max_bytes, Weigher weigh) const {
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

template <typename Rules, typename Map>
bool ViewCache<Rules, Map>::Has(const Rules& rules) const {
  MutexLock lock(mutex_);
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& kept) { return *kept.slot->rules() == rules && kept.slot->is_made(); });
}

template <typename Rules, typename Map>
void ViewCache<Rules, Map>::Drop(bool used_too) const {
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

template <typename Rules, typename Map>
auto ViewCache<Rules, Map>::Held() const -> std::vector<View> {
  MutexLock lock(mutex_);
  std::vector<View> views;
  for (const Kept& kept : kept_) {
    if (std::shared_ptr<const Map> map = kept.slot->Held()) {
      views.push_back({kept.slot->rules(), std::move(map)});
    }
  }
  return views;
}

template <typename Rules, typename Map>
std::shared_ptr<const Map> ViewCache<Rules, Map>::FindHeld(const Rules& rules) const {
  MutexLock lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return *kept.slot->rules() == rules; });
  return found == kept_.end() ? nullptr : found->slot->Held();
}

}  // namespace waystar::core
