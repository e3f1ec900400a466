// The course of a path in the world, and how far an agent has come along it.
#pragma once

#include <cstddef>
#include <vector>

#include "server/geometry/world_point.h"

namespace waystar::core {

// Thread safety: none.
class Course {
 public:
  // A place on a course: on the line from point `next` - 1 to point `next`, at that share of it. On a course
  // of one point, `next` is 1.
  struct Place {
    std::size_t next = 1;
    double share = 0.0;
  };

  // Makes an empty course.
  Course() = default;
  // Straight lines join the points. For each i in `leaps`, in ascending order, a portal leads from point i -
  // 1 to point i instead.
  Course(std::vector<WorldPoint> points, std::vector<std::size_t> leaps);

  // Goes on to the nearest place, as seen from above, that is not behind the current one: `at` is near it if
  // their distance is at most `off_path`. Of several stretches near `at`, takes the first. Returns false, and
  // stays, if there is none. Costs O(points up to the end of that stretch).
  bool Follow(const WorldPoint& at, double off_path);

  const Place& place() const { return place_; }

  // The course from the current place on, as the constructor takes it.
  struct Rest {
    std::vector<WorldPoint> points;
    std::vector<std::size_t> leaps;
  };
  // Returns no points if the course is empty.
  Rest RestAhead() const;

 private:
  std::vector<WorldPoint> points_;
  std::vector<std::size_t> leaps_;
  Place place_;
};

}  // namespace waystar::core
