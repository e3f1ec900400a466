#include "server/maintenance/map_usage.h"

#include <algorithm>
#include <tuple>

namespace waystar::maintenance {
namespace {

// Small, so that few snapshots are kept alive meanwhile.
constexpr std::size_t kPage = 32;

}  // namespace

std::vector<MapUsage> UsageOf(const core::MapStore& store,
                              absl::FunctionRef<bool(absl::string_view id)> wanted) {
  std::vector<MapUsage> maps;
  std::vector<core::PinnedSnapshot> page;
  std::string last;
  do {
    page = store.List(last, kPage);
    for (const core::PinnedSnapshot& snapshot : page) {
      last = snapshot->id;
      if (wanted(snapshot->id)) {
        maps.push_back({.id = snapshot->id,
                        .version = snapshot->version(),
                        .bytes = snapshot->memory_bytes(),
                        .kind = snapshot->kind()});
      }
    }
  } while (page.size() == kPage);
  std::sort(maps.begin(), maps.end(), [](const MapUsage& a, const MapUsage& b) {
    return std::tie(b.bytes, a.id) < std::tie(a.bytes, b.id);
  });
  return maps;
}

}  // namespace waystar::maintenance
