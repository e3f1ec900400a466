// Times queries of navigation meshes, beside Detour's answers to the same ones: on the meshes below
// $WAYSTAR_DATA/meshes and in --folder, and on a large world that is made here. Ends with 1 if a path is
// longer than Detour's, or not as long as its scenario says.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "server/base/memory_account.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/mesh/map/cell_layer.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/explain_mesh_path.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_move.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/mesh_samples.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/mesh/search/mesh_wall.h"
#include "server/core/mesh/search/one_to_many.h"
#include "server/formats/build/build_mesh.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/mesh/mesh_readers.h"
#include "tests/bench/bench.h"
#include "tests/bench/detour_peer.h"
#include "tests/bench/mesh_world.h"
#include "tests/testing/tile_cache.h"

ABSL_FLAG(std::string, meshes, "", "Only meshes of files whose name contains this.");
ABSL_FLAG(std::string, folder, "", "Detour meshes of this folder too, beside those of $WAYSTAR_DATA.");
ABSL_FLAG(int, queries, 1000, "Queries of each kind on the meshes of files.");
ABSL_FLAG(int, world_queries, 300, "Queries of each kind on the large world.");
ABSL_FLAG(int, passes, 5, "Over all queries; of each query the least time counts.");
ABSL_FLAG(int, world_tiles, 53, "Tiles of 19.2 m to a side of the large world, at most 64; 0 leaves it out.");
ABSL_FLAG(int, build_tiles, 26, "Tiles of 19.2 m to a side of the level that is built, at most 64; 0: none.");
ABSL_FLAG(std::string, costs, "",
          "Detour meshes of this folder, whose ground is made to cost 1, 2 and 5 in squares.");
ABSL_FLAG(bool, open_ground, true, "Walls and obstacles on open ground of 2,500 to 1,000,000 squares.");

namespace waystar::bench {
namespace {

using core::MeshPlace;
using core::NavMesh;
using core::WorldPoint;

// By how much a path may be longer than Detour's, which computes in single precision.
constexpr double kDetourRounding = 1e-4;
// By how much heights on the ground may differ from Detour's.
constexpr double kHeightAim = 0.1;
constexpr core::MeshSnap kSnap{.radius = DetourPeer::kRadius, .height = DetourPeer::kHeight};
constexpr double kRayLength = 50.0;
constexpr double kMoveLength = 1.0;
constexpr double kWallRadius = 20.0;
constexpr double kObstacleRadius = 1.0;

constexpr double kSmallPathAim = 0.9;
constexpr double kWorldPathAim = 1.0;
constexpr double kUnreachableMicrosAim = 2.0;
constexpr double kMegabytesAim = 8.0;
constexpr double kOpenWallMicrosAim = 20.0;

bool failed = false;
// Keeps the compiler from leaving out what nobody looks at.
volatile double sink = 0.0;

std::string BytesOfFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

double PlanDistance(const WorldPoint& a, const WorldPoint& b) { return std::hypot(a.x - b.x, a.y - b.y); }

double Any(Random& random, double low, double high) {
  constexpr int kSteps = 1 << 20;
  return low + (high - low) * random.Between(0, kSteps) / kSteps;
}

// What a row is judged by: the ratio of the means, or our mean.
struct Aim {
  std::optional<double> ratio;
  std::optional<double> micros;
};

void PrintHeads() {
  std::cout << absl::StreamFormat("%-24s %7s  %-26s  %-26s  %-17s  %s\n", "", "queries",
                                  "ours, us: p50  mean   p99", "Detour, us: p50 mean   p99",
                                  "ratio p50 mean p99", "aim");
}

void PrintRow(const char* name, TurnTimes times, const Aim& aim) {
  SideTimes& ours = times.ours;
  SideTimes& theirs = times.theirs;
  std::cout << absl::StreamFormat("%-24s %7d  %8.2f %8.2f %8.2f", name, ours.single.size(),
                                  ours.single.Median(), ours.mean, ours.single.Percentile(0.99));
  if (theirs.single.size() > 0) {
    std::cout << absl::StreamFormat("  %8.2f %8.2f %8.2f  %5.2f %5.2f %5.2f", theirs.single.Median(),
                                    theirs.mean, theirs.single.Percentile(0.99),
                                    ours.single.Median() / theirs.single.Median(), ours.mean / theirs.mean,
                                    ours.single.Percentile(0.99) / theirs.single.Percentile(0.99));
  }
  if (aim.ratio && theirs.single.size() > 0) {
    std::cout << absl::StreamFormat("  <= %.1f x %s", *aim.ratio,
                                    ours.mean <= *aim.ratio * theirs.mean ? "" : "MISSED");
  }
  if (aim.micros) {
    std::cout << absl::StreamFormat("  <= %.0f us %s", *aim.micros, ours.mean <= *aim.micros ? "" : "MISSED");
  }
  std::cout << std::endl;
}

// A position as either library finds it on the mesh.
struct Spot {
  WorldPoint position;
  MeshPlace ours;
  DetourPlace theirs;
};

struct Pair {
  Spot start;
  Spot goal;
  core::MeshQuery query;
};

class NoOtherMaps final : public core::MeshWorld {
 public:
  const NavMesh* Find(absl::string_view /*id*/) override { return nullptr; }
};

enum class Goals : std::uint8_t { kReachable, kOutOfReach };

struct PairWish {
  int count = 0;
  Goals goals = Goals::kReachable;
  double least_distance = 0.0;
  double most_distance = 1e18;
};

// Mean times of the paths between pairs of places, in microseconds.
struct PathFigures {
  std::size_t polygons = 0;
  double ours = 0.0;
  double theirs = 0.0;
  // Ours with the ends known.
  double search = 0.0;
  // Intervals expanded a query; 0 if there is no such pair.
  double expanded = 0.0;
};

// Queries of one mesh. A point of the mesh has its coordinates in the plan rounded so that they are exact in
// single precision.
class MeshTimer {
 public:
  // Without a peer we are timed alone.
  MeshTimer(const NavMesh& mesh, DetourPeer* peer) : mesh_(mesh), peer_(peer), random_(1) {
    constexpr int kSamples = 20'000;
    constexpr double kPlanSteps = 256.0;
    const auto samples = OrDie(core::SampleMeshPoints(mesh, {.count = kSamples, .seed = 1}));
    area_ = samples.area;
    for (const MeshPlace& place : samples.places) {
      const WorldPoint rounded{std::round(place.point.x * kPlanSteps) / kPlanSteps,
                               std::round(place.point.y * kPlanSteps) / kPlanSteps, place.point.z};
      const std::optional<MeshPlace> ours = core::FindMeshPlace(mesh, rounded, {.height = 0.5});
      if (!ours) {
        continue;
      }
      Spot spot{ours->point, *ours, {}};
      if (peer != nullptr && !IsThere(spot)) {
        ++elsewhere_;
        continue;
      }
      spots_.push_back(spot);
    }
    if (spots_.empty()) {
      Die("the mesh has no ground to start from");
    }
  }

  // Walkable ground, in square units.
  double area() const { return area_; }

  PathFigures TimePaths(const PairWish& wish, const Aim& aim) {
    const bool is_reachable = wish.goals == Goals::kReachable;
    const std::vector<Pair> pairs = MakePairs(wish);
    if (pairs.empty()) {
      std::cout << (is_reachable ? "path" : "unreachable goal") << ": no such pair of places\n";
      return {};
    }
    const TurnTimes whole = TimeRow(
        is_reachable ? "path" : "unreachable goal", pairs.size(),
        [&](std::size_t i) { return FindPath(pairs[i]); },
        [&](std::size_t i) { return FindTheirPath(pairs[i]); }, aim);
    const TurnTimes search = TimeRow(
        "  its ends known", pairs.size(),
        [&](std::size_t i) {
          return core::SearchMesh(mesh_, {pairs[i].start.ours, pairs[i].goal.ours}, {}, scratch_).length;
        },
        [&](std::size_t i) { return peer_->FindPath(pairs[i].start.theirs, pairs[i].goal.theirs); }, aim);
    if (is_reachable && peer_ != nullptr) {
      TimeTolerance(pairs);
    }
    return {mesh_.polygon_count(), whole.ours.mean, whole.theirs.mean, search.ours.mean,
            Compare(pairs, is_reachable)};
  }

  // Times paths over ground that costs, and compares what Detour's cost on the same ground.
  void TimeCosts(int count) {
    const std::vector<Pair> pairs = MakePairs({.count = count});
    TimeRow(
        "path over costs", pairs.size(), [&](std::size_t i) { return FindPath(pairs[i]); },
        [&](std::size_t i) { return FindTheirPath(pairs[i]); }, {});
    double ours = 0.0;
    double theirs = 0.0;
    double most = 1.0;
    double bounds = 0.0;
    double expanded = 0.0;
    int asked = 0;
    for (const Pair& pair : pairs) {
      const core::MeshPathResult found = OrDie(core::FindMeshPath(mesh_, pair.query, {}, scratch_));
      if (found.outcome != core::Outcome::kFound || !peer_->FindPath(pair.start.theirs, pair.goal.theirs)) {
        continue;
      }
      ++asked;
      ours += found.cost;
      theirs += CostAlong(peer_->PathCorners());
      most = std::max(most, found.bound);
      bounds += found.bound;
      expanded += static_cast<double>(found.statistics.expanded);
    }
    std::cout << absl::StreamFormat(
        "  Detour's cost %.2f %% more, of %d; proved within %.4f in the mean, %.4f at most; %.0f expanded\n",
        100.0 * (theirs / ours - 1.0), asked, bounds / asked, most, expanded / asked);
  }

  // Times paths from up to 200 places to the one that most of them can reach, alone and by one flood.
  void TimeCrowd() {
    constexpr std::size_t kCrowd = 200;
    const auto reachable_from = [&](const Spot& hub) {
      std::vector<MeshPlace> others;
      for (const Spot& spot : absl::MakeConstSpan(spots_).first(std::min(spots_.size(), 2 * kCrowd))) {
        if (mesh_.PartOf(spot.ours.polygon) == mesh_.PartOf(hub.ours.polygon) && others.size() < kCrowd) {
          others.push_back(spot.ours);
        }
      }
      return others;
    };
    const Spot& hub =
        *std::ranges::max_element(spots_, {}, [&](const Spot& spot) { return reachable_from(spot).size(); });
    const std::vector<MeshPlace> crowd = reachable_from(hub);
    double alone = std::numeric_limits<double>::max();
    double together = alone;
    for (int pass = 0; pass < absl::GetFlag(FLAGS_passes); ++pass) {
      alone = std::min(alone, ThreadMicrosOf([&] {
                         for (const MeshPlace& start : crowd) {
                           core::SearchMesh(mesh_, {.start = start, .goal = hub.ours}, {}, scratch_);
                         }
                       }));
      together = std::min(together, ThreadMicrosOf([&] {
                            core::SearchOneToMany(
                                mesh_, hub.ours, core::HubEnd::kGoal, crowd,
                                std::numeric_limits<std::uint64_t>::max(), {}, scratch_,
                                [](std::size_t /*other*/, const core::MeshSearchReport& /*report*/) {});
                          }));
    }
    std::cout << absl::StreamFormat(
        "%d paths to one goal: %.2f us each alone, %.2f by one flood, ratio %.2f\n", crowd.size(),
        alone / static_cast<double>(crowd.size()), together / static_cast<double>(crowd.size()),
        together / alone);
  }

  // Times all queries but those of paths. REQUIRES: there is a peer.
  void TimeOthers(int count) {
    constexpr Aim kAim{.ratio = 1.0};
    TimeNearest("nearest point, on it", count, 0.0, kAim);
    TimeNearest("nearest point, beside it", count, DetourPeer::kRadius, kAim);
    TimeRays(count, kAim);
    TimeMoves(count, kAim);
    TimeWalls(count, kAim);
  }

  void TimeRays(int count, const Aim& aim) {
    const std::vector<Way> rays = MakeWays(count, kRayLength);
    const auto ours = [&](std::size_t i) {
      return kRayLength * CastMeshRay(mesh_, rays[i].start.ours, rays[i].goal).fraction;
    };
    const auto theirs = [&](std::size_t i) {
      return kRayLength * peer_->CastRay(rays[i].start.theirs, rays[i].goal);
    };
    TimeRow("ray of 50 m", rays.size(), ours, theirs, aim);
    double length = 0.0;
    double their_length = 0.0;
    int others = 0;
    for (std::size_t i = 0; i < rays.size(); ++i) {
      constexpr double kSame = 0.01;
      others += std::abs(ours(i) - theirs(i)) > kSame ? 1 : 0;
      length += ours(i);
      their_length += theirs(i);
    }
    std::cout << absl::StreamFormat("  rays of %.1f in the mean, Detour's of %.1f; %d of %d end elsewhere\n",
                                    length / count, their_length / count, others, count);
  }

  void TimeMoves(int count, const Aim& aim) {
    const std::vector<Way> moves = MakeWays(count, kMoveLength);
    const auto ours = [&](const Way& move) { return MoveAlongSurface(mesh_, move.start.ours, move.goal); };
    TimeRow(
        "move of 1 m", moves.size(), [&](std::size_t i) { return ours(moves[i]).end.point.x; },
        [&](std::size_t i) { return peer_->Move(moves[i].start.theirs, moves[i].goal).x; }, aim);
    int blocked = 0;
    int nearer = 0;
    int further = 0;
    for (const Way& move : moves) {
      constexpr double kSame = 0.001;
      blocked += ours(move).is_blocked ? 1 : 0;
      const double left = PlanDistance(ours(move).end.point, move.goal);
      const double their_left = PlanDistance(peer_->Move(move.start.theirs, move.goal), move.goal);
      nearer += left < their_left - kSame ? 1 : 0;
      further += left > their_left + kSame ? 1 : 0;
    }
    std::cout << absl::StreamFormat("  %d of %d meet a wall; %d end nearer than Detour's, %d further\n",
                                    blocked, count, nearer, further);
  }

  void TimeWalls(int count, const Aim& aim, double radius = kWallRadius) {
    std::vector<Spot> spots;
    for (int i = 0; i < count; ++i) {
      spots.push_back(AnySpot());
    }
    const auto ours = [&](std::size_t i) {
      const auto report = OrDie(core::FindNearestWall(mesh_, spots[i].ours, radius, {}));
      return report.wall ? report.wall->distance : radius;
    };
    const auto theirs = [&](std::size_t i) { return peer_->DistanceToWall(spots[i].theirs, radius); };
    TimeRow(absl::StrCat("wall within ", radius, " m").c_str(), spots.size(), ours, theirs, aim);
    int others = 0;
    for (std::size_t i = 0; peer_ != nullptr && i < spots.size(); ++i) {
      constexpr double kSame = 0.001;
      others += std::abs(ours(i) - theirs(i)) > kSame ? 1 : 0;
    }
    if (peer_ != nullptr) {
      std::cout << absl::StreamFormat("  %d of %d distances differ from Detour's\n", others, count);
    }
  }

  // Times paths on another state of the mesh, in turns with the mesh itself.
  void TimePathsOn(const NavMesh& mesh, const std::vector<Pair>& pairs) {
    PrintRow("  path",
             TimeByTurns(
                 pairs.size(), absl::GetFlag(FLAGS_passes),
                 [&](std::size_t i) {
                   const auto found = core::FindMeshPath(mesh, pairs[i].query, {}, scratch_);
                   sink = found.ok() ? found->cost : -1.0;
                 },
                 [&](std::size_t i) { sink = FindPath(pairs[i]); }),
             {});
  }

  // Times obstacles that are put, moved and removed while others stand, an overlay, and paths among them.
  void TimeObstacles(int count) {
    constexpr int kStanding = 200;
    NavMesh mesh = mesh_;
    const auto edited = [&](const core::Edit& edit) {
      core::MeshBatchEditor editor(mesh);
      OrDie(editor.Apply({&edit, 1}, absl::UnixEpoch()).status());
      mesh = std::move(editor).Finish();
    };
    const auto put = [&](const std::string& id) {
      const WorldPoint at = AnySpot().position;
      return core::PutMeshObstacle{
          {.obstacle = {.id = id, .shape = {.discs = {{{at.x, at.y}, kObstacleRadius}}}}, .replace = true},
          {at.z - 2.0, at.z + 2.0}};
    };
    for (int i = 0; i < kStanding; ++i) {
      edited(put(absl::StrCat("standing-", i)));
    }
    Sample puts;
    Sample moves;
    Sample removals;
    Sample overlays;
    for (int i = 0; i < count; ++i) {
      const core::PutMeshObstacle crate = put("crate");
      puts.Add(ThreadMicrosOf([&] { edited(crate); }));
      const core::MoveObstacle move{
          .id = "crate", .dx = Any(random_, -1.0, 1.0), .dy = Any(random_, -1.0, 1.0)};
      moves.Add(ThreadMicrosOf([&] { edited(move); }));
      removals.Add(ThreadMicrosOf([&] { edited(core::RemoveObstacle{.id = "crate"}); }));
      overlays.Add(ThreadMicrosOf([&] {
        const auto holes = OrDie(core::HolesOf(crate.put.obstacle.shape, crate.heights, mesh.agent_radius()));
        sink = static_cast<double>(OrDie(ChangeHoles(mesh, {.removed = {}, .added = holes})).corner_count());
      }));
    }
    const auto print = [](const char* name, Sample& sample) {
      std::cout << absl::StreamFormat("%-24s %7d  %8.2f %8.2f %8.2f\n", name, sample.size(), sample.Median(),
                                      sample.Mean(), sample.Percentile(0.99));
    };
    std::cout << absl::StreamFormat("obstacles of radius %.1f, %d stand:\n", kObstacleRadius, kStanding);
    print("  put", puts);
    print("  moved", moves);
    print("  removed", removals);
    print("  overlay of one", overlays);
    std::vector<Pair> pairs = MakePairs({.count = count});
    std::erase_if(pairs, [&](const Pair& pair) {
      return !core::FindMeshPlace(mesh, pair.start.position, {.height = 0.5}) ||
             !core::FindMeshPlace(mesh, pair.goal.position, {.height = 0.5});
    });
    std::cout << "  the same paths among these obstacles, and without:\n";
    TimePathsOn(mesh, pairs);
    MemoryAccount memory(std::size_t{4} << 30);
    const std::size_t few = std::min<std::size_t>(pairs.size(), 50);
    std::cout
        << "  the same paths explained, with the usual prices and where they pass obstacles, and found:\n";
    const auto explain = [&](const char* name, double price) {
      PrintRow(name,
               TimeByTurns(
                   few, absl::GetFlag(FLAGS_passes),
                   [&](std::size_t i) {
                     const auto found = core::ExplainMeshPath({.mesh = mesh, .memory = memory},
                                                              pairs[i].query, {.price = price}, {}, scratch_);
                     sink = found.ok() ? found->cost : -1.0;
                   },
                   [&](std::size_t i) {
                     const auto found = core::FindMeshPath(mesh, pairs[i].query, {}, scratch_);
                     sink = found.ok() ? found->cost : -1.0;
                   }),
               {});
    };
    explain("  explanation", core::BlockerPrices::kDefault);
    explain("  explanation, price 0.5", 0.5);
  }

  // Times ground that is taken away and added, and paths while a ground of 100 polygons is there, in turns
  // with the mesh without it.
  void TimeGround(int count) {
    constexpr int kTimes = 9;
    constexpr int kSide = 10;
    Sample losses;
    Sample gains;
    Sample returns;
    NavMesh mesh = mesh_;
    const auto edited = [&](const core::Edit& edit) {
      core::MeshBatchEditor editor(mesh);
      OrDie(editor.Apply({&edit, 1}, absl::UnixEpoch()).status());
      mesh = std::move(editor).Finish();
    };
    for (int i = 0; i < kTimes; ++i) {
      const WorldPoint at = AnySpot().position;
      core::MeshGround gone{.id = "gone", .region = core::Shape{.discs = {{{at.x, at.y}, 5.0}}}};
      core::MeshGround more{.id = "more"};
      // Above everything else.
      const double z = mesh_.bounds().high.z + 10.0;
      for (int k = 0; k < kSide * kSide; ++k) {
        const double x = at.x + k % kSide;
        const double y = at.y + static_cast<double>(k / kSide);
        more.polygons.push_back({.corners = {{x, y, z}, {x + 1, y, z}, {x + 1, y + 1, z}, {x, y + 1, z}}});
      }
      losses.Add(ThreadMicrosOf([&] { edited(core::PutGround{gone}); }));
      edited(core::RemoveGround{"gone"});
      gains.Add(ThreadMicrosOf([&] { edited(core::PutGround{more}); }));
      if (i + 1 < kTimes) {
        returns.Add(ThreadMicrosOf([&] { edited(core::RemoveGround{"more"}); }));
      }
    }
    std::cout << absl::StreamFormat(
        "ground taken away %.1f ms, 100 polygons added %.1f ms, and removed %.3f ms (medians); %.2f MB, and "
        "%.2f MB without; paths with them, and without:\n",
        losses.Median() / 1e3, gains.Median() / 1e3, returns.Median() / 1e3,
        static_cast<double>(mesh.own_bytes()) / 1e6, static_cast<double>(mesh_.own_bytes()) / 1e6);
    const std::vector<Pair> pairs = MakePairs({.count = count});
    TimePathsOn(mesh, pairs);
  }

  // Times paths among jumps that cost as much as the way to walk, in turns with the mesh without them, and
  // updates of one jump and of one obstacle.
  void TimePortals(int count) {
    constexpr double kJump = 10.0;
    const std::vector<Pair> pairs = MakePairs({.count = count});
    int jumps = 0;
    const auto any_jump = [&]() -> core::Edit {
      while (true) {
        const Way way = MakeWays(1, kJump).front();
        if (const auto to = core::FindMeshPlace(mesh_, way.goal, {.radius = kJump / 2, .height = kJump})) {
          return core::PutMeshPortal{.portal = {.id = absl::StrCat("jump-", jumps++),
                                                .from = way.start.position,
                                                .to = to->point,
                                                .cost = PlanDistance(way.start.position, to->point),
                                                .both_ways = true}};
        }
      }
    };
    for (const int portals : {64, 1000, 65'535}) {
      NavMesh mesh = mesh_;
      // A jump to where another one leads is refused.
      const auto edit = [&](const std::vector<core::Edit>& batch) {
        core::MeshBatchEditor editor(mesh);
        const bool is_done = editor.Apply(batch, absl::UnixEpoch()).ok();
        mesh = is_done ? std::move(editor).Finish() : mesh;
      };
      while (mesh.portals().size() < static_cast<std::size_t>(portals)) {
        edit({any_jump()});
      }
      Sample jump;
      Sample crate;
      for (int i = 0; i < count; ++i) {
        const std::vector<core::Edit> one = {any_jump()};
        jump.Add(ThreadMicrosOf([&] { edit(one); }));
        const std::string& id = std::get<core::PutMeshPortal>(one.front()).portal.id;
        edit({core::RemovePortal{.id = id}});
        const WorldPoint at = AnySpot().position;
        const core::Edit put = core::PutMeshObstacle{
            {.obstacle = {.id = "crate", .shape = {.discs = {{{at.x, at.y}, kObstacleRadius}}}}},
            {at.z - 2.0, at.z + 2.0}};
        crate.Add(ThreadMicrosOf([&] { edit({put}); }));
        edit({core::RemoveObstacle{.id = "crate"}});
      }
      std::cout << absl::StreamFormat(
          "%d jumps; one more %.1f us, p99 %.1f; an obstacle %.1f us, p99 %.1f; paths, and without jumps:\n",
          portals, jump.Median(), jump.Percentile(0.99), crate.Median(), crate.Percentile(0.99));
      NoOtherMaps world;
      PrintRow(
          "  path",
          TimeByTurns(
              pairs.size(), absl::GetFlag(FLAGS_passes),
              [&](std::size_t i) {
                core::MeshPortalNet net(mesh, world, {});
                const auto found = core::FindMeshPathThroughPortals(net, {pairs[i].query, {}}, {}, scratch_);
                sink = found.ok() ? found->path.cost : -1.0;
              },
              [&](std::size_t i) { sink = FindPath(pairs[i]); }),
          {});
    }
  }

  // Times obstacles that are put and removed among others, beside Detour's tile cache. Both block the same
  // ground: Detour's obstacles are as large as ours are after they are widened. Ours makes a new revision of
  // the mesh each time, Detour changes its only one.
  void TimeBesideTileCache(const std::filesystem::path& path, int count) {
    const std::string bytes = BytesOfFile(path);
    for (const int standing : {0, 100}) {
      const auto cache = TileCache::Load(bytes, standing + 1);
      if (cache == nullptr) {
        Die(absl::StrCat("Detour does not take the tile cache ", path.string()));
      }
      NavMesh mesh = mesh_;
      const auto edited = [&](const core::Edit& edit) {
        core::MeshBatchEditor editor(mesh);
        OrDie(editor.Apply({&edit, 1}, absl::UnixEpoch()).status());
        mesh = std::move(editor).Finish();
      };
      const double radius = kObstacleRadius + mesh.agent_radius();
      TurnTimes puts;
      TurnTimes removals;
      for (int i = 0; i < standing + count; ++i) {
        const WorldPoint at = AnySpot().position;
        const std::string id = absl::StrCat("crate-", i);
        const core::PutMeshObstacle crate{
            {.obstacle = {.id = id, .shape = {.discs = {{{at.x, at.y}, kObstacleRadius}}}}},
            {at.z - 2.0, at.z + 2.0}};
        dtObstacleRef theirs = 0;
        const double own = ThreadMicrosOf([&] { edited(crate); });
        const double other = ThreadMicrosOf([&] {
          theirs = cache->PutCylinder({at.x, at.y, at.z - 2.0}, radius, 4.0);
        });
        if (theirs == 0) {
          Die("Detour does not take an obstacle");
        }
        if (i < standing) {
          continue;
        }
        puts.ours.single.Add(own);
        puts.theirs.single.Add(other);
        removals.ours.single.Add(ThreadMicrosOf([&] { edited(core::RemoveObstacle{.id = id}); }));
        removals.theirs.single.Add(ThreadMicrosOf([&] { cache->Remove(theirs); }));
      }
      std::cout << absl::StreamFormat("obstacles beside the tile cache, %.1f with the agent, %d stand:\n",
                                      radius, standing);
      for (auto& [name, times] : {std::pair{"  put", &puts}, std::pair{"  removed", &removals}}) {
        times->ours.mean = times->ours.single.Mean();
        times->theirs.mean = times->theirs.single.Mean();
        PrintRow(name, *times, {});
      }
    }
  }

  void PrintMemory(double square_metres) const {
    const auto ours = static_cast<double>(mesh_.memory_bytes());
    std::cout << absl::StreamFormat("memory: %.0f kB", ours / 1e3);
    if (peer_ != nullptr) {
      const auto theirs = static_cast<double>(peer_->memory_bytes());
      std::cout << absl::StreamFormat(", Detour's %.0f kB, ratio %.2f", theirs / 1e3, ours / theirs);
    }
    if (square_metres > 0.0) {
      const double megabytes = ours / square_metres;
      std::cout << absl::StreamFormat("; %.1f MB a square kilometre, aim <= %.0f %s", megabytes,
                                      kMegabytesAim, megabytes <= kMegabytesAim ? "" : "MISSED");
    }
    std::cout << absl::StreamFormat("; working memory of searches %.0f kB\n",
                                    static_cast<double>(scratch_.memory_bytes()) / 1e3);
    if (elsewhere_ > 0) {
      std::cout << absl::StreamFormat("%d of %d points are not used: Detour finds them elsewhere\n",
                                      elsewhere_, elsewhere_ + spots_.size());
    }
    if (peer_ != nullptr) {
      std::cout << absl::StreamFormat("%d of %d heights differ from Detour's by over %.1f\n", other_heights_,
                                      spots_.size(), kHeightAim);
    }
  }

  // Finds the places of a file's scenarios and compares the lengths; ends the program if one differs.
  void TimeScenarios(const std::filesystem::path& path) {
    std::vector<Pair> pairs;
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    double most = 0.0;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string skipped;
      Pair pair;
      WorldPoint& start = pair.start.position;
      WorldPoint& goal = pair.goal.position;
      double length = 0.0;
      words >> skipped >> skipped >> skipped >> skipped >> start.x >> start.y >> goal.x >> goal.y >> length;
      pair.query = {.start = start, .goals = {goal}};
      const core::MeshPathResult found = OrDie(core::FindMeshPath(mesh_, pair.query, {}, scratch_));
      // The mesh rounds its vertices to 2^-20, which moves each corner by half as much in x and in y.
      const double moved = std::ldexp(1.0, -20) * static_cast<double>(found.corners.size());
      const double off = std::abs(found.cost - length);
      most = std::max(most, off);
      if (found.outcome != core::Outcome::kFound || off > moved + 1e-9 * length) {
        Die(absl::StrCat("wrong length ", found.cost, " of scenario ", line));
      }
      pairs.push_back(pair);
    }
    TimeRow(
        "scenarios", pairs.size(), [&](std::size_t i) { return FindPath(pairs[i]); },
        [](std::size_t) { return 0.0; }, {});
    std::cout << absl::StreamFormat("  all %d lengths are right, to %.1e\n", pairs.size(), most);
  }

 private:
  static constexpr std::size_t kScratchBytes = std::size_t{256} << 20;

  // Returns whether Detour finds the spot where we do, and notes where.
  bool IsThere(Spot& spot) {
    constexpr double kHeights = 1.0;
    constexpr double kPlan = 1e-4;
    spot.theirs = peer_->FindNearest(spot.position);
    const WorldPoint found = spot.theirs.position();
    const double off = std::abs(found.z - spot.position.z);
    if (spot.theirs.polygon == 0 || PlanDistance(found, spot.position) >= kPlan || off >= kHeights) {
      return false;
    }
    other_heights_ += off > kHeightAim ? 1 : 0;
    return true;
  }

  template <typename Ours, typename Theirs>
  TurnTimes TimeRow(const char* name, std::size_t count, Ours ours, Theirs theirs, const Aim& aim) const {
    const int passes = absl::GetFlag(FLAGS_passes);
    const auto own = [&](std::size_t i) { sink = ours(i); };
    const auto other = [&](std::size_t i) { sink = theirs(i); };
    TurnTimes times =
        peer_ == nullptr ? TimeAlone(count, passes, own) : TimeByTurns(count, passes, own, other);
    PrintRow(name, times, aim);
    return times;
  }

  // Returns what a path costs, from ground that is looked up every tenth of a unit.
  double CostAlong(const std::vector<WorldPoint>& corners) const {
    double cost = 0.0;
    for (std::size_t i = 1; i < corners.size(); ++i) {
      const double length = PlanDistance(corners[i - 1], corners[i]);
      const int parts = static_cast<int>(length * 10.0) + 1;
      for (int part = 0; part < parts; ++part) {
        const double share = (part + 0.5) / parts;
        const auto between = [&](double a, double b) { return a + share * (b - a); };
        const WorldPoint& a = corners[i - 1];
        const WorldPoint& b = corners[i];
        const auto place = mesh_.FindNearest(
            {{between(a.x, b.x), between(a.y, b.y), between(a.z, b.z)}, kSnap.radius, kSnap.height});
        cost += place ? mesh_.CostOf(place->polygon) * length / parts : 0.0;
      }
    }
    return cost;
  }

  const Spot& AnySpot() {
    return spots_[static_cast<std::size_t>(random_.Between(0, static_cast<int>(spots_.size()) - 1))];
  }

  struct Way {
    Spot start;
    WorldPoint goal;
  };
  // Ways of that length from any spots, in any direction.
  std::vector<Way> MakeWays(int count, double length) {
    std::vector<Way> ways;
    for (int i = 0; i < count; ++i) {
      Way way{AnySpot(), {}};
      const double angle = Any(random_, 0.0, 6.28);
      way.goal = way.start.position;
      way.goal.x += length * std::cos(angle);
      way.goal.y += length * std::sin(angle);
      ways.push_back(way);
    }
    return ways;
  }

  std::vector<Pair> MakePairs(const PairWish& wish) {
    const int tries = 10'000 * wish.count;
    std::vector<Pair> pairs;
    for (int i = 0; i < tries && pairs.size() < static_cast<std::size_t>(wish.count); ++i) {
      const Spot& start = AnySpot();
      const Spot& goal = AnySpot();
      const double distance = PlanDistance(start.position, goal.position);
      const bool is_reachable = mesh_.PartOf(start.ours.polygon) == mesh_.PartOf(goal.ours.polygon);
      if (is_reachable == (wish.goals == Goals::kReachable) && distance >= wish.least_distance &&
          distance <= wish.most_distance) {
        pairs.push_back({start, goal, {.start = start.position, .goals = {goal.position}, .snap = kSnap}});
      }
    }
    return pairs;
  }

  double FindPath(const Pair& pair, double tolerance = 0.0) {
    core::MeshQuery query = pair.query;
    query.tolerance = tolerance;
    const auto result = core::FindMeshPath(mesh_, query, {}, scratch_);
    return result.ok() ? result->cost : -1.0;
  }

  bool FindTheirPath(const Pair& pair) {
    const DetourPlace start = peer_->FindNearest(pair.start.position);
    return peer_->FindPath(start, peer_->FindNearest(pair.goal.position));
  }

  // Times the same paths where they may be longer than the shortest.
  void TimeTolerance(const std::vector<Pair>& pairs) {
    constexpr double kTolerance = 0.05;
    TimeRow(
        "  within 5 %", pairs.size(), [&](std::size_t i) { return FindPath(pairs[i], kTolerance); },
        [&](std::size_t i) { return FindTheirPath(pairs[i]); }, {.ratio = 0.5});
    double shortest = 0.0;
    double found = 0.0;
    for (const Pair& pair : pairs) {
      shortest += FindPath(pair);
      found += FindPath(pair, kTolerance);
    }
    std::cout << absl::StreamFormat("  %.2f %% longer than the shortest\n", 100.0 * (found / shortest - 1.0));
  }

  // Compares all paths with Detour's. Returns how many intervals a query expands.
  double Compare(const std::vector<Pair>& pairs, bool is_reachable) {
    double length = 0.0;
    double their_length = 0.0;
    int asked = 0;
    int disagreeing = 0;
    int longer = 0;
    int theirs_longer = 0;
    double expanded = 0.0;
    for (const Pair& pair : pairs) {
      const core::MeshPathResult found = OrDie(core::FindMeshPath(mesh_, pair.query, {}, scratch_));
      expanded += static_cast<double>(found.statistics.expanded);
      if (peer_ == nullptr) {
        length += found.cost;
        continue;
      }
      const bool is_found = found.outcome == core::Outcome::kFound;
      if (is_found != peer_->FindPath(pair.start.theirs, pair.goal.theirs)) {
        ++disagreeing;
        continue;
      }
      if (is_found) {
        ++asked;
        const double theirs = peer_->PathLength();
        length += found.cost;
        their_length += theirs;
        longer += found.cost > theirs + kDetourRounding ? 1 : 0;
        theirs_longer += theirs > found.cost * 1.0005 ? 1 : 0;
      }
    }
    const auto count = static_cast<double>(pairs.size());
    if (peer_ == nullptr) {
      if (is_reachable) {
        std::cout << absl::StreamFormat("  lengths %.4f in all; %.0f intervals expanded a query\n", length,
                                        expanded / count);
      }
      return expanded / count;
    }
    if (is_reachable) {
      std::cout << absl::StreamFormat(
          "  lengths %.4f in all, Detour's %.4f (%+.2f %%), of %d; ours longer by over %.0e: %d, Detour's by "
          "over 0.05 %%: %d; %.0f intervals expanded a query\n",
          length, their_length, 100.0 * (their_length / length - 1.0), asked, kDetourRounding, longer,
          theirs_longer, expanded / count);
    }
    if (disagreeing > 0 || peer_->exhausted_count() > 0) {
      std::cout << absl::StreamFormat("  %d with a path for one alone; Detour ran out of nodes %d times\n",
                                      disagreeing, peer_->exhausted_count());
    }
    failed |= longer > 0;
    return expanded / count;
  }

  void TimeNearest(const char* name, int count, double offset, const Aim& aim) {
    std::vector<WorldPoint> positions;
    for (int i = 0; i < count; ++i) {
      WorldPoint position = AnySpot().position;
      position.x += Any(random_, -offset, offset);
      position.y += Any(random_, -offset, offset);
      position.z += Any(random_, -0.5, 0.5);
      positions.push_back(position);
    }
    const auto ours = [&](std::size_t i) {
      return mesh_.FindNearest({positions[i], kSnap.radius, kSnap.height}).has_value();
    };
    const auto theirs = [&](std::size_t i) { return peer_->FindNearest(positions[i]).polygon != 0; };
    TimeRow(name, positions.size(), ours, theirs, aim);
    int found = 0;
    int found_by_them = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      found += ours(i) ? 1 : 0;
      found_by_them += theirs(i) ? 1 : 0;
    }
    if (found != found_by_them) {
      std::cout << absl::StreamFormat("  found %d, Detour %d of %d\n", found, found_by_them, count);
    }
  }

  const NavMesh& mesh_;
  DetourPeer* const peer_;
  int other_heights_ = 0;
  Random random_;
  core::MeshScratch scratch_{kScratchBytes};
  std::vector<Spot> spots_;
  int elsewhere_ = 0;
  double area_ = 0.0;
};

// Prints how long the bytes of a Detour file take to load, the least of several times: ours and Detour's.
void PrintLoading(const std::string& bytes) {
  constexpr int kTimes = 3;
  constexpr double kMillis = 1e-3;
  double ours = std::numeric_limits<double>::max();
  double theirs = std::numeric_limits<double>::max();
  for (int i = 0; i < kTimes; ++i) {
    ours = std::min(ours, ThreadMicrosOf([&] { OrDie(core::ParseDetourMesh(bytes)); }));
    theirs = std::min(theirs, ThreadMicrosOf([&] { DetourPeer peer(bytes); }));
  }
  std::cout << absl::StreamFormat("loading: %.1f ms, Detour's %.1f ms, ratio %.1f\n", kMillis * ours,
                                  kMillis * theirs, ours / theirs);
}

// `tile_cache` is a file of the same level, or empty.
PathFigures TimeDetourFile(const std::filesystem::path& path, const std::filesystem::path& tile_cache = {}) {
  const std::string bytes = BytesOfFile(path);
  const core::DetourMesh read = OrDie(core::ParseDetourMesh(bytes));
  DetourPeer peer(bytes);
  MeshTimer timer(read.mesh, &peer);
  std::cout << absl::StreamFormat("\n%s: %d polygons, %d cells, Detour's %d in %d tiles; %d parts, %.0f m2\n",
                                  path.filename().string(), read.mesh.polygon_count(),
                                  core::CellLayer(read.mesh).cell_count(), peer.polygon_count(),
                                  peer.tile_count(), read.mesh.part_count(), timer.area());
  PrintHeads();
  const int count = absl::GetFlag(FLAGS_queries);
  const PathFigures paths = timer.TimePaths({.count = count}, {.ratio = kSmallPathAim});
  timer.TimePaths({.count = count, .goals = Goals::kOutOfReach}, {.micros = kUnreachableMicrosAim});
  timer.TimeCrowd();
  timer.TimeOthers(count);
  timer.TimeObstacles(count);
  timer.TimeGround(count);
  if (std::filesystem::exists(tile_cache)) {
    timer.TimeBesideTileCache(tile_cache, count);
  }
  timer.PrintMemory(0.0);
  PrintLoading(bytes);
  return paths;
}

// Times the Detour meshes of a folder in the order of their names, and sums up their paths.
void TimeFolder(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) {
    Die(absl::StrCat("no folder ", folder.string()));
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::string table =
      absl::StrFormat("\n%-28s  polygons  ours, us    Detour  ratio  expanded  ns an interval\n", "paths");
  double ours = 0.0;
  double theirs = 0.0;
  double logarithms = 0.0;
  int count = 0;
  for (const std::filesystem::path& file : files) {
    const PathFigures paths = TimeDetourFile(file);
    if (paths.expanded > 0.0) {
      ++count;
      ours += paths.ours;
      theirs += paths.theirs;
      logarithms += std::log(paths.ours / paths.theirs);
      absl::StrAppendFormat(&table, "%-28s  %8d  %8.2f  %8.2f  %5.2f  %8.1f  %14.1f\n",
                            file.filename().string(), paths.polygons, paths.ours, paths.theirs,
                            paths.ours / paths.theirs, paths.expanded, 1e3 * paths.search / paths.expanded);
    }
  }
  std::cout << table
            << absl::StreamFormat("%d files: ratio of the sums %.2f, geometric mean of the ratios %.2f\n",
                                  count, ours / theirs, std::exp(logarithms / count));
}

// Returns the bytes of a Detour file whose polygons have area 1, 2 or 3, by squares of 20 units.
std::string Painted(std::string mset) {
  const auto read = [&](std::size_t offset, auto value) {
    std::memcpy(&value, mset.data() + offset, sizeof(value));
    return value;
  };
  const std::size_t head = 12 + sizeof(dtNavMeshParams);
  std::size_t at = head;
  const bool is_wide = read(at + 16, int()) == DT_NAVMESH_MAGIC;
  for (int left = read(8, int()); left > 0; --left) {
    const auto size = static_cast<std::size_t>(read(at + (is_wide ? 8 : 4), int()));
    at += is_wide ? 16 : 8;
    const auto header = read(at, dtMeshHeader());
    const std::size_t vertices = at + sizeof(dtMeshHeader);
    for (int i = 0; i < header.polyCount; ++i) {
      const std::size_t place = vertices + 12 * static_cast<std::size_t>(header.vertCount) +
                                sizeof(dtPoly) * static_cast<std::size_t>(i);
      auto polygon = read(place, dtPoly());
      const std::size_t first = vertices + 12 * std::size_t{polygon.verts[0]};
      const auto square = [&](std::size_t offset) {
        return static_cast<int>(std::floor(read(first + offset, float()) / 20.0F));
      };
      const unsigned mixed =
          static_cast<unsigned>(square(0) * 73856093) ^ static_cast<unsigned>(square(8) * 19349663);
      polygon.setArea(static_cast<unsigned char>(1 + (mixed >> 3) % 3));
      std::memcpy(mset.data() + place, &polygon, sizeof(polygon));
    }
    at += size;
  }
  return mset;
}

// Times the Detour meshes of a folder with ground that costs.
void TimeCosts(const std::filesystem::path& folder) {
  constexpr double kCosts[] = {1.0, 1.0, 2.0, 5.0};
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.insert(entry.path());
  }
  for (const std::filesystem::path& file : files) {
    const std::string bytes = Painted(BytesOfFile(file));
    const NavMesh mesh = OrDie(core::ParseDetourMesh(bytes)).mesh;
    core::AreaCosts costs = mesh.costs();
    DetourPeer peer(bytes);
    for (std::size_t area = 0; area < mesh.terrains().size(); ++area) {
      // Terrains of the same area with other flags have longer names.
      for (int number = 1; number <= 3; ++number) {
        if (absl::StartsWith(mesh.terrains()[area].name, absl::StrCat("area-", number))) {
          costs[area] = kCosts[number];
        }
        peer.SetCost(number, kCosts[number]);
      }
    }
    const NavMesh bare = mesh.WithPortals(core::MeshPortalTable(mesh.polygon_count()));
    const NavMesh view = OrDie(bare.WithCosts(costs));
    std::cout << absl::StreamFormat("\n%s: %d polygons\n", file.filename().string(), view.polygon_count());
    PrintHeads();
    MeshTimer(view, &peer).TimeCosts(absl::GetFlag(FLAGS_queries));
  }
}

void TimePolyanyaFile(const std::filesystem::path& path) {
  const NavMesh mesh = OrDie(core::ParsePolyanyaMesh(BytesOfFile(path)));
  MeshTimer timer(mesh, nullptr);
  std::cout << absl::StreamFormat("\n%s: %d polygons, %d parts, alone\n", path.filename().string(),
                                  mesh.polygon_count(), mesh.part_count());
  PrintHeads();
  const int count = absl::GetFlag(FLAGS_queries);
  timer.TimePaths({.count = count}, {});
  timer.TimePaths({.count = count, .goals = Goals::kOutOfReach}, {.micros = kUnreachableMicrosAim});
  // The others' scenarios are of a grid, whose paths go from cell to cell.
  if (path.filename() == "scene_mp_2p_01.mesh") {
    timer.TimeScenarios(path.string() + ".scen");
  }
  timer.TimeObstacles(count);
  timer.TimeGround(count);
  timer.TimePortals(count);
  timer.PrintMemory(0.0);
}

void TimeWorld(int tiles) {
  constexpr double kTileMetres = 19.2;
  std::string bytes;
  const double making = ThreadMicrosOf([&] { bytes = MakeMeshWorld(tiles); });
  std::optional<core::DetourMesh> read;
  const double reading = ThreadMicrosOf([&] { read = OrDie(core::ParseDetourMesh(bytes)); });
  DetourPeer peer(bytes);
  MeshTimer timer(read->mesh, &peer);
  const double square_metres = kTileMetres * kTileMetres * tiles * tiles;
  std::cout << absl::StreamFormat(
      "\nworld of %.2f km2: %d polygons, Detour's %d in %d tiles; %d parts, %.0f m2 of ground; made by "
      "Recast "
      "in %.1f s, read by us in %.2f s\n",
      square_metres / 1e6, read->mesh.polygon_count(), peer.polygon_count(), peer.tile_count(),
      read->mesh.part_count(), timer.area(), making / 1e6, reading / 1e6);
  PrintHeads();
  const int count = absl::GetFlag(FLAGS_world_queries);
  std::cout << "start and goal 680 to 720 m apart:\n";
  timer.TimePaths({.count = count, .least_distance = 680.0, .most_distance = 720.0},
                  {.ratio = kWorldPathAim});
  std::cout << "start and goal 20 to 100 m apart:\n";
  timer.TimePaths({.count = count, .least_distance = 20.0, .most_distance = 100.0}, {.ratio = kWorldPathAim});
  timer.TimePaths({.count = count, .goals = Goals::kOutOfReach}, {.micros = kUnreachableMicrosAim});
  timer.TimeOthers(absl::GetFlag(FLAGS_queries));
  timer.TimeObstacles(absl::GetFlag(FLAGS_queries));
  timer.PrintMemory(square_metres);
}

// A floor of so many squares a side, whose walls are its border alone.
void TimeOpenGround(int side) {
  core::MeshSpec spec;
  const auto vertex_at = [&](int x, int y) { return static_cast<std::uint32_t>(y * (side + 1) + x); };
  for (int y = 0; y <= side; ++y) {
    for (int x = 0; x <= side; ++x) {
      spec.vertices.push_back({static_cast<double>(x), static_cast<double>(y), 0.0});
    }
  }
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      spec.AddPolygon({vertex_at(x, y), vertex_at(x + 1, y), vertex_at(x + 1, y + 1), vertex_at(x, y + 1)});
    }
  }
  const NavMesh mesh = OrDie(NavMesh::Create(std::move(spec)));
  MeshTimer timer(mesh, nullptr);
  std::cout << absl::StreamFormat("\nopen ground of %d squares\n", mesh.polygon_count());
  PrintHeads();
  timer.TimeWalls(absl::GetFlag(FLAGS_queries), {.micros = kOpenWallMicrosAim}, 2.0 * side);
  timer.TimeObstacles(absl::GetFlag(FLAGS_queries));
}

// Builds the mesh of a world by ourselves, with one thread and with two in turns; the least times count.
void TimeBuilding(int tiles) {
  constexpr double kTileKilometres = 0.0192;
  constexpr double kSecondsAim = 8.0;
  constexpr double kEfficiencyAim = 0.9;
  constexpr int kTurns = 3;
  const level::LevelGeometry geometry = MakeLevelWorld(tiles);
  const double square_kilometres = kTileKilometres * kTileKilometres * tiles * tiles;
  std::cout << absl::StreamFormat("\nbuilding a level of %.2f km2, %d triangles, cell 0.3\n",
                                  square_kilometres, geometry.triangles.size());
  for (const double radius : {0.3, 0.6, 1.5}) {
    const level::BuildSettings settings =
        OrDie(level::MakeSettings({.agent_radius = radius, .cell_size = 0.3, .cell_height = 0.2}));
    std::optional<NavMesh> mesh;
    const auto build = [&](int threads) { mesh = OrDie(level::BuildMesh(geometry, settings, threads)); };
    double seconds = std::numeric_limits<double>::max();
    double one = std::numeric_limits<double>::max();
    double two = std::numeric_limits<double>::max();
    for (int i = 0; i < kTurns; ++i) {
      const std::clock_t before = std::clock();
      one = std::min(one, MicrosOf([&] { build(1); }));
      seconds =
          std::min(seconds, static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / square_kilometres);
      two = std::min(two, MicrosOf([&] { build(2); }));
    }
    const double efficiency = one / two / 2.0;
    std::cout << absl::StreamFormat(
        "radius %.1f: %.2f CPU s a km2 <= %.0f %s; two threads: efficiency %.2f >= %.1f %s\n", radius,
        seconds, kSecondsAim, seconds <= kSecondsAim ? "" : "MISSED", efficiency, kEfficiencyAim,
        efficiency >= kEfficiencyAim ? "" : "MISSED");
    MeshTimer timer(*mesh, nullptr);
    std::cout << absl::StreamFormat("  %d polygons, %d parts, %.0f m2 of ground\n", mesh->polygon_count(),
                                    mesh->part_count(), timer.area());
    timer.TimePaths({.count = absl::GetFlag(FLAGS_world_queries)}, {});
  }
}

int Run() {
  const std::optional<std::filesystem::path> folder = DataFolder();
  if (!folder || !std::filesystem::exists(*folder / "meshes")) {
    std::cerr << "WAYSTAR_DATA names no folder with meshes/; they are left out\n";
  } else {
    const auto is_wanted = [](const char* name) {
      return absl::StrContains(name, absl::GetFlag(FLAGS_meshes));
    };
    for (const char* level : {"all_tiles", "dungeon_all_tiles"}) {
      const std::string name = absl::StrCat(level, "_navmesh.bin");
      if (is_wanted(name.c_str())) {
        const std::filesystem::path meshes = *folder / "meshes" / "detour";
        TimeDetourFile(meshes / name, meshes / absl::StrCat(level, "_tilecache.bin"));
      }
    }
    for (const char* name :
         {"arena.mesh", "arena-merged.mesh", "aurora.mesh", "aurora-merged.mesh", "scene_mp_2p_01.mesh"}) {
      if (is_wanted(name)) {
        TimePolyanyaFile(*folder / "meshes" / "polyanya" / name);
      }
    }
  }
  if (const std::string more = absl::GetFlag(FLAGS_folder); !more.empty()) {
    TimeFolder(more);
  }
  if (const std::string more = absl::GetFlag(FLAGS_costs); !more.empty()) {
    TimeCosts(more);
  }
  if (absl::GetFlag(FLAGS_open_ground)) {
    for (const int side : {50, 100, 200, 400, 1000}) {
      TimeOpenGround(side);
    }
  }
  if (const int tiles = absl::GetFlag(FLAGS_world_tiles); tiles > 0) {
    TimeWorld(std::min(tiles, 64));
  }
  if (const int tiles = absl::GetFlag(FLAGS_build_tiles); tiles > 0) {
    TimeBuilding(std::min(tiles, 64));
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace waystar::bench

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  return waystar::bench::Run();
}
