#include "server/formats/graph/geo_json_members.h"

namespace waystar::core {
namespace {

// Geometry of a point or a line; other geometries are rejected.
const MemberTable& GeometryMembers() {
  static const auto* const table =
      new MemberTable("geometry", {.read = "type coordinates", .no_bearing = "bbox crs"});
  return *table;
}

// ReadFeatureProperties notes unknown properties.
const MemberTable& FeatureMembers() {
  static const auto* const table =
      new MemberTable("feature",
                      {.read = "type id geometry properties",
                       .no_bearing = "bbox crs coordRefSys featureType geometry_name links place time"},
                      {.objects = {{"geometry", &GeometryMembers()}}});
  return *table;
}

}  // namespace

const MemberTable& GeoJsonMembers() {
  static const auto* const table = new MemberTable(
      "collection of features",
      {.read = "type features",
       // Coordinates are used as they are in any reference system.
       .no_bearing = "_meta bbox conformsTo coordRefSys copyright crs description featureType generator "
                     "geometryDimension id links metadata name numberMatched numberReturned properties "
                     "timeStamp timestamp totalFeatures xy_coordinate_resolution z_coordinate_resolution"},
      {.lists = {{"features", &FeatureMembers()}}});
  return *table;
}

std::vector<const MemberTable*> AllGeoJsonMembers() {
  return {&GeoJsonMembers(), &FeatureMembers(), &GeometryMembers()};
}

}  // namespace waystar::core
