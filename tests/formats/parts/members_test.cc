// Holds the tables of members against the lists of those that the formats' documentation names.
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/graph/geo_json.h"
#include "server/formats/grid/grid_readers.h"
#include "server/formats/grid/tiled_map.h"
#include "tests/testing/folders.h"

namespace waystar::core {
namespace {

using Members = std::map<std::string, std::set<std::string>>;

// Returns the members of each object that a list names.
Members Documented(const std::string& file) {
  std::ifstream in(waystar::SourceFolder() / "tests" / "data" / "members" / file);
  EXPECT_TRUE(in.good()) << file;
  Members members;
  std::string line;
  while (std::getline(in, line)) {
    if (absl::StartsWith(line, "#")) {
      continue;
    }
    std::istringstream words(line.substr(line.find(':') + 1));
    std::string member;
    while (words >> member) {
      members[line.substr(0, line.find(':'))].insert(member);
    }
  }
  return members;
}

// Says which table the objects of a list belong to. The others lie in members without a bearing.
using TableNames = std::map<std::string, std::string>;

// Returns "table.member" for each member that the lists name of an object of a table.
std::set<std::string> Named(const std::vector<Members>& lists, const TableNames& names) {
  std::set<std::string> named;
  for (const Members& list : lists) {
    for (const auto& [object, members] : list) {
      if (const auto name = names.find(object); name != names.end()) {
        for (const std::string& member : members) {
          named.insert(absl::StrCat(name->second, ".", member));
        }
      }
    }
  }
  return named;
}

// Returns the members as TiledXmlAsJson calls attributes and elements.
Members AsJson(const Members& xml) {
  const std::map<std::string, std::string> names = {{"<layer>", "layers"},      {"<objectgroup>", "layers"},
                                                    {"<imagelayer>", "layers"}, {"<group>", "layers"},
                                                    {"<object>", "objects"},    {"<chunk>", "chunks"},
                                                    {"<tile>", "tiles"},        {"<tileset>", "tilesets"}};
  Members json;
  for (const auto& [object, members] : xml) {
    for (const std::string& member : members) {
      std::string name = member;
      if (const auto known = names.find(member); known != names.end()) {
        name = known->second;
      }
      if (member == "<objectgroup>" && object == "tile") {
        name = "objectgroup";
      }
      if (object == "template") {
        name = member == "<tileset>" ? "tileset" : "object";
      }
      if (absl::StartsWith(name, "<")) {
        name = name.substr(1, name.size() - 2);
      }
      json[object].insert(name);
    }
  }
  return json;
}

TEST(MembersTest, MembersOfTiledAreThoseThatAreDocumented) {
  Members json = Documented("tiled_json.txt");
  Members xml = AsJson(Documented("tiled_xml.txt"));
  // The tiles of a chunk become numbers, and the parts of a property its value.
  xml["chunk"].erase("tiles");
  xml["property"].erase("properties");
  xml["property"].erase("item");
  // What the element <data> says, and the pictures of layers, become members of the layer.
  xml["layer"].insert({"encoding", "compression"});
  // The shapes of a tile are a layer.
  json["collision"] = json["objectgroup"];
  const TableNames names = {{"map", "map"},
                            {"layer", "layer"},
                            {"objectgroup", "layer"},
                            {"imagelayer", "layer"},
                            {"group", "layer"},
                            {"collision", "collision of a tile"},
                            {"chunk", "chunk"},
                            {"object", "object"},
                            {"point", "point"},
                            {"tileset", "tileset"},
                            {"tileoffset", "tile offset"},
                            {"grid", "grid of a tileset"},
                            {"tile", "tile"},
                            {"template", "template"},
                            {"property", "property"}};
  EXPECT_EQ(Named({json, xml}, names), TiledMembers().Names());
}

TEST(MembersTest, EveryMemberOfLdtkIsKnown) {
  const TableNames names = {{"root", "project"},
                            {"world", "world"},
                            {"level", "level"},
                            {"layerInstance", "layer"},
                            {"intGridValueInstance", "cell of an IntGrid"},
                            {"definitions", "file's definitions"},
                            {"layerDef", "definition of a layer"},
                            {"intGridValueDef", "value of an IntGrid"},
                            {"intGridValueGroupDef", "group of values"}};
  EXPECT_EQ(Named({Documented("ldtk.txt")}, names), LdtkMembers().Names());
}

TEST(MembersTest, EveryMemberOfGeoJsonIsKnown) {
  const TableNames names = {
      {"FeatureCollection", "collection of features"}, {"Feature", "feature"}, {"Geometry", "geometry"}};
  std::set<std::string> documented = Named({Documented("geo_json.txt")}, names);
  // Members that RFC 7946 forbids there: such a file gets a note.
  for (const char* const forbidden :
       {"geometry.features", "geometry.geometries", "geometry.geometry", "geometry.properties"}) {
    EXPECT_EQ(documented.erase(forbidden), 1U) << forbidden;
  }
  EXPECT_EQ(documented, GeoJsonMembers().Names());
}

}  // namespace
}  // namespace waystar::core
