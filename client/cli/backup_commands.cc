#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/files.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/errors.h"

namespace waystar::cli {
namespace {

namespace fs = std::filesystem;

// Says which maps a backup has, at which revision and with which digest: a ListMapsResponse as JSON. It is
// written last, so a backup that has it is whole.
constexpr char kManifest[] = "backup.json";

constexpr char kNotKept[] =
    "An image holds all of a map but its epoch and revision, which start again, the time of its creation, "
    "and the request_ids that were applied to it.\n\n";

std::string ImagePath(const std::string& folder, const std::string& map) {
  return (fs::path(folder) / (map + ".waymap")).string();
}

// Ids have no such characters; this is for servers and backups that cannot be trusted.
bool IsFileName(const std::string& map) {
  return !map.empty() && map.front() != '.' && map.find('/') == std::string::npos;
}

absl::StatusOr<client::ExportedMap> Export(const std::string& map, Session& session) {
  if (!IsFileName(map)) {
    return absl::DataLossError(
        absl::StrCat("a map of the server is called \"", map, "\", which is not a name"));
  }
  v1::ExportMapRequest request;
  request.set_map(map);
  request.set_format(v1::MAP_FORMAT_WAYSTAR);
  Progress progress(session, absl::StrCat("exporting ", map));
  return session.client().ExportMap(request, Shown(progress));
}

ExitCode Backup(const std::string& folder, Session& session) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return session.FailUsage(absl::StrCat("cannot create ", folder, ": ", error.message()));
  }
  const std::string manifest = (fs::path(folder) / kManifest).string();
  if (fs::exists(manifest, error)) {
    return session.FailUsage(absl::StrCat(folder, " holds a backup already: give another folder"));
  }
  const auto maps = AllPages(session.client(), v1::ListMapsRequest(), &client::Client::ListMaps);
  if (!maps.ok()) {
    return session.Fail(maps.status());
  }
  v1::ListMapsResponse saved;
  for (const v1::MapInfo& info : maps->maps()) {
    const absl::StatusOr<client::ExportedMap> map = Export(info.map(), session);
    if (absl::IsNotFound(map.status())) {
      session.io().err << "waystar: " << info.map() << " was deleted meanwhile; skipping it\n";
      continue;
    }
    if (!map.ok()) {
      return session.Fail(map.status());
    }
    if (const absl::Status written = WriteDurably(ImagePath(folder, info.map()), map->bytes); !written.ok()) {
      return session.FailUsage(written);
    }
    const v1::MapInfo& exported = map->header.info();
    *saved.add_maps() = exported;
    if (session.options().json) {
      session.PrintJson(map->header);
    } else {
      session.io().out << exported.map() << " at revision " << exported.version().revision() << ", digest "
                       << DigestText(exported.digest()) << ", " << map->bytes.size() << " bytes\n";
    }
  }
  if (const absl::Status written = WriteDurably(manifest, ToJson(saved, /*pretty=*/true)); !written.ok()) {
    return session.FailUsage(written);
  }
  if (!session.options().json) {
    session.io().out << "Saved " << Counted(saved.maps_size(), "map") << " in " << folder << ".\n";
  }
  return ExitCode::kOk;
}

struct RestoreArguments {
  std::string folder;
  // Empty for all.
  std::vector<std::string> maps;
  bool skip_existing = false;
  bool replace = false;
};

// Returns the maps of a backup that are asked for. An error says what is wrong with it.
absl::StatusOr<std::vector<v1::MapInfo>> ReadManifest(const RestoreArguments& arguments, std::istream& in) {
  const std::string path = (fs::path(arguments.folder) / kManifest).string();
  const auto json = ReadInput(path, in);
  if (!json.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read ", path, ": ", json.status().message(), "; a backup that is whole has it"));
  }
  const auto manifest = FromJson<v1::ListMapsResponse>(*json, /*ignore_unknown_fields=*/true);
  if (!manifest.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not what `waystar backup` writes"));
  }
  std::set<std::string> wanted(arguments.maps.begin(), arguments.maps.end());
  std::vector<v1::MapInfo> maps;
  for (const v1::MapInfo& info : manifest->maps()) {
    if (!arguments.maps.empty() && wanted.erase(info.map()) == 0) {
      continue;
    }
    std::error_code error;
    if (!IsFileName(info.map()) || !fs::is_regular_file(ImagePath(arguments.folder, info.map()), error)) {
      return absl::InvalidArgumentError(absl::StrCat("the backup has no image of ", info.map()));
    }
    maps.push_back(info);
  }
  if (!wanted.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the backup has no map ", absl::StrJoin(wanted, ", ")));
  }
  return maps;
}

absl::StatusOr<std::set<std::string>> ExistingMaps(Session& session) {
  const auto all = AllPages(session.client(), v1::ListMapsRequest(), &client::Client::ListMaps);
  if (!all.ok()) {
    return all.status();
  }
  std::set<std::string> names;
  for (const v1::MapInfo& info : all->maps()) {
    names.insert(info.map());
  }
  return names;
}

ExitCode RestoreMap(const v1::MapInfo& saved, const RestoreArguments& arguments, bool exists,
                    Session& session) {
  const std::string path = ImagePath(arguments.folder, saved.map());
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return session.FailUsage(absl::StrCat("cannot read ", path));
  }
  v1::ImportMapHeader header;
  header.set_map(saved.map());
  header.set_format(v1::MAP_FORMAT_WAYSTAR);
  header.set_replace(arguments.replace);
  header.set_expected_digest(saved.digest());
  absl::StatusOr<v1::ImportMapResponse> response;
  {
    Progress progress(session, absl::StrCat("importing ", saved.map()));
    response = session.client().ImportMap(header, file, Shown(progress));
  }
  if (client::ReasonOf(response.status()) == "DIGEST_MISMATCH") {
    return session.Fail(absl::DataLossError(
        absl::StrCat(path, " is not the map that was saved: ", response.status().message(),
                     exists ? "; the map on the server stays as it was" : "; nothing was created")));
  }
  return session.Answer(response, [&](const v1::ImportMapResponse& answer) {
    session.io().out << (exists ? "Replaced " : "Restored ") << saved.map() << " as of revision "
                     << saved.version().revision() << ", digest " << DigestText(answer.info().digest())
                     << ". It is at revision " << answer.info().version().revision() << ".\n";
  });
}

ExitCode Restore(const RestoreArguments& arguments, Session& session) {
  const absl::StatusOr<std::vector<v1::MapInfo>> saved = ReadManifest(arguments, session.io().in);
  if (!saved.ok()) {
    return session.FailUsage(saved.status());
  }
  const absl::StatusOr<std::set<std::string>> existing = ExistingMaps(session);
  if (!existing.ok()) {
    return session.Fail(existing.status());
  }
  // It is said before anything is changed.
  std::vector<std::string> in_the_way;
  for (const v1::MapInfo& info : *saved) {
    if (existing->count(info.map()) > 0) {
      in_the_way.push_back(info.map());
    }
  }
  if (!in_the_way.empty() && !arguments.skip_existing && !arguments.replace) {
    return session.Fail(absl::AlreadyExistsError(
        absl::StrCat("the server has these maps already: ", absl::StrJoin(in_the_way, ", "),
                     "; --skip-existing leaves them, --replace replaces them")));
  }
  for (const v1::MapInfo& info : *saved) {
    const bool exists = existing->count(info.map()) > 0;
    if (exists && arguments.skip_existing) {
      if (!session.options().json) {
        session.io().out << "Skipped " << info.map() << ", which the server has.\n";
      }
      continue;
    }
    if (const ExitCode code = RestoreMap(info, arguments, exists, session); code != ExitCode::kOk) {
      return code;
    }
  }
  return ExitCode::kOk;
}

}  // namespace

void AddBackupCommands(CLI::App& parent, Session& session) {
  const auto backup =
      AddCommand(parent, session, "backup", "Saves all maps of a running server in a folder", &Backup,
                 absl::StrCat("Each map is saved as of one revision, while it may change. ", kNotKept,
                              "Examples:\n"
                              "  waystar backup monday\n"));
  AddFile(backup.app, "DIR", backup.arguments, "A folder that holds no backup; it is created")->required();
  const auto [command, arguments] = AddCommand(
      parent, session, "restore", "Creates the maps that a backup holds", &Restore,
      absl::StrCat("The server checks each image and its digest before it changes anything. ", kNotKept,
                   "Examples:\n"
                   "  waystar restore monday\n"
                   "  waystar restore monday arena --replace\n"));
  AddFile(command, "DIR", arguments.folder, "The folder of the backup")->required();
  command.add_option("MAP", arguments.maps, "The maps to restore [all]")->type_name(kMapType);
  command.add_flag("--skip-existing", arguments.skip_existing, "Leave maps that the server has");
  command.add_flag("--replace", arguments.replace, "Replace maps that the server has, each in one step")
      ->excludes("--skip-existing");
}

}  // namespace waystar::cli
