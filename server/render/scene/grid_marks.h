// Marks that a query adds to the picture of a grid.
#pragma once

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/geometry/cell.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/query_marks.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// Returns the marks of an answer on the drawn grid, in cells of its plane.
QueryMarks GridMarks(const AnsweredQuery& answered);

// Draws the search over the ground: expanded cells from yellow to red by path cost, generated ones as
// outlines. Without a ground it adds marks. Returns the error of `stop`, which is polled every 2^10 cells.
// REQUIRES: the answer has a search, and text has a ground.
absl::Status AddGridSearch(const AnsweredQuery& answered, const Rectangle& region, const Layout& layout,
                           bool is_text, const StopCheck& stop, Scene& scene);

// Adds the path within the region.
void AddGridPath(const QueryMarks& marks, const Rectangle& region, const Layout& layout, bool is_text,
                 Scene& scene);

}  // namespace waystar::core
