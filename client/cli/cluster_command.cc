#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/exit_code.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/load/report_text.h"

namespace waystar::cli {
namespace {

constexpr char kUnknown[] = "-";

struct ClusterArguments {
  // Empty to list the servers only.
  std::string map;
};

std::string StartText(const v1::ServerPresence& server) {
  const absl::Time start = absl::FromUnixSeconds(server.start_time().seconds());
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", start, absl::LocalTimeZone());
}

std::string StalenessText(const v1::ServerPresence& server) {
  return server.has_staleness()
             ? absl::StrFormat("%.1f s", absl::ToDoubleSeconds(DurationOf(server.staleness())))
             : kUnknown;
}

std::vector<TableRow> ServerRows(const v1::ListServersResponse& list) {
  std::vector<TableRow> rows = {
      {"ADDRESS", "VERSION", "SINCE", "MAPS", "ETCD REVISION", "LAG", "HEARD OF ETCD", ""}};
  for (const v1::ServerPresence& server : list.servers()) {
    rows.push_back({server.address(), server.version(), StartText(server), absl::StrCat(server.maps()),
                    list.is_fleet() ? absl::StrCat(server.etcd_revision()) : kUnknown,
                    list.is_fleet() ? absl::StrCat(server.lag()) : kUnknown, StalenessText(server),
                    server.is_this() ? "this server" : ""});
  }
  return rows;
}

ExitCode ShowServers(Session& session) {
  return session.Answer(session.client().ListServers(), [&](const v1::ListServersResponse& list) {
    session.PrintTable(ServerRows(list));
    if (!list.is_fleet()) {
      session.io().out << "It is in no fleet.\n";
    }
  });
}

// A server's report about a map.
struct MapAt {
  std::string address;
  absl::StatusOr<v1::Version> version;
};

MapAt AskServer(const std::string& address, const std::string& map, const Session& session) {
  client::Options options = session.ClientOptions();
  options.target = address;
  // Where nobody answers, that is what is to be told.
  options.retry = false;
  v1::GetMapRequest request;
  request.set_map(map);
  const auto response = client::Client(options).GetMap(request);
  return {.address = address,
          .version = response.ok() ? absl::StatusOr<v1::Version>(response->info().version())
                                   : absl::StatusOr<v1::Version>(response.status())};
}

// Returns by how many revisions a server is behind; nothing if it has another map, or does not tell.
std::optional<std::uint64_t> BehindBy(const MapAt& at, const v1::Version& latest) {
  if (!at.version.ok() || at.version->epoch() != latest.epoch()) {
    return std::nullopt;
  }
  return latest.revision() - std::min(latest.revision(), at.version->revision());
}

std::string ProblemOf(const MapAt& at, const v1::Version& latest) {
  if (!at.version.ok()) {
    return IsUnreachable(at.version.status()) ? "not reached" : std::string(at.version.status().message());
  }
  return at.version->epoch() == latest.epoch() ? "" : "has another map of that name";
}

std::vector<TableRow> MapRows(const std::vector<MapAt>& servers, const v1::Version& latest) {
  std::vector<TableRow> rows = {{"ADDRESS", "REVISION", "BEHIND BY", ""}};
  for (const MapAt& at : servers) {
    const std::optional<std::uint64_t> behind = BehindBy(at, latest);
    rows.push_back({at.address, at.version.ok() ? absl::StrCat(at.version->revision()) : kUnknown,
                    behind ? absl::StrCat(*behind) : kUnknown, ProblemOf(at, latest)});
  }
  return rows;
}

std::string MapJson(const std::string& map, const std::vector<MapAt>& servers, const v1::Version& latest) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? load::JsonNumber(*value) : "null";
  };
  const auto row = [&](const MapAt& at) {
    const std::string problem = ProblemOf(at, latest);
    return load::JsonObject(
        {{"address", load::JsonQuoted(at.address)},
         {"revision", number(at.version.ok() ? std::optional(at.version->revision()) : std::nullopt)},
         {"behind_by", number(BehindBy(at, latest))},
         {"problem", problem.empty() ? "null" : load::JsonQuoted(problem)}});
  };
  return load::JsonObject({{"map", load::JsonQuoted(map)},
                           {"epoch", load::JsonQuoted(absl::StrCat(latest.epoch()))},
                           {"revision", load::JsonNumber(latest.revision())},
                           {"servers", load::JsonArray(servers, row)}}) +
         "\n";
}

ExitCode ShowMap(const std::string& map, Session& session) {
  const auto list = session.client().ListServers();
  if (!list.ok()) {
    return session.Fail(list.status());
  }
  // It comes first, so that no server is said to be behind what came after it was asked.
  v1::GetMapRequest request;
  request.set_map(map);
  request.set_latest_of_cluster(true);
  const auto latest = session.client().GetMap(request);
  if (!latest.ok()) {
    return session.Fail(latest.status());
  }
  std::vector<MapAt> servers;
  for (const v1::ServerPresence& server : list->servers()) {
    servers.push_back(AskServer(server.address(), map, session));
  }
  const v1::Version& version = latest->info().version();
  if (session.options().json) {
    session.io().out << MapJson(map, servers, version);
  } else {
    session.io().out << map << " is at revision " << version.revision() << ".\n";
    session.PrintTable(MapRows(servers, version));
  }
  return ExitCode::kOk;
}

ExitCode ShowCluster(const ClusterArguments& arguments, Session& session) {
  return arguments.map.empty() ? ShowServers(session) : ShowMap(arguments.map, session);
}

}  // namespace

void AddClusterCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<ClusterArguments>();
  CLI::App& command = AddCommand(
      parent, session, "cluster",
      "Lists the servers of the fleet; with a map, which revision each of them has", arguments, &ShowCluster);
  command.add_option("MAP", arguments->map, "Ask each server for the revision of this map")
      ->type_name(kMapType);
  command.footer(
      "What servers report about themselves is up to 5 s old. For a map each server is asked by the address\n"
      "that it is listed with (--advertise of waystar-server), with the same --tls and --token as the first\n"
      "one.\n\n"
      "Examples:\n"
      "  waystar cluster\n"
      "  waystar cluster arena --server game-7:7450\n"
      "  waystar cluster --json | jq -r '.servers[].address'\n");
}

}  // namespace waystar::cli
