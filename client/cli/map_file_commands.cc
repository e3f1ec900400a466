#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/files.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

constexpr char kStandardInput[] = "-";

// A size of agent that a mesh is built for.
struct AgentSize {
  double radius = 0.0;
  double height = 0.0;
};

struct ImportArguments {
  std::string file;
  // File that defines the colours, values and names in it; empty for none.
  std::string terrains_file;
  v1::ImportMapHeader header;
  // The map has a surface for each; if there are none, one for the agent of the header.
  std::vector<AgentSize> agents;
};

// Adds a build for each agent, with the other options of the build that is there.
void AddBuilds(std::vector<AgentSize> agents, v1::ImportOptions& options) {
  std::ranges::stable_sort(agents, {}, &AgentSize::radius);
  const v1::MeshBuild base = options.build();
  for (std::size_t i = 0; i < agents.size(); ++i) {
    v1::MeshBuild& build = i == 0 ? *options.mutable_build() : *options.add_larger_builds();
    build = base;
    build.set_agent_radius(agents[i].radius);
    build.set_agent_height(agents[i].height);
  }
}

// Reads "human:0.4:1.8".
absl::StatusOr<AgentSize> ParseAgentSize(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  AgentSize agent;
  if (parts.size() != 3 || parts[0].empty() || !absl::SimpleAtod(parts[1], &agent.radius) ||
      !absl::SimpleAtod(parts[2], &agent.height)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not an agent: give NAME:RADIUS:HEIGHT, such as human:0.4:1.8"));
  }
  return agent;
}

// Returns a line that says what a file has and its map has not.
std::string NoteText(const v1::ImportNote& note) {
  std::string text = absl::StrCat("Note: ", note.text());
  if (!note.first_place().empty()) {
    absl::StrAppend(&text, ": ", note.first_place());
  }
  if (note.count() > 1 && note.first_place().empty()) {
    absl::StrAppend(&text, ", ", note.count(), " times");
  } else if (note.count() > 1) {
    absl::StrAppend(&text, " and ", note.count() - 1, " more");
  }
  return absl::StrCat(text, ".\n");
}

ExitCode Send(const v1::ImportMapHeader& header, std::istream& file, bool can_seek, Session& session) {
  absl::StatusOr<v1::ImportMapResponse> response;
  {
    Progress progress(session, "importing");
    response = can_seek ? session.client().ImportMap(header, file, Shown(progress))
                        : session.client().ImportMap(header, ReadToTheEnd(file));
  }
  return session.Answer(response, [&](const v1::ImportMapResponse& answer) {
    const std::string walkable =
        absl::StrCat(", ", answer.info().grid().walkable_cells(), " of them walkable");
    session.io().out << "Imported " << NewMapText(answer.info(), walkable);
    for (const v1::ImportNote& note : answer.notes()) {
      session.io().out << NoteText(note);
    }
  });
}

ExitCode Import(const ImportArguments& arguments, Session& session) {
  v1::ImportMapHeader header = arguments.header;
  if (!arguments.terrains_file.empty()) {
    const auto terrains = ReadInput(arguments.terrains_file, session.io().in);
    if (!terrains.ok()) {
      return session.FailUsage(
          absl::StrCat("cannot read ", arguments.terrains_file, ": ", terrains.status().message()));
    }
    header.mutable_import_options()->set_terrains(*terrains);
  }
  if (!arguments.agents.empty()) {
    AddBuilds(arguments.agents, *header.mutable_import_options());
  }
  if (arguments.file == kStandardInput) {
    if (header.map().empty()) {
      return session.FailUsage("a map that is read from standard input needs a name: --as NAME");
    }
    return Send(header, session.io().in, /*can_seek=*/false, session);
  }
  if (header.map().empty()) {
    header.set_map(std::filesystem::path(arguments.file).stem().string());
  }
  absl::StatusOr<std::ifstream> file = OpenInput(arguments.file);
  if (!file.ok()) {
    return session.FailUsage(absl::StrCat("cannot read ", arguments.file, ": ", file.status().message()));
  }
  std::error_code error;
  return Send(header, *file, std::filesystem::is_regular_file(arguments.file, error), session);
}

struct ExportArguments {
  v1::ExportMapRequest request;
  // Empty for standard output.
  std::string file;
  // True if a file may omit parts of the map.
  bool may_lose = false;
};

bool IsForPeople(const std::string& file, Session& session) {
  return file.empty() ? session.io().is_terminal : std::filesystem::path(file).extension() == ".txt";
}

void AddCounted(int count, const char* thing, std::vector<std::string>& losses) {
  if (count > 0) {
    losses.push_back(Counted(count, thing));
  }
}

// Lists the properties that the Moving AI format cannot express: it only has letters for terrains of cost 1.
void AddOptions(const v1::GridInfo& grid, std::vector<std::string>& losses) {
  AddCounted(grid.profiles_size(), "profile", losses);
  if (grid.squares().connectivity() == v1::CONNECTIVITY_FOUR) {
    losses.emplace_back("the connectivity of 4");
  } else if (grid.has_squares() && grid.squares().diagonal_cost() != std::sqrt(2.0)) {
    losses.emplace_back("the diagonal cost");
  }
  if (!grid.world().empty()) {
    losses.push_back(absl::StrCat("the world ", grid.world()));
  }
  if (grid.cell_size() != 1 || grid.origin().x() != 0 || grid.origin().y() != 0 || grid.origin().z() != 0) {
    losses.emplace_back("the origin and the size of cells");
  }
  if (std::any_of(grid.terrains().begin(), grid.terrains().end(),
                  [](const v1::Terrain& terrain) { return !terrain.impassable() && terrain.cost() != 1; })) {
    losses.emplace_back("the costs of terrains");
  }
}

// Returns the parts of a map that a file of that format omits, such as "2 named obstacles". Terrains below
// obstacles, which the text formats omit, are not listed, as they cannot be walked on.
std::vector<std::string> LossesOf(v1::MapFormat format, const v1::MapInfo& map) {
  std::vector<std::string> losses;
  if (format == v1::MAP_FORMAT_TEXT || format == v1::MAP_FORMAT_MOVING_AI) {
    AddCounted(map.grid().named_obstacles(), "named obstacle", losses);
    AddCounted(map.grid().portals(), "portal", losses);
  }
  if (format == v1::MAP_FORMAT_MOVING_AI) {
    AddOptions(map.grid(), losses);
  }
  return losses;
}

ExitCode Export(const ExportArguments& arguments, Session& session) {
  if (arguments.file.empty() && session.options().json) {
    return session.FailUsage("--json needs -o FILE, for the map itself goes to standard output");
  }
  v1::ExportMapRequest request = arguments.request;
  if (request.format() == v1::MAP_FORMAT_UNSPECIFIED) {
    request.set_format(IsForPeople(arguments.file, session) ? v1::MAP_FORMAT_TEXT : v1::MAP_FORMAT_WAYSTAR);
  }
  absl::StatusOr<client::ExportedMap> map;
  {
    Progress progress(session, "exporting");
    map = session.client().ExportMap(request, Shown(progress));
  }
  if (!map.ok()) {
    return session.Fail(map.status());
  }
  const std::string losses = absl::StrJoin(LossesOf(request.format(), map->header.info()), ", ");
  if (!losses.empty() && !arguments.may_lose) {
    return session.FailUsage(absl::StrCat("files of this format leave out what ", request.map(),
                                          " has: ", losses,
                                          "\n--format waystar keeps all; --lossy writes the file without."));
  }
  if (!losses.empty()) {
    session.io().err << "waystar: not exported: " << losses << "\n";
  }
  if (arguments.file.empty()) {
    session.io().out << map->bytes;
    return ExitCode::kOk;
  }
  if (const absl::Status written = WriteOutput(arguments.file, map->bytes); !written.ok()) {
    return session.FailUsage(written);
  }
  if (session.options().json) {
    session.PrintJson(map->header);
  } else {
    session.io().out << "Wrote " << arguments.file << ": " << arguments.request.map() << " at revision "
                     << map->header.info().version().revision() << ", " << map->bytes.size() << " bytes.\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddImportCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] =
      AddCommand(parent, session, "import", "Creates a map from a file", &Import,
                 "Examples:\n"
                 "  waystar map import arena.txt\n"
                 "  waystar map import isle.png --terrains isle.terrains\n"
                 "  waystar map import world.ldtk --level Entrance --as entrance\n"
                 "  waystar map import valley.txt --terrain '~=river:3' --terrain '^=peak:impassable'\n"
                 "  waystar map import level.navmesh --mesh-terrain 1=water:3\n"
                 "  waystar map import level.obj --as keep --agent human:0.4:1.8 --agent troll:1.2:3\n"
                 "  cat 000.mmap 000????.mmtile | waystar map import - --as azeroth\n"
                 "  make-dungeon | waystar map import - --as dungeon --connectivity 4\n");
  v1::ImportMapHeader& header = arguments.header;
  AddFile(command, "FILE", arguments.file, "The file; '-' reads standard input")->required();
  AddFields(
      command, header,
      {{"--as", "map", "The new map's name [the file's, without its extension]", "NAME"},
       {"--format", "format", "How to read the file [by what is in it]",
        "text|moving_ai|tiled|ldtk|image|geojson=GEO_JSON|polyanya|detour|obj|unity|godot|gltf|waystar"}});
  AddFile(command, "--terrains", arguments.terrains_file,
          "What colours, values and names stand for, a line each, such as \"#3060a0 water 3\"");
  AddFields(
      command, header,
      {{"--level", "import_options.level", "The level to read, of an LDtk file with several", "NAME"},
       {"--layer", "import_options.layers", "A layer to read, of Tiled or LDtk [all that are visible]",
        "NAME"},
       {"--axes", "import_options.axes",
        "Which coordinate of a navigation mesh is the height; unreal: Recast's coordinates of a level of "
        "Unreal [y-up]",
        "y-up|z-up|unreal"},
       {"--weld", "import_options.weld",
        "Within what to join the edges of a navigation mesh, seen from above [0.01]", "LENGTH"},
       {"--mesh-agent-radius", "import_options.agent_radius",
        "By what obstacles on a navigation mesh are widened [the file's, else 0]", "LENGTH"}});
  AddField(
      command, "--mesh-terrain", header, "import_options.mesh_terrains",
      "A kind of ground of a navigation mesh, AREA=NAME:COST, such as 1=water:3 or 2=lava:impassable; may be "
      "repeated [the file's]",
      "TERRAIN")
      ->allow_extra_args(false);
  command.add_flag_callback(
      "--build", [&header] { header.mutable_import_options()->mutable_build(); },
      "The file, OBJ or glTF, is the geometry of a level: build a mesh of it; so does each option below");
  AddFields(
      command, header,
      {{"--agent-radius", "import_options.build.agent_radius", "How far the mesh keeps from walls [0.6]"},
       {"--agent-height", "import_options.build.agent_height", "How much room there must be [2]"},
       {"--agent-climb", "import_options.build.agent_climb", "The highest step that agents take [0.9]"},
       {"--max-slope", "import_options.build.max_slope", "The steepest ground, in degrees [45]"},
       {"--cell-size", "import_options.build.cell_size", "The width of a voxel [half of the radius]"},
       {"--cell-height", "import_options.build.cell_height", "Its height [2/3 of its width]"},
       {"--min-region-area", "import_options.build.min_region_area",
        "The area below which separate pieces of ground are left out [64 voxels]"},
       {"--tile-cells", "import_options.build.tile_cells",
        "The side of the tiles that are built, in voxels [64]"}});
  AddParsedList(
      command, "--agent", &ParseAgentSize,
      [&agents = arguments.agents](const AgentSize& agent) { agents.push_back(agent); },
      "A size of agent to build a surface of the map for, such as troll:1.5:3; may be repeated. The name is "
      "for people")
      ->type_name("NAME:RADIUS:HEIGHT");
  AddGridOptions(command, *header.mutable_grid());
}

void AddExportCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] = AddCommand(
      parent, session, "export", "Writes a map as a file", &Export,
      "Text and moving_ai leave out portals, and named obstacles but for the cells that they block;\n"
      "moving_ai knows neither costs nor options.\n\n"
      "Examples:\n"
      "  waystar map export arena\n"
      "  waystar map export arena -o arena.map --format moving_ai\n");
  AddMap(command, arguments.request);
  AddOutput(command, arguments.file, "The file to write; - is standard output [standard output]");
  AddField(command, "--format", arguments.request, "format",
           "The file's format: waystar keeps all that the map holds [text on a terminal and for FILE.txt, "
           "else waystar]",
           "waystar|text|moving_ai");
  command.add_flag("--lossy", arguments.may_lose,
                   "Write the file though the format leaves out some of what the map holds");
}

}  // namespace waystar::cli
