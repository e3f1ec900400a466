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
#include "server/formats/graph/geo_json_properties.h"
#include "server/formats/grid/ldtk.h"
#include "server/formats/grid/tiled_map.h"
#include "tests/testing/folders.h"

namespace waystar::core {
namespace {

using ::testing::IsEmpty;

using Members = std::map<std::string, std::set<std::string>>;

// Returns the members of each object that a list names.
Members Documented(const std::string& file) {
  std::ifstream in(::waystar::testing::SourceFolder() / "tests" / "data" / "members" / file);
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

// Returns "object.member" for each member of the list that its table lacks.
std::vector<std::string> Unknown(const Members& documented, const TableNames& names,
                                 const std::vector<const MemberTable*>& tables) {
  std::vector<std::string> unknown;
  for (const MemberTable* const table : tables) {
    for (const auto& [object, members] : documented) {
      const auto name = names.find(object);
      if (name == names.end() || name->second != table->object()) {
        continue;
      }
      for (const std::string& member : members) {
        if (!table->Has(member)) {
          unknown.push_back(absl::StrCat(object, ".", member));
        }
      }
    }
  }
  return unknown;
}

// Returns "table.member" for each member of a table that no list has.
std::vector<std::string> Invented(const std::vector<Members>& lists, const TableNames& names,
                                  const std::vector<const MemberTable*>& tables) {
  std::vector<std::string> invented;
  for (const MemberTable* const table : tables) {
    for (const absl::string_view member : table->members()) {
      bool is_documented = false;
      for (const Members& list : lists) {
        for (const auto& [object, members] : list) {
          const auto name = names.find(object);
          is_documented = is_documented || (name != names.end() && name->second == table->object() &&
                                            members.count(std::string(member)) > 0);
        }
      }
      if (!is_documented) {
        invented.push_back(absl::StrCat(table->object(), ".", member));
      }
    }
  }
  return invented;
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

const TableNames& TiledNames() {
  static const auto* const names = new TableNames{{"map", "map"},
                                                  {"layer", "layer"},
                                                  {"objectgroup", "layer"},
                                                  {"imagelayer", "layer"},
                                                  {"group", "layer"},
                                                  {"chunk", "chunk"},
                                                  {"object", "object"},
                                                  {"point", "point"},
                                                  {"tileset", "tileset"},
                                                  {"tileoffset", "tile offset"},
                                                  {"grid", "grid of a tileset"},
                                                  {"tile", "tile"},
                                                  {"template", "template"},
                                                  {"property", "property"}};
  return *names;
}

TEST(MembersTest, MembersOfTiledAreThoseThatAreDocumented) {
  TableNames names = TiledNames();
  Members json = Documented("tiled_json.txt");
  Members xml = AsJson(Documented("tiled_xml.txt"));
  // The tiles of a chunk become numbers, and the parts of a property its value.
  xml["chunk"].erase("tiles");
  xml["property"].erase("properties");
  xml["property"].erase("item");
  // The shapes of a tile are a layer.
  json["collision"] = json["objectgroup"];
  names["collision"] = "collision of a tile";
  EXPECT_THAT(Unknown(json, names, TiledMembers().All()), IsEmpty());
  EXPECT_THAT(Unknown(xml, names, TiledMembers().All()), IsEmpty());
  // What the element <data> says, and the pictures of layers, become members of the layer.
  xml["layer"].insert({"encoding", "compression"});
  EXPECT_THAT(Invented({json, xml}, names, TiledMembers().All()), IsEmpty());
}

const TableNames& LdtkNames() {
  static const auto* const names = new TableNames{{"root", "project"},
                                                  {"world", "world"},
                                                  {"level", "level"},
                                                  {"layerInstance", "layer"},
                                                  {"intGridValueInstance", "cell of an IntGrid"},
                                                  {"definitions", "file's definitions"},
                                                  {"layerDef", "definition of a layer"},
                                                  {"intGridValueDef", "value of an IntGrid"},
                                                  {"intGridValueGroupDef", "group of values"}};
  return *names;
}

TEST(MembersTest, EveryMemberOfLdtkIsKnown) {
  const Members documented = Documented("ldtk.txt");
  EXPECT_THAT(Unknown(documented, LdtkNames(), LdtkMembers().All()), IsEmpty());
  EXPECT_THAT(Invented({documented}, LdtkNames(), LdtkMembers().All()), IsEmpty());
}

TEST(MembersTest, EveryMemberOfGeoJsonIsKnown) {
  const Members documented = Documented("geo_json.txt");
  const TableNames names = {
      {"FeatureCollection", "collection of features"}, {"Feature", "feature"}, {"Geometry", "geometry"}};
  // Members that RFC 7946 forbids there: such a file gets a note.
  EXPECT_THAT(Unknown(documented, names, GeoJsonMembers().All()),
              ::testing::UnorderedElementsAre("Geometry.features", "Geometry.geometries", "Geometry.geometry",
                                              "Geometry.properties"));
  EXPECT_THAT(Invented({documented}, names, GeoJsonMembers().All()), IsEmpty());
}

}  // namespace
}  // namespace waystar::core
