// Marks of portals in the picture of a map.
#pragma once

#include "server/render/scene/query_marks.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// Adds a diamond at a portal's end, hollow if the portal is closed.
void AddPortalEnd(picture::Point at, const MarkSizes& sizes, bool is_closed, Scene& scene);
// Adds the dashed line between both ends.
void AddPortalLine(picture::Point from, picture::Point to, const MarkSizes& sizes, bool is_closed,
                   Scene& scene);

LegendEntry PortalLegend();

}  // namespace waystar::core
