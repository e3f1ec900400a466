#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/arguments.h"
#include "client/cli/completion/completion.h"
#include "client/cli/exit_code.h"
#include "client/cli/message_text.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/load/report_text.h"

namespace waystar::cli {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

ExitCode CheckHealth(const HealthCheckRequest& request, Session& session) {
  const auto response = session.client().CheckHealth(request);
  if (absl::IsNotFound(response.status())) {
    return session.Fail(
        absl::NotFoundError(absl::StrCat("the server has no service '", request.service(), "'")));
  }
  const bool is_serving = response.ok() && response->status() == HealthCheckResponse::SERVING;
  const auto print = [&](const HealthCheckResponse& answer) {
    session.io().out << HealthCheckResponse::ServingStatus_Name(answer.status()) << "\n";
  };
  return session.Answer(response, print, is_serving ? ExitCode::kOk : ExitCode::kUnavailable);
}

ExitCode ShowInfo(const v1::GetServerInfoRequest& /*request*/, Session& session) {
  return session.Answer(session.client().GetServerInfo(), [&](const auto& info) {
    session.io().out << FactsText(info, session.table_width());
  });
}

ExitCode SetLogLevel(const v1::SetLogLevelRequest& request, Session& session) {
  return session.Answer(session.client().SetLogLevel(request), [&](const auto& response) {
    session.io().out << "The log level is " << EnumText(request.level()) << " now; it was "
                     << EnumText(response.previous()) << ".\n";
  });
}

}  // namespace

void AddHealthCommand(CLI::App& parent, Session& session) {
  const auto [command, request] =
      AddCommand(parent, session, "health", "Tells whether the server is serving", &CheckHealth,
                 "Examples:\n"
                 "  waystar health\n"
                 "  waystar health waystar.v1.PathService --server game-7:7450\n");
  AddField(command, "SERVICE", request, "service",
           "A gRPC service, such as waystar.v1.PathService [the server as a whole]");
}

void AddInfoCommand(CLI::App& parent, Session& session) {
  AddCommand(parent, session, "info", "Tells what the server is and what it takes", &ShowInfo,
             "Examples:\n  waystar info\n  waystar info --json | jq .limits\n");
}

void AddLogLevelCommand(CLI::App& parent, Session& session) {
  const auto [command, request] = AddCommand(
      parent, session, "log-level", "Sets which lines the server logs, while it runs", &SetLogLevel,
      "Examples:\n  waystar log-level debug\n  waystar log-level warning --server game-7:7450\n");
  AddField(command, "LEVEL", request, "level", "Lines of this level and of more serious ones",
           "debug|info|warning|error")
      ->required();
}

namespace {

absl::StatusOr<std::string> ParseMatching(absl::string_view text, const char* pattern,
                                          absl::string_view complaint) {
  if (std::regex_match(text.begin(), text.end(), std::regex(pattern))) {
    return std::string(text);
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not ", complaint));
}

absl::StatusOr<std::string> ParseTokenName(absl::string_view text) {
  return ParseMatching(text, "[A-Za-z0-9_.-]{1,63}",
                       "1 to 63 of the characters A-Z, a-z, 0-9, '_', '.' and '-'");
}

absl::StatusOr<std::string> ParseGrant(absl::string_view text) {
  return ParseMatching(text, "(read|update|admin):[a-z0-9_.*-]{1,63}",
                       "read:MAPS, update:MAPS or admin:MAPS, such as update:arena-*");
}

// Returns 256 random bits with a prefix by which secret scanners can detect them.
absl::StatusOr<std::string> NewToken() {
  std::array<unsigned char, 32> bits{};
  if (RAND_bytes(bits.data(), bits.size()) != 1) {
    return absl::InternalError("this machine has no random numbers");
  }
  return absl::StrCat("wst_", absl::WebSafeBase64Escape(absl::string_view(
                                  reinterpret_cast<const char*>(bits.data()), bits.size())));
}

std::string Sha256(absl::string_view text) {
  std::array<unsigned char, 32> hash{};
  EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

struct TokenArguments {
  std::string name;
  std::vector<std::string> grants;
};

ExitCode MakeToken(const TokenArguments& arguments, Session& session) {
  const absl::StatusOr<std::string> token = NewToken();
  if (!token.ok()) {
    return session.Fail(token.status());
  }
  const std::string line =
      absl::StrCat(arguments.name, " sha256:", Sha256(*token), " ", absl::StrJoin(arguments.grants, " "));
  if (session.options().json) {
    session.io().out << load::ToJson(load::Record{{"token", *token}, {"line", line}}) << "\n";
  } else {
    session.io().out << "The token, which is kept nowhere else:\n"
                     << *token << "\nIts line in the server's --tokens_file:\n"
                     << line << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddTokenCommand(CLI::App& parent, Session& session) {
  const auto [command, arguments] =
      AddCommand(parent, session, "token", "Makes a token, and its line for the server's file", &MakeToken,
                 "Examples:\n"
                 "  waystar token game-server-1 'update:arena-*' read:lobby\n"
                 "  waystar token editor 'admin:*' --json\n");
  AddParsed(
      command, "NAME", &ParseTokenName, [&name = arguments.name](const std::string& text) { name = text; },
      "Who gets it; several may have one name")
      ->required()
      ->type_name("");
  AddParsedList(
      command, "PERMISSION", &ParseGrant,
      [&grants = arguments.grants](const std::string& grant) { grants.push_back(grant); },
      "read:MAPS, update:MAPS (and read) or admin:MAPS (and both), where * stands for any characters of an "
      "id")
      ->required()
      ->type_name("");
}

namespace {

constexpr char kUnknown[] = "-";

std::vector<TableRow> ServerRows(const v1::ListServersResponse& list) {
  std::vector<TableRow> rows = {
      {"ADDRESS", "VERSION", "SINCE", "MAPS", "ETCD REVISION", "LAG", "HEARD OF ETCD", ""}};
  for (const v1::ServerPresence& server : list.servers()) {
    rows.push_back({server.address(), server.version(), MessageText(server.start_time()),
                    absl::StrCat(server.maps()),
                    list.is_fleet() ? absl::StrCat(server.etcd_revision()) : kUnknown,
                    list.is_fleet() ? absl::StrCat(server.lag()) : kUnknown,
                    server.has_staleness() ? MessageText(server.staleness()) : kUnknown,
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
  std::optional<std::uint64_t> revision;
  // The number of revisions that it is behind, unless it has another map.
  std::optional<std::uint64_t> behind;
  std::string problem;
};

MapAt AskServer(const std::string& address, const std::string& map, const v1::Version& latest,
                const Session& session) {
  client::Options options = session.ClientOptions();
  options.target = address;
  // Where nobody answers, that is what is to be told.
  options.retry = false;
  v1::GetMapRequest request;
  request.set_map(map);
  const auto response = client::Client(options).GetMap(request);
  MapAt at{.address = address};
  if (!response.ok()) {
    at.problem = IsUnreachable(response.status()) ? "not reached" : std::string(response.status().message());
    return at;
  }
  const v1::Version& version = response->info().version();
  at.revision = version.revision();
  if (version.epoch() == latest.epoch()) {
    at.behind = latest.revision() - std::min(latest.revision(), version.revision());
  } else {
    at.problem = "has another map of that name";
  }
  return at;
}

void PrintMapTable(const std::vector<MapAt>& servers, Session& session) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? absl::StrCat(*value) : kUnknown;
  };
  std::vector<TableRow> rows = {{"ADDRESS", "REVISION", "BEHIND BY", ""}};
  for (const MapAt& at : servers) {
    rows.push_back({at.address, number(at.revision), number(at.behind), at.problem});
  }
  session.PrintTable(rows);
}

std::string MapJson(const std::string& map, const std::vector<MapAt>& servers, const v1::Version& latest) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? load::Value(*value) : load::Value();
  };
  std::vector<load::Record> rows;
  rows.reserve(servers.size());
  for (const MapAt& at : servers) {
    rows.push_back({{"address", at.address},
                    {"revision", number(at.revision)},
                    {"behind_by", number(at.behind)},
                    {"problem", at.problem.empty() ? load::Value() : load::Value(at.problem)}});
  }
  return load::ToJson(load::Record{{"map", map},
                                   {"epoch", absl::StrCat(latest.epoch())},
                                   {"revision", latest.revision()},
                                   {"servers", rows}}) +
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
  const v1::Version& version = latest->info().version();
  std::vector<MapAt> servers;
  for (const v1::ServerPresence& server : list->servers()) {
    servers.push_back(AskServer(server.address(), map, version, session));
  }
  if (session.options().json) {
    session.io().out << MapJson(map, servers, version);
  } else {
    session.io().out << map << " is at revision " << version.revision() << ".\n";
    PrintMapTable(servers, session);
  }
  return ExitCode::kOk;
}

// Without a map, lists the servers.
ExitCode ShowCluster(const std::string& map, Session& session) {
  return map.empty() ? ShowServers(session) : ShowMap(map, session);
}

}  // namespace

void AddClusterCommand(CLI::App& parent, Session& session) {
  const auto [command, map] = AddCommand(
      parent, session, "cluster",
      "Lists the servers of the fleet; with a map, which revision each of them has", &ShowCluster,
      "What servers report about themselves is up to 5 s old. For a map each server is asked by the address\n"
      "that it is listed with (--advertise of waystar-server), with the same --tls and --token as the first\n"
      "one.\n\n"
      "Examples:\n"
      "  waystar cluster\n"
      "  waystar cluster arena --server game-7:7450\n"
      "  waystar cluster --json | jq -r '.servers[].address'\n");
  command.add_option("MAP", map, "Ask each server for the revision of this map")->type_name(kMapType);
}

}  // namespace waystar::cli
