#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/input.h"
#include "client/cli/progress.h"

namespace waystar::cli {
namespace {

constexpr char kStandardInput[] = "-";

struct ImportArguments {
  std::string file;
  // Of what the colours, values and names in it stand for; empty: none.
  std::string terrains_file;
  v1::ImportMapHeader header;
};

std::string ReadAll(std::istream& in) {
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

ExitCode Send(const v1::ImportMapHeader& header, std::istream& file, bool can_seek, Session& session) {
  absl::StatusOr<v1::ImportMapResponse> response;
  {
    Progress progress(session, "importing", Progress::Unit::kBytes);
    const auto tell = [&progress](int64_t sent, int64_t size) { progress.Show(sent, size); };
    response = can_seek ? session.client().ImportMap(header, file, tell)
                        : session.client().ImportMap(header, ReadAll(file));
  }
  if (!response.ok()) {
    return session.Fail(response.status());
  }
  if (session.options().json) {
    session.PrintJson(*response);
    return ExitCode::kOk;
  }
  if (response->info().has_graph()) {
    const v1::WaypointGraphInfo& graph = response->info().graph();
    session.io().out << "Imported " << response->info().map() << ": " << graph.nodes() << " nodes, "
                     << graph.edges() << " one-way edges, revision " << response->info().revision() << ".\n";
    return ExitCode::kOk;
  }
  const v1::GridInfo& grid = response->info().grid();
  session.io().out << "Imported " << response->info().map() << ": " << grid.width() << " x " << grid.height()
                   << " cells, " << grid.walkable_cells() << " of them walkable, revision "
                   << response->info().revision() << ".\n";
  return ExitCode::kOk;
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
  if (arguments.file == kStandardInput) {
    if (header.map().empty()) {
      return session.FailUsage("a map that is read from standard input needs a name: --as NAME");
    }
    return Send(header, session.io().in, /*can_seek=*/false, session);
  }
  if (header.map().empty()) {
    header.set_map(std::filesystem::path(arguments.file).stem().string());
  }
  std::error_code error;
  if (std::filesystem::is_directory(arguments.file, error)) {
    return session.FailUsage(absl::StrCat("cannot read ", arguments.file, ": it is a folder"));
  }
  std::ifstream file(arguments.file, std::ios::binary);
  if (!file) {
    return session.FailUsage(absl::StrCat("cannot read ", arguments.file, ": ", std::strerror(errno)));
  }
  return Send(header, file, std::filesystem::is_regular_file(arguments.file, error), session);
}

}  // namespace

void AddImportCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<ImportArguments>();
  v1::ImportMapHeader& header = arguments->header;
  CLI::App& command = *parent.add_subcommand("import", "Creates a map from a file");
  command.add_option("FILE", arguments->file, "The file; '-' reads standard input")
      ->required()
      ->type_name(kFileType);
  command
      .add_option_function<std::string>(
          "--as", [&header](const std::string& map) { header.set_map(map); },
          "The new map's name [the file's, without its extension]")
      ->type_name("NAME");
  AddChoice<v1::MapFormat>(
      command, "--format", [&header](v1::MapFormat format) { header.set_format(format); },
      {{"text", v1::MAP_FORMAT_TEXT},
       {"moving_ai", v1::MAP_FORMAT_MOVING_AI},
       {"tiled", v1::MAP_FORMAT_TILED},
       {"ldtk", v1::MAP_FORMAT_LDTK},
       {"image", v1::MAP_FORMAT_IMAGE},
       {"geojson", v1::MAP_FORMAT_GEO_JSON}},
      "How to read the file [by what is in it]");
  command
      .add_option("--terrains", arguments->terrains_file,
                  "What colours, values and names stand for, a line each, such as \"#3060a0 water 3\"")
      ->type_name(kFileType);
  command
      .add_option_function<std::string>(
          "--level",
          [&header](const std::string& level) { header.mutable_import_options()->set_level(level); },
          "The level to read, of an LDtk file with several")
      ->type_name("NAME");
  command
      .add_option_function<std::vector<std::string>>(
          "--layer",
          [&header](const std::vector<std::string>& layers) {
            for (const std::string& layer : layers) {
              header.mutable_import_options()->add_layers(layer);
            }
          },
          "A layer to read, of Tiled or LDtk [all that are visible]")
      ->type_name("NAME");
  AddGridOptions(command, *header.mutable_grid());
  command.footer(
      "Examples:\n"
      "  waystar map import arena.txt\n"
      "  waystar map import AR0072SR.map --as ruins\n"
      "  waystar map import village.tmj\n"
      "  waystar map import isle.png --terrains isle.terrains\n"
      "  waystar map import world.ldtk --level Entrance --as entrance\n"
      "  waystar map import valley.txt --terrain '~=river:3' --terrain '^=peak:impassable'\n"
      "  make-dungeon | waystar map import - --as dungeon --connectivity 4\n");
  command.callback([arguments, &session] { session.exit_code = Import(*arguments, session); });
}

}  // namespace waystar::cli
