#include "server/formats/grid/tiled_members.h"

namespace waystar::core {
namespace {

const MemberTable& TileOffsetMembers() {
  static const auto* const table = new MemberTable("tile offset", {.read = "x y"});
  return *table;
}

const MemberTable& GridMembers() {
  static const auto* const table = new MemberTable("grid of a tileset", {.read = "orientation width height"});
  return *table;
}

const MemberTable& PointMembers() {
  static const auto* const table = new MemberTable("point", {.read = "x y"});
  return *table;
}

const MemberTable& PropertyMembers() {
  static const auto* const table =
      new MemberTable("property", {.read = "name value", .no_bearing = "type propertytype"});
  return *table;
}

const MemberTable& ObjectMembers() {
  static const auto* const table = new MemberTable(
      "object",
      {.read = "id name type class x y width height rotation visible gid template properties ellipse point "
               "capsule polygon polyline text",
       .no_bearing = "opacity propertytypes"},
      {.lists = {
           {"polygon", &PointMembers()}, {"polyline", &PointMembers()}, {"properties", &PropertyMembers()}}});
  return *table;
}

// Collision shapes of a tile; they have the members of an object layer.
const MemberTable& TileShapesMembers() {
  static const auto* const table = new MemberTable(
      "collision of a tile",
      {.read = "objects properties",
       .no_bearing = "type name id class draworder opacity visible x y width height color "
                     "propertytypes tintcolor offsetx offsety parallaxx parallaxy mode locked"},
      {.lists = {{"objects", &ObjectMembers()}}});
  return *table;
}

const MemberTable& ChunkMembers() {
  static const auto* const table = new MemberTable("chunk", {.read = "x y width height data"});
  return *table;
}

// A layer of any kind: tiles, objects, image or group.
const MemberTable& LayerMembers() {
  static const auto* const table = [] {
    auto* const made = new MemberTable(
        "layer",
        {.read = "type name class visible offsetx offsety properties data chunks encoding compression width "
                 "height objects layers x y parallaxx parallaxy",
         .no_bearing = "id opacity tintcolor color draworder locked mode startx starty propertytypes image "
                       "imagewidth imageheight transparentcolor repeatx repeaty"},
        {.lists = {{"properties", &PropertyMembers()},
                   {"chunks", &ChunkMembers()},
                   {"objects", &ObjectMembers()}}});
    made->SetList("layers", made);
    return made;
  }();
  return *table;
}

}  // namespace

const MemberTable& TiledTileMembers() {
  static const auto* const table = new MemberTable(
      "tile",
      {.read = "id type class properties objectgroup imagewidth imageheight width height",
       .no_bearing = "animation image probability terrain x y"},
      {.objects = {{"objectgroup", &TileShapesMembers()}}, .lists = {{"properties", &PropertyMembers()}}});
  return *table;
}

const MemberTable& TiledTilesetMembers() {
  static const auto* const table = new MemberTable(
      "tileset",
      {.read = "firstgid source name tilewidth tileheight tileoffset objectalignment tiles tileproperties "
               "fillmode "
               "grid",
       .no_bearing = "type version tiledversion class columns tilecount margin spacing image imagewidth "
                     "imageheight transparentcolor backgroundcolor terrains terraintypes wangsets "
                     "transformations tilerendersize editorsettings properties propertytypes "
                     "tilepropertytypes"},
      {.objects = {{"grid", &GridMembers()}, {"tileoffset", &TileOffsetMembers()}},
       .lists = {{"tiles", &TiledTileMembers()}}});
  return *table;
}

const MemberTable& TiledTemplateMembers() {
  static const auto* const table =
      new MemberTable("template", {.read = "object tileset", .no_bearing = "type"},
                      {.objects = {{"object", &ObjectMembers()}, {"tileset", &TiledTilesetMembers()}}});
  return *table;
}

const MemberTable& TiledMapMembers() {
  static const auto* const table = new MemberTable(
      "map",
      {.read =
           "orientation width height infinite tilewidth tileheight hexsidelength staggeraxis staggerindex "
           "layers tilesets properties skewx skewy",
       .no_bearing = "type version tiledversion class renderorder backgroundcolor nextlayerid nextobjectid "
                     "compressionlevel parallaxoriginx parallaxoriginy editorsettings propertytypes"},
      {.lists = {{"layers", &LayerMembers()},
                 {"tilesets", &TiledTilesetMembers()},
                 {"properties", &PropertyMembers()}}});
  return *table;
}

std::vector<const MemberTable*> AllTiledMembers() {
  return {&TiledMapMembers(),  &LayerMembers(),        &ChunkMembers(),      &ObjectMembers(),
          &PointMembers(),     &TiledTilesetMembers(), &TileOffsetMembers(), &GridMembers(),
          &TiledTileMembers(), &TileShapesMembers(),   &PropertyMembers(),   &TiledTemplateMembers()};
}

}  // namespace waystar::core
