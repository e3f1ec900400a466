#include <memory>
#include <string>

#include "absl/status/status.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"

namespace waystar::cli {
namespace {

struct ExportArguments {
  v1::ExportMapRequest request;
  // Empty for standard output.
  std::string file;
};

ExitCode Export(const ExportArguments& arguments, Session& session) {
  if (arguments.file.empty() && session.options().json) {
    return session.FailUsage("--json needs -o FILE, for the map itself goes to standard output");
  }
  absl::StatusOr<client::ExportedMap> map;
  {
    Progress progress(session, "exporting", Progress::Unit::kBytes);
    map = session.client().ExportMap(
        arguments.request, [&progress](int64_t received, int64_t size) { progress.Show(received, size); });
  }
  if (!map.ok()) {
    return session.Fail(map.status());
  }
  if (arguments.file.empty()) {
    session.io().out << map->bytes;
    return ExitCode::kOk;
  }
  if (const absl::Status written = WriteOutput(arguments.file, map->bytes); !written.ok()) {
    return session.FailUsage(std::string(written.message()));
  }
  if (session.options().json) {
    session.PrintJson(map->header);
  } else {
    session.io().out << "Wrote " << arguments.file << ": " << arguments.request.map() << " at revision "
                     << map->header.info().revision() << ", " << map->bytes.size() << " bytes.\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddExportCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<ExportArguments>();
  v1::ExportMapRequest& request = arguments->request;
  CLI::App& command = *parent.add_subcommand("export", "Writes a map as a file");
  AddMap(command, *request.mutable_map());
  command.add_option("-o,--output", arguments->file, "The file to write [standard output]")
      ->type_name(kFileType);
  AddChoice<v1::MapFormat>(
      command, "--format", [&request](v1::MapFormat format) { request.set_format(format); },
      {{"text", v1::MAP_FORMAT_TEXT}, {"moving_ai", v1::MAP_FORMAT_MOVING_AI}}, "The file's format [text]");
  command.footer(
      "Examples:\n"
      "  waystar map export arena > arena.txt\n"
      "  waystar map export arena -o arena.map --format moving_ai\n");
  command.callback([arguments, &session] { session.exit_code = Export(*arguments, session); });
}

}  // namespace waystar::cli
