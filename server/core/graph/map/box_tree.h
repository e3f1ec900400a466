// Copy-on-write quadtree of boxes in the plane.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/core/graph/map/shared_pages.h"
#include "server/geometry/box.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Copy-on-write quadtree. An Item has:
//   double x() const, y() const;       Its position, from -2^21 to 2^21, by which the tree stores it.
//   Box box() const;                   Its extent, which need not include its position.
//   bool IsSame(const Item&) const;    True if the two are the same item.
//
// A copy costs one pointer. A change clones the nodes on the path to the item; the depth grows with the
// logarithm of the local density. Nodes store the bounding box of their items, so that visits skip subtrees.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
template <typename Item>
class BoxTree {
 public:
  std::size_t size() const { return root_ == nullptr ? 0 : root_->count; }

  // REQUIRES, for all changes: `owner` belongs to this writer, and the tree was not copied since it was
  // created.
  void Put(const Item& item, Owner owner) { Put(root_, kWhole, 0, item, owner); }

  // REQUIRES: the item exists.
  void Remove(const Item& item, Owner owner) {
    Remove(root_, kWhole, item, owner);
    if (root_->count == 0) {
      root_ = nullptr;
    }
  }

  // Calls visit(item) for items whose box overlaps `area`, until it returns false. Returns true if it never
  // did.
  template <typename Visitor>
  bool VisitOverlapping(const Box& area, Visitor visit) const {
    return Visit([&](const Box& box) { return box.Overlaps(area); }, visit);
  }

  // As above, for items whose box may touch the segment from a to b.
  template <typename Visitor>
  bool VisitAlong(const Point& a, const Point& b, Visitor visit) const {
    return Visit([&](const Box& box) { return box.MayTouch(a.x, a.y, b.x, b.y); }, visit);
  }

  // Calls visit(item) for items whose squared distance from (x, y) is at most `limit`, and for some others,
  // nearer parts of the tree first. `visit` may lower `limit`.
  template <typename Visitor>
  void VisitNear(double x, double y, double& limit, Visitor visit) const {
    if (root_ != nullptr) {
      VisitNear(*root_, x, y, limit, visit);
    }
  }

  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const BoxTree& other) const { return BytesBeyond(root_.get(), other.root_.get()); }

 private:
  static constexpr std::size_t kMaxItems = 8;
  static constexpr int kMaxDepth = 44;

  struct Node {
    Owner owner = 0;
    bool is_leaf = true;
    std::size_t count = 0;
    // Bounding boxes of the items' extents and of their positions.
    Box box;
    Box places;
    std::vector<Item> items;
    std::array<std::shared_ptr<Node>, 4> children;
    // Position boxes of the children, so that a nearest-item search reads only the children that it enters.
    std::array<Box, 4> child_places;
  };
  using NodePointer = std::shared_ptr<Node>;

  // A square, given by its centre and half its side.
  struct Square {
    double x = 0.0;
    double y = 0.0;
    double half = 0.0;

    std::size_t QuarterOf(const Item& item) const {
      return (item.x() >= x ? std::size_t{1} : 0) + (item.y() >= y ? std::size_t{2} : 0);
    }
    Square Quarter(std::size_t i) const {
      const double quarter = half / 2;
      return {x + ((i & 1) != 0 ? quarter : -quarter), y + ((i & 2) != 0 ? quarter : -quarter), quarter};
    }
  };
  static constexpr Square kWhole{0.0, 0.0, 1 << 21};

  static void Put(NodePointer& pointer, const Square& square, int depth, const Item& item, Owner owner) {
    Node& node = Own(pointer, owner);
    ++node.count;
    node.box = node.box.And(item.box());
    node.places = node.places.And(Box::Around(item.x(), item.y(), 0.0));
    if (node.is_leaf && (node.items.size() < kMaxItems || depth == kMaxDepth)) {
      node.items.push_back(item);
      return;
    }
    if (node.is_leaf) {
      node.is_leaf = false;
      for (const Item& moved : std::exchange(node.items, {})) {
        PutBelow(node, square, depth, moved, owner);
      }
    }
    PutBelow(node, square, depth, item, owner);
  }

  static void PutBelow(Node& node, const Square& square, int depth, const Item& item, Owner owner) {
    const std::size_t quarter = square.QuarterOf(item);
    NodePointer& child = node.children[quarter];
    Put(child, square.Quarter(quarter), depth + 1, item, owner);
    node.child_places[quarter] = child->places;
  }

  static void Remove(NodePointer& pointer, const Square& square, const Item& item, Owner owner) {
    Node& node = Own(pointer, owner);
    --node.count;
    if (node.is_leaf) {
      node.items.erase(std::find_if(node.items.begin(), node.items.end(),
                                    [&](const Item& other) { return other.IsSame(item); }));
    } else {
      const std::size_t quarter = square.QuarterOf(item);
      NodePointer& child = node.children[quarter];
      Remove(child, square.Quarter(quarter), item, owner);
      node.child_places[quarter] = child->places;
      if (child->count == 0) {
        child = nullptr;
      }
      if (node.count <= kMaxItems / 2) {
        Gather(node, node.items);
        node.children = {};
        node.is_leaf = true;
      }
    }
    node.box = Box();
    node.places = Box();
    for (const Item& other : node.items) {
      node.box = node.box.And(other.box());
      node.places = node.places.And(Box::Around(other.x(), other.y(), 0.0));
    }
    for (const NodePointer& child : node.children) {
      if (child != nullptr) {
        node.box = node.box.And(child->box);
        node.places = node.places.And(child->places);
      }
    }
  }

  static void Gather(const Node& node, std::vector<Item>& items) {
    for (const NodePointer& child : node.children) {
      if (child != nullptr) {
        items.insert(items.end(), child->items.begin(), child->items.end());
        Gather(*child, items);
      }
    }
  }

  template <typename Filter, typename Visitor>
  bool Visit(const Filter& filter, Visitor& visit) const {
    return root_ == nullptr || Visit(*root_, filter, visit);
  }

  template <typename Filter, typename Visitor>
  static bool Visit(const Node& node, const Filter& filter, Visitor& visit) {
    if (!filter(node.box)) {
      return true;
    }
    for (const Item& item : node.items) {
      if (filter(item.box()) && !visit(item)) {
        return false;
      }
    }
    for (const NodePointer& child : node.children) {
      if (child != nullptr && !Visit(*child, filter, visit)) {
        return false;
      }
    }
    return true;
  }

  template <typename Visitor>
  static void VisitNear(const Node& node, double x, double y, double& limit, Visitor& visit) {
    for (const Item& item : node.items) {
      visit(item);
    }
    if (node.is_leaf) {
      return;
    }
    std::array<std::pair<double, const Node*>, 4> order;
    std::size_t count = 0;
    for (std::size_t quarter = 0; quarter < order.size(); ++quarter) {
      if (node.children[quarter] != nullptr) {
        const double distance = node.child_places[quarter].SquaredDistance(x, y);
        std::size_t hole = count++;
        for (; hole > 0 && order[hole - 1].first > distance; --hole) {
          order[hole] = order[hole - 1];
        }
        order[hole] = {distance, node.children[quarter].get()};
      }
    }
    for (std::size_t i = 0; i < count && order[i].first <= limit; ++i) {
      VisitNear(*order[i].second, x, y, limit, visit);
    }
  }

  static std::size_t BytesBeyond(const Node* node, const Node* other) {
    if (node == nullptr || node == other) {
      return 0;
    }
    std::size_t bytes = sizeof(Node) + node->items.capacity() * sizeof(Item);
    for (std::size_t i = 0; i < node->children.size(); ++i) {
      bytes += BytesBeyond(node->children[i].get(), other != nullptr ? other->children[i].get() : nullptr);
    }
    return bytes;
  }

  NodePointer root_;
};

}  // namespace waystar::core
