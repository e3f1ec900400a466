#include "server/formats/grid/ldtk_members.h"

namespace waystar::core {
namespace {

const MemberTable& IntGridValueMembers() {
  static const auto* const table = new MemberTable(
      "value of an IntGrid", {.read = "value identifier groupUid", .no_bearing = "color tile"});
  return *table;
}

const MemberTable& ValueGroupMembers() {
  static const auto* const table =
      new MemberTable("group of values", {.read = "uid identifier", .no_bearing = "color"});
  return *table;
}

const MemberTable& LayerDefinitionMembers() {
  static const auto* const table = new MemberTable(
      "definition of a layer",
      {.read = "uid intGridValues intGridValuesGroups",
       .no_bearing =
           "__type type identifier doc gridSize displayOpacity inactiveOpacity hideInList "
           "hideFieldsWhenInactive "
           "canSelectWhenInactive renderInWorldView pxOffsetX pxOffsetY guideGridWid guideGridHei "
           "parallaxFactorX parallaxFactorY parallaxScaling requiredTags excludedTags uiColor uiFilterTags "
           "useAsyncRender autoRuleGroups autoSourceLayerDefUid autoTilesKilledByOtherLayerUid "
           "autoTilesetDefUid biomeFieldUid tilesetDefUid tilePivotX tilePivotY"},
      {.lists = {{"intGridValues", &IntGridValueMembers()}, {"intGridValuesGroups", &ValueGroupMembers()}}});
  return *table;
}

// Definitions of entities, tilesets and enums are ignored. Layers of entities and tiles are noted separately.
const MemberTable& DefinitionsMembers() {
  static const auto* const table =
      new MemberTable("file's definitions",
                      {.read = "layers", .no_bearing = "entities enums externalEnums levelFields tilesets"},
                      {.lists = {{"layers", &LayerDefinitionMembers()}}});
  return *table;
}

const MemberTable& CellValueMembers() {
  static const auto* const table = new MemberTable("cell of an IntGrid", {.read = "coordId v"});
  return *table;
}

const MemberTable& LayerInstanceMembers() {
  static const auto* const table = new MemberTable(
      "layer",
      {.read = "__identifier __type __cWid __cHei __gridSize __pxTotalOffsetX __pxTotalOffsetY layerDefUid "
               "layerDefId visible intGridCsv intGrid gridTiles entityInstances",
       .no_bearing = "iid levelId seed optionalRules __opacity __tilesetDefUid __tilesetRelPath "
                     "overrideTilesetUid autoLayerTiles autoTiles pxOffsetX pxOffsetY"},
      {.lists = {{"intGrid", &CellValueMembers()}}});
  return *table;
}

const MemberTable& WorldMembers() {
  static const auto* const table =
      new MemberTable("world",
                      {.read = "levels worldLayout",
                       .no_bearing = "identifier iid worldGridWidth worldGridHeight defaultLevelWidth "
                                     "defaultLevelHeight"},
                      {.lists = {{"levels", &LdtkLevelMembers()}}});
  return *table;
}

}  // namespace

const MemberTable& LdtkLevelMembers() {
  static const auto* const table = new MemberTable(
      "level",
      {.read = "identifier iid layerInstances externalRelPath pxWid pxHei worldX worldY",
       .no_bearing =
           "uid __bgColor bgColor __bgPos bgPos bgPivotX bgPivotY bgRelPath __smartColor __header__ "
           "__neighbours fieldInstances useAutoIdentifier worldDepth"},
      {.lists = {{"layerInstances", &LayerInstanceMembers()}}});
  return *table;
}

const MemberTable& LdtkProjectMembers() {
  static const auto* const table = new MemberTable(
      "project",
      {.read = "jsonVersion defs levels worlds worldLayout",
       .no_bearing =
           "__header__ advancedOptionFlags appBuildId backupLimit backupOnSave backupRelPath "
           "bgColor "
           "customCommands defaultEntityHeight defaultEntityWidth defaultGridSize defaultLevelBgColor "
           "defaultLevelHeight defaultLevelWidth defaultPivotX defaultPivotY dummyWorldIid exportLevelBg "
           "exportPng exportTiled externalLevels flags identifierStyle iid imageExportMode levelNamePattern "
           "minifyJson nextUid pngFilePattern simplifiedExport toc tutorialDesc worldGridHeight "
           "worldGridWidth"},
      {.objects = {{"defs", &DefinitionsMembers()}},
       .lists = {{"levels", &LdtkLevelMembers()}, {"worlds", &WorldMembers()}}});
  return *table;
}

std::vector<const MemberTable*> AllLdtkMembers() {
  return {&LdtkProjectMembers(),     &WorldMembers(),        &LdtkLevelMembers(),
          &LayerInstanceMembers(),   &CellValueMembers(),    &DefinitionsMembers(),
          &LayerDefinitionMembers(), &IntGridValueMembers(), &ValueGroupMembers()};
}

}  // namespace waystar::core
