#include "server/service/handlers/watch/map_watches.h"

#include <utility>
#include <vector>

#include "server/base/thread.h"

namespace waystar::rpc {

MapWatches::MapWatches() : thread_(StartThread("map-watches", [this] { Run(); })) {}

MapWatches::~MapWatches() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    has_news_.NotifyAll();
  }
  thread_.join();
}

void MapWatches::Add(const std::string& map, std::shared_ptr<MapWatcher> watcher) {
  MutexLock lock(mutex_);
  watchers_[map].insert(std::move(watcher));
}

void MapWatches::Remove(const std::string& map, const std::shared_ptr<MapWatcher>& watcher) {
  MutexLock lock(mutex_);
  const auto it = watchers_.find(map);
  if (it == watchers_.end()) {
    return;
  }
  it->second.erase(watcher);
  if (it->second.empty()) {
    watchers_.erase(it);
  }
}

void MapWatches::OnCommit(const core::PinnedSnapshot& snapshot,
                          absl::Span<const core::SharedCommit> /*commits*/,
                          const core::MapChanges& /*changes*/) {
  Note(snapshot->id, 0);
}

void MapWatches::OnLoad(const core::PinnedSnapshot& snapshot) { Note(snapshot->id, 0); }

bool MapWatches::Needs(const core::MapSnapshot& latest) const {
  MutexLock lock(mutex_);
  return watchers_.contains(latest.id);
}

void MapWatches::OnDelete(const core::PinnedSnapshot& last) { Note(last->id, last->epoch); }

void MapWatches::Note(const std::string& map, std::uint64_t ended_epoch) {
  MutexLock lock(mutex_);
  if (!watchers_.contains(map)) {
    return;
  }
  News& news = news_[map];
  if (ended_epoch != 0) {
    news.ended_epochs.push_back(ended_epoch);
  }
  has_news_.NotifyAll();
}

void MapWatches::Run() {
  struct Told {
    std::vector<std::shared_ptr<MapWatcher>> watchers;
    News news;
  };
  std::vector<Told> to_tell;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!is_stopping_ && news_.empty()) {
        has_news_.Wait(mutex_);
      }
      if (is_stopping_) {
        return;
      }
      for (auto& [map, news] : news_) {
        if (const auto it = watchers_.find(map); it != watchers_.end()) {
          to_tell.push_back({{it->second.begin(), it->second.end()}, std::move(news)});
        }
      }
      news_.clear();
    }
    for (const Told& told : to_tell) {
      for (const std::shared_ptr<MapWatcher>& watcher : told.watchers) {
        for (const std::uint64_t epoch : told.news.ended_epochs) {
          watcher->OnDelete(epoch);
        }
        watcher->OnNews();
      }
    }
    to_tell.clear();
  }
}

}  // namespace waystar::rpc
