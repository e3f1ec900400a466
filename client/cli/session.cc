#include "client/cli/session.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/arguments.h"
#include "client/errors.h"
#include "client/target.h"

namespace waystar::cli {

bool Session::UsesColor() const {
  return options_.color == ColorChoice::kAuto ? io_.is_terminal && !io_.no_color
                                              : options_.color == ColorChoice::kAlways;
}

std::size_t Session::table_width() const {
  return io_.is_terminal ? static_cast<std::size_t>(io_.window.columns) : kAnyWidth;
}

client::Options Session::ClientOptions() const {
  client::Options options = options_.connection;
  options.timeout = options_.timeout.value_or(options.timeout);
  options.transfer_timeout = options_.timeout.value_or(options.transfer_timeout);
  options.stream_timeout = options_.timeout.value_or(options.stream_timeout);
  return options;
}

const client::Client& Session::client() {
  if (!client_) {
    client_ = std::make_unique<client::Client>(ClientOptions());
  }
  return *client_;
}

const absl::StatusOr<v1::MapInfo>& Session::InfoOf(const std::string& map) {
  const auto known = infos_.find(map);
  if (known != infos_.end()) {
    return known->second;
  }
  v1::GetMapRequest request;
  request.set_map(map);
  const absl::StatusOr<v1::GetMapResponse> got = client().GetMap(request);
  return infos_.emplace(map, got.ok() ? absl::StatusOr<v1::MapInfo>(got->info()) : got.status())
      .first->second;
}

void Session::PrintJson(const google::protobuf::Message& message) {
  io_.out << ToJson(message, io_.is_terminal);
}

void Session::PrintTable(const std::vector<TableRow>& rows, bool names_only) {
  if (!names_only) {
    io_.out << FormatTable(rows, table_width());
    return;
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    io_.out << rows[i].front() << "\n";
  }
}

std::string Session::MeantText(const absl::Status& status) {
  if (client::ReasonOf(status) == "MAP_NOT_FOUND") {
    const std::vector<std::string> parts = absl::StrSplit(status.message(), '"');
    const auto all = AllPages(client(), v1::ListMapsRequest(), &client::Client::ListMaps);
    if (parts.size() != 3 || !all.ok()) {
      return "";
    }
    std::vector<std::string> names;
    for (const v1::MapInfo& info : all->maps()) {
      names.push_back(info.map());
    }
    const std::string meant = Suggest(parts[1], names);
    return meant.empty() ? "" : absl::StrCat("\nDid you mean '", meant, "'?");
  }
  // A cell that was typed as two words became the names of two nodes.
  if (absl::EndsWith(client::FieldOf(status), ".node")) {
    const auto is_number = [](const std::string& word) {
      int number = 0;
      return absl::SimpleAtoi(word, &number);
    };
    const auto pair = std::ranges::adjacent_find(
        words, [&](const std::string& x, const std::string& y) { return is_number(x) && is_number(y); });
    return pair == words.end() ? ""
                               : absl::StrCat("\nA cell is one word: write ", *pair, ",", *(pair + 1), ".");
  }
  return "";
}

std::string Session::TextOf(const absl::Status& status) {
  const std::string server =
      client::GrpcTarget(options_.connection.target).value_or(options_.connection.target);
  if (!IsUnreachable(status)) {
    return ErrorText(status, server) + MeantText(status);
  }
  const std::string why = WhyUnreachable(options_.connection, server);
  if (!why.empty()) {
    return why;
  }
  // The RPC library may report another address of the name, at which nothing listens.
  const auto health = client().CheckHealth({});
  const bool is_not_serving =
      health.ok() && health->status() == grpc::health::v1::HealthCheckResponse::NOT_SERVING;
  return is_not_serving ? NotServing(server) : ErrorText(status, server);
}

ExitCode Session::Fail(const absl::Status& status) {
  if (client_ && !client_->status().ok()) {
    return FailUsage(client_->status());
  }
  if (options_.json) {
    io_.err << ToJson(status, /*pretty=*/false);
  } else {
    io_.err << "waystar: " << TextOf(status) << "\n";
  }
  return ExitCodeFor(status);
}

ExitCode Session::FailUsage(absl::string_view sentence) {
  io_.err << "waystar: " << sentence << "\n";
  return ExitCode::kUsage;
}

}  // namespace waystar::cli
