#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/file_errors.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/obstacle.h"
#include "server/core/grid/shapes/shape_raster.h"
#include "server/formats/grid/tiled_plane.h"
#include "server/formats/text/text.h"

namespace waystar::core {
namespace {

constexpr absl::string_view kObstacleClass = "obstacle";
constexpr std::initializer_list<absl::string_view> kObstacleProperties = {
    "blocked", "collides", "walkable", "impassable", "cost_factor", "cost_addition", "object_rule", "ignore"};

std::string PlaceOf(const TiledLayer& layer, const TiledObject& object) {
  const std::string name =
      object.name.value_or("").empty() ? std::string() : absl::StrCat(" (", Quoted(*object.name), ")");
  return absl::StrCat(PlaceOf(layer), ", object ", object.id, name);
}

absl::Status ObjectError(const TiledLayer& layer, const TiledObject& object, absl::string_view message) {
  return BadFormat(absl::StrCat(PlaceOf(layer, object), ": ", message));
}

absl::StatusOr<std::optional<ObstacleEffect>> AmountIn(const TiledProperties& properties) {
  for (const auto& [name, kind] : {std::pair("cost_factor", ObstacleEffect::Kind::kMultiplyCost),
                                   std::pair("cost_addition", ObstacleEffect::Kind::kAddCost)}) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<double> amount, FindNumber(properties, name));
    if (amount) {
      return ObstacleEffect{.kind = kind, .amount = *amount};
    }
  }
  return std::nullopt;
}

// Returns what the class and tile image of an object say, or nullopt.
std::optional<bool> ClassSaysObstacle(const WholeObject& whole, const TerrainMapping& mapping) {
  const std::string class_name = whole.object.class_name.value_or("");
  if (const CellRule* const rule = RuleOfName(class_name, mapping)) {
    return rule->blocked || rule->impassable;
  }
  const bool has_shapes = whole.picture.tile != nullptr && !whole.picture.tile->shapes.empty();
  return has_shapes || absl::EqualsIgnoreCase(class_name, kObstacleClass) ? std::optional(true)
                                                                          : std::nullopt;
}

// Returns the effect of an object, or nullopt if it is not an obstacle. Blocking properties take precedence
// over costs, costs over the class, and the object over its layer.
absl::StatusOr<std::optional<ObstacleEffect>> EffectOf(const TiledLayer& layer, const WholeObject& whole,
                                                       const TerrainMapping& mapping) {
  const std::optional<ObstacleEffect> block = ObstacleEffect{};
  const std::optional<ObstacleEffect> none;
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> says, SaysImpassable(whole.object.properties));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<ObstacleEffect> amount, AmountIn(whole.object.properties));
  if (says.value_or(false)) {
    return block;
  }
  if (amount || says) {
    return amount;
  }
  if (const std::optional<bool> class_says = ClassSaysObstacle(whole, mapping)) {
    return *class_says ? block : none;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> layer_says, SaysImpassable(layer.properties));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<ObstacleEffect> of_layer, AmountIn(layer.properties));
  if (layer_says.value_or(false)) {
    return block;
  }
  if (of_layer || layer_says) {
    return of_layer;
  }
  return absl::EqualsIgnoreCase(layer.class_name, kObstacleClass) ? block : none;
}

absl::StatusOr<ObjectRule> RuleOf(const TiledMap& map, const TiledLayer& layer, const TiledObject& object) {
  for (const TiledProperties* const properties : {&object.properties, &layer.properties, &map.properties}) {
    const std::string* const rule = FindProperty(*properties, "object_rule");
    if (rule == nullptr) {
      continue;
    }
    const std::string lower = absl::AsciiStrToLower(*rule);
    if (lower != "centre" && lower != "center" && lower != "overlap") {
      return BadFormat(
          absl::StrCat("the property \"object_rule\" is ", Quoted(*rule), ", neither centre nor overlap"));
    }
    return lower == "overlap" ? ObjectRule::kOverlap : ObjectRule::kCentre;
  }
  return ObjectRule::kCentre;
}

// Collects the obstacles made from objects.
class ObstacleMaker {
 public:
  ObstacleMaker(const TiledMap& map, const TerrainMapping& mapping, const TiledPlane& plane,
                TiledTemplates& templates, ImportNotes& notes)
      : map_(map), mapping_(mapping), plane_(plane), templates_(templates), notes_(notes) {}

  absl::Status Add(const TiledLayer& layer, const TiledObject& object) {
    absl::StatusOr<std::optional<Obstacle>> obstacle = ObstacleOf(layer, object);
    if (!obstacle.ok()) {
      return ObjectError(layer, object, obstacle.status().message());
    }
    if (!*obstacle) {
      return absl::OkStatus();
    }
    if (edits_.size() == kMaxObstacles) {
      return ObjectError(layer, object, absl::StrCat("a map has at most ", kMaxObstacles, " obstacles"));
    }
    PutObstacle put;
    put.obstacle = **std::move(obstacle);
    edits_.emplace_back(std::move(put));
    objects_.emplace_back(&layer, &object);
    return absl::OkStatus();
  }

  absl::StatusOr<GridMap> PutAll(const GridMap& grid, const StopCheck* stop) const {
    absl::StatusOr<EditResult> result = ApplyEdits(grid, edits_, absl::UnixEpoch(), stop);
    if (!result.ok()) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      const std::optional<std::size_t> index = IndexInField(ErrorFieldOf(result.status()), "edits");
      return index && *index < objects_.size()
                 ? ObjectError(*objects_[*index].first, *objects_[*index].second, result.status().message())
                 : WithField(result.status(), "");
    }
    const Rectangle whole{0, 0, grid.width(), grid.height()};
    for (std::size_t i = 0; i < edits_.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      const Shape& shape = std::get<PutObstacle>(edits_[i]).obstacle.shape;
      if (SpansOf(shape, grid.lattice(), whole).empty()) {
        notes_.Add(
            "objects that cover the centre of no cell: \"object_rule\" \"overlap\" takes the cells "
            "that they touch",
            PlaceOf(*objects_[i].first, *objects_[i].second));
      }
    }
    return std::move(result->map);
  }

  std::size_t size() const { return edits_.size(); }

  // Notes the objects without a meaning: the file may use other words for obstacles.
  void NoteSilence() const {
    if (silent_ > 0) {
      notes_.Add("objects without the class \"obstacle\" or a property that blocks are not read",
                 first_silent_, silent_);
    }
  }

 private:
  absl::StatusOr<std::optional<Obstacle>> ObstacleOf(const TiledLayer& layer, const TiledObject& object) {
    WAYSTAR_ASSIGN_OR_RETURN(const WholeObject whole, templates_.Complete(object));
    NoteOthers(object.properties, kObstacleProperties, PlaceOf(layer, object), notes_);
    if (plane_.has_hexagons() && (whole.object.gid.value_or(0) & (kTurned | kTurnedTwice)) != 0) {
      notes_.Add("pictures that are turned by 60 or 120 degrees are read as if they were not",
                 PlaceOf(layer, object));
    }
    if (!whole.object.visible.value_or(true)) {
      notes_.Add("hidden objects are not read", PlaceOf(layer, whole.object));
      return std::nullopt;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<bool> ignore, FindFlag(whole.object.properties, "ignore"));
    if (ignore.value_or(false)) {
      return std::nullopt;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<ObstacleEffect> effect, EffectOf(layer, whole, mapping_));
    if (!effect || whole.object.form == TiledObject::Form::kText) {
      NoteNoObstacle(layer, whole);
      return std::nullopt;
    }
    if (!whole.missing_template.empty() && !whole.object.width && whole.object.points.empty()) {
      return BadFormat(absl::StrCat("its shape is that of the template ", Quoted(object.template_file), ": ",
                                    whole.missing_template, "; or detach it in Tiled"));
    }
    WAYSTAR_ASSIGN_OR_RETURN(const ObjectRule rule, RuleOf(map_, layer, whole.object));
    Obstacle obstacle{.effect = *effect};
    WAYSTAR_RETURN_IF_ERROR(CountCopies(whole, rule));
    WAYSTAR_ASSIGN_OR_RETURN(obstacle.shape,
                             ShapeOfObject(whole.object, whole.picture, layer.offset, plane_, rule));
    obstacle.id = IdOf(whole.object);
    return obstacle;
  }

  // Notes an object that is not an obstacle but looks like one.
  void NoteNoObstacle(const TiledLayer& layer, const WholeObject& whole) {
    const TiledObject& object = whole.object;
    const std::string place = PlaceOf(layer, object);
    if (!whole.missing_template.empty()) {
      notes_.Add(
          "objects made from templates that are not there are not read",
          absl::StrCat(place, ", template ", Quoted(object.template_file), ": ", whole.missing_template));
    } else if (SoundsLikeWall(object.class_name.value_or("")) || SoundsLikeWall(object.name.value_or(""))) {
      notes_.Add(
          "objects that sound like walls do not block: give them the class \"obstacle\" or the property "
          "\"blocked\"",
          place);
    } else if (object.form != TiledObject::Form::kText) {
      first_silent_ = silent_ == 0 ? place : first_silent_;
      ++silent_;
    }
  }

  // Returns the object's name if it is valid and unused, else an id made of its number, with a suffix if that
  // is taken.
  std::string IdOf(const TiledObject& object) {
    const std::string name = object.name.value_or("");
    if (CheckObstacleId(name).ok() && ids_.Take(name)) {
      return name;
    }
    const std::string base = absl::StrCat("object-", object.id);
    return ids_.Take(base) ? base : ids_.TakeNumbered(base);
  }

  // Bounds the copies of shapes: a small file may have many copies of one large shape.
  absl::Status CountCopies(const WholeObject& whole, ObjectRule rule) {
    constexpr std::size_t kMaxCopied = std::size_t{1} << 22;
    std::size_t corners = whole.object.template_file.empty() ? 0 : CornersOf(whole.object);
    if (whole.picture.tile != nullptr) {
      for (const TiledObject& part : whole.picture.tile->shapes) {
        corners += CornersOf(part);
      }
    }
    copied_ += corners * (rule == ObjectRule::kOverlap ? 3 : 1);
    return copied_ <= kMaxCopied
               ? absl::OkStatus()
               : BadFormat(absl::StrCat("the shapes of tiles and templates have more than ", kMaxCopied,
                                        " corners, with those of all objects before this one"));
  }

  const TiledMap& map_;
  const TerrainMapping& mapping_;
  const TiledPlane& plane_;
  TiledTemplates& templates_;
  ImportNotes& notes_;
  // Number of objects without a meaning, and place of the first.
  std::int64_t silent_ = 0;
  std::string first_silent_;
  // Corners of shapes copied from tiles and templates.
  std::size_t copied_ = 0;
  UniqueIds ids_;
  std::vector<Edit> edits_;
  // Layer and object of each edit.
  std::vector<std::pair<const TiledLayer*, const TiledObject*>> objects_;
};

}  // namespace

absl::StatusOr<GridMap> PutObjects(const TiledMap& map, const TerrainMapping& mapping,
                                   const std::vector<const TiledLayer*>& layers, const TiledPlane& plane,
                                   TiledTemplates& templates, ImportNotes& notes, GridMap grid,
                                   const StopCheck* stop) {
  ObstacleMaker maker(map, mapping, plane, templates, notes);
  for (const TiledLayer* const layer : layers) {
    const std::string place = PlaceOf(*layer);
    NoteOthers(layer->properties, kObstacleProperties, place, notes);
    const std::size_t before = maker.size();
    for (const TiledObject& object : layer->objects) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
      WAYSTAR_RETURN_IF_ERROR(maker.Add(*layer, object));
    }
    if (maker.size() == before && SoundsLikeWall(layer->name)) {
      notes.Add("layers that sound like walls have no object that blocks", place);
    }
  }
  if (maker.size() == 0) {
    maker.NoteSilence();
    return grid;
  }
  return maker.PutAll(grid, stop);
}

}  // namespace waystar::core
