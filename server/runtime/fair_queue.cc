#include "server/runtime/fair_queue.h"

#include <algorithm>
#include <iterator>

namespace waystar::runtime {

void FairQueue::Push(const Flow& flow, const Entry& entry) {
  const auto [client, is_new_client] = clients_.try_emplace(flow.client);
  if (is_new_client) {
    client->second = ring_.insert(ring_.end(), ClientLine{.client = flow.client});
  }
  ClientLine& line = *client->second;
  const auto [map, is_new_map] = line.maps.try_emplace(flow.map);
  if (is_new_map) {
    map->second = line.ring.insert(line.ring.end(), MapLine{.map = flow.map, .entries = {}});
  }
  map->second->entries.push_back(entry);
  ++line.size;
  ++size_;
}

FairQueue::Entry FairQueue::Pop() {
  const auto client = ring_.begin();
  MapLines& maps = client->ring;
  const auto map = maps.begin();
  const Entry entry = map->entries.front();
  map->entries.pop_front();
  maps.splice(maps.end(), maps, map);
  EraseIfEmpty(*client, map);
  ring_.splice(ring_.end(), ring_, client);
  CountOut(client);
  return entry;
}

std::size_t FairQueue::AheadOf(const Flow& flow) const {
  std::size_t own_turns = 0;
  if (const auto own = clients_.find(flow.client); own != clients_.end()) {
    const auto line = own->second->maps.find(flow.map);
    const std::size_t in_line = line == own->second->maps.end() ? 0 : line->second->entries.size();
    for (const MapLine& map : own->second->ring) {
      own_turns += std::min(map.entries.size(), map.map == flow.map ? in_line : in_line + 1);
    }
  }
  std::size_t ahead = own_turns;
  for (const ClientLine& client : ring_) {
    ahead += client.client == flow.client ? 0 : std::min(client.size, own_turns + 1);
  }
  return ahead;
}

Job* FairQueue::DropFromLongest(std::uint64_t newcomer) {
  const auto longest = std::max_element(
      ring_.begin(), ring_.end(), [](const ClientLine& a, const ClientLine& b) { return a.size < b.size; });
  const auto own = clients_.find(newcomer);
  if (longest == ring_.end() || (own != clients_.end() && own->second->size >= longest->size)) {
    return nullptr;
  }
  const auto map = std::max_element(
      longest->ring.begin(), longest->ring.end(),
      [](const MapLine& a, const MapLine& b) { return a.entries.size() < b.entries.size(); });
  Job* const job = map->entries.back().job;
  map->entries.pop_back();
  EraseIfEmpty(*longest, map);
  CountOut(longest);
  return job;
}

void FairQueue::EraseIfEmpty(ClientLine& line, MapLines::iterator map) {
  if (map->entries.empty()) {
    line.maps.erase(map->map);
    line.ring.erase(map);
  }
}

void FairQueue::CountOut(ClientLines::iterator client) {
  --size_;
  --client->size;
  if (client->size == 0) {
    clients_.erase(client->client);
    ring_.erase(client);
  }
}

}  // namespace waystar::runtime
