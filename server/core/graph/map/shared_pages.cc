#include "server/core/graph/map/shared_pages.h"

namespace waystar::core {

// FNV-1a (Fowler, Noll and Vo, 1991), with a final mix because the low bits are used first.
std::uint64_t IdIndex::HashOf(absl::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15U ^ hash >> 29;
}

void IdIndex::Put(absl::string_view name, std::uint32_t number, Owner owner) {
  Put(root_, 0, {.hash = HashOf(name), .number = number}, owner);
}

void IdIndex::Put(std::shared_ptr<Node>& pointer, int shift, const Entry& entry, Owner owner) {
  Node& node = Own(pointer, owner);
  if (node.is_leaf && (node.entries.size() < kMaxEntries || shift > kMaxShift)) {
    node.entries.push_back(entry);
    return;
  }
  if (node.is_leaf) {
    node.is_leaf = false;
    for (const Entry& moved : std::exchange(node.entries, {})) {
      Put(node.children[ChildAt(moved.hash, shift)], shift + kBits, moved, owner);
    }
  }
  Put(node.children[ChildAt(entry.hash, shift)], shift + kBits, entry, owner);
}

// Empty nodes are kept; memory stays that of the graph at its largest.
void IdIndex::Remove(absl::string_view name, std::uint32_t number, Owner owner) {
  const std::uint64_t hash = HashOf(name);
  Node* node = &Own(root_, owner);
  for (int shift = 0; !node->is_leaf; shift += kBits) {
    node = &Own(node->children[ChildAt(hash, shift)], owner);
  }
  std::erase_if(node->entries, [&](const Entry& entry) { return entry.number == number; });
}

std::size_t IdIndex::BytesBeyond(const Node* node, const Node* other) {
  if (node == nullptr || node == other) {
    return 0;
  }
  std::size_t bytes = sizeof(Node) + node->entries.capacity() * sizeof(Entry);
  for (std::size_t i = 0; i < node->children.size(); ++i) {
    bytes += BytesBeyond(node->children[i].get(), other != nullptr ? other->children[i].get() : nullptr);
  }
  return bytes;
}

}  // namespace waystar::core
