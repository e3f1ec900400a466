#include "client/record/replay.h"

#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/errors.h"
#include "client/record/compare.h"
#include "client/record/methods.h"

namespace waystar::record {
namespace {

using Clock = std::chrono::steady_clock;

// The revisions of one map that stand for each other.
struct Bases {
  std::uint64_t recorded = 0;
  std::uint64_t now = 0;
  // The map's epoch now; 0 if it is not known.
  std::uint64_t epoch = 0;
};

std::int64_t Relative(std::uint64_t revision, std::uint64_t base) {
  return revision == 0 ? -1 : static_cast<std::int64_t>(revision) - static_cast<std::int64_t>(base);
}

bool IsWanted(const Unit& unit, Only only) {
  return only == Only::kEverything || (only == Only::kUpdates) == unit.is_update;
}

// Turns the versions that a request names, of the recorded map, into those of the map now.
void ShiftVersions(const Bases& bases, bool names_the_map, google::protobuf::Message& request) {
  if (request.GetDescriptor() == v1::Version::descriptor()) {
    auto& version = static_cast<v1::Version&>(request);
    if (version.revision() != 0) {
      version.set_revision(version.revision() - bases.recorded + bases.now);
    }
    if (names_the_map && version.epoch() != 0 && bases.epoch != 0) {
      version.set_epoch(bases.epoch);
    }
    return;
  }
  const google::protobuf::Reflection& reflection = *request.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(request, &fields);
  for (const auto* const field : fields) {
    if (field->message_type() == nullptr) {
      continue;
    }
    if (!field->is_repeated()) {
      ShiftVersions(bases, names_the_map, *reflection.MutableMessage(&request, field));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(request, field); ++i) {
      ShiftVersions(bases, names_the_map, *reflection.MutableRepeatedMessage(&request, field, i));
    }
  }
}

class Player {
 public:
  Player(std::vector<Unit> units, const client::Options& client_options, const ReplayOptions& options)
      : units_(std::move(units)),
        options_(options),
        timeout_(client_options.timeout),
        client_(client_options),
        connection_(client_options) {}

  const absl::Status& status() const { return connection_.status(); }

  absl::Status Play(absl::FunctionRef<void(const ReplayProgress&)> tell) {
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (options_.speed) {
        const double nanos = static_cast<double>(units_[i].begin_nanos) / *options_.speed;
        const auto due = begin + std::chrono::nanoseconds(static_cast<std::int64_t>(nanos));
        absl::SleepFor(absl::FromChrono(due - Clock::now()));
      }
      if (const absl::Status status = PlayOne(i); !status.ok()) {
        return status;
      }
      tell({i + 1, units_.size()});
    }
    report_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return absl::OkStatus();
  }

  ReplayReport& report() { return report_; }

 private:
  absl::Status PlayOne(std::size_t i) {
    Unit& unit = units_[i];
    FindBases(i);
    const CallResult now = unit.method == kImportMap ? Import(unit) : Call(unit);
    const auto code = static_cast<absl::StatusCode>(now.status.code());
    const bool is_out_of_reach =
        code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kUnauthenticated;
    if (is_out_of_reach && unit.status.code() != now.status.code()) {
      return {code, now.status.message()};
    }
    Compare(unit, now);
    // All that is needed of it from here on.
    unit = Unit();
    return absl::OkStatus();
  }

  // Before the first call about a map that is there already: where it is, then and now.
  void FindBases(std::size_t i) {
    const Unit& unit = units_[i];
    if (unit.map.empty() || CreatesMap(unit) || bases_.contains(unit.map)) {
      return;
    }
    Bases bases;
    const auto first = std::find_if(units_.begin() + static_cast<std::ptrdiff_t>(i), units_.end(),
                                    [&](const Unit& u) { return u.map == unit.map && u.revision > 0; });
    if (first != units_.end()) {
      // A map is not deleted by an update that makes a revision.
      const bool makes_revision = first->method == kUpdateObstacles;
      bases.recorded = first->revision - (makes_revision ? 1 : 0);
    }
    v1::GetMapRequest request;
    request.set_map(unit.map);
    if (const auto info = client_.GetMap(request); info.ok()) {
      bases.now = info->info().version().revision();
      bases.epoch = info->info().version().epoch();
    }
    bases_[unit.map] = bases;
  }

  CallResult Call(const Unit& unit) {
    const std::string request = ShiftExpectation(unit);
    const grpc::Slice slice(request);
    const grpc::ByteBuffer bytes(&slice, 1);
    grpc::ByteBuffer answer;
    grpc::ClientContext context;
    connection_.Prepare(context, timeout_);
    std::promise<grpc::Status> ended;
    grpc::GenericStub stub(connection_.channel());
    stub.UnaryCall(&context, "/" + unit.method, {}, &bytes, &answer,
                   [&ended](grpc::Status status) { ended.set_value(std::move(status)); });
    const grpc::Status status = ended.get_future().get();
    CallResult result;
    FillEnd(status, result.status);
    if (status.ok()) {
      result.response = BytesOf(answer);
    }
    return result;
  }

  CallResult Import(const Unit& unit) {
    v1::ImportMapHeader header;
    static_cast<void>(header.ParseFromString(unit.request));
    const auto response = client_.ImportMap(header, unit.file);
    CallResult result;
    result.status = client::ToMessage(response.status());
    if (response.ok()) {
      result.response = response->SerializeAsString();
    }
    return result;
  }

  std::string ShiftExpectation(const Unit& unit) const {
    const auto bases = bases_.find(unit.map);
    const auto* const method = FindMethod(unit.method);
    const auto request =
        bases == bases_.end() || method == nullptr ? nullptr : ParseAs(*method->input_type(), unit.request);
    if (request == nullptr) {
      return unit.request;
    }
    // This map has another epoch, unless that is what the recorded call was refused for.
    const bool names_the_map = client::ReasonOf(client::FromMessage(unit.status)) != "MAP_REPLACED";
    ShiftVersions(bases->second, names_the_map, *request);
    if (unit.method == kUpdateObstacles) {
      static_cast<v1::UpdateObstaclesRequest&>(*request).clear_request_time();
    }
    return request->SerializeAsString();
  }

  void Compare(const Unit& unit, CallResult now) {
    const v1::Version version = now.status.code() == 0 ? VersionIn(unit.method, now.response) : v1::Version();
    if (CreatesMap(unit) && version.revision() > 0) {
      bases_[unit.map] = {.recorded = unit.revision, .now = version.revision(), .epoch = version.epoch()};
    }
    CallResult before{.response = unit.response, .status = unit.status};
    if (const auto bases = bases_.find(unit.map); bases != bases_.end()) {
      before.relative_revision = Relative(unit.revision, bases->second.recorded);
      now.relative_revision = Relative(version.revision(), bases->second.now);
    }
    ++report_.played;
    ++(unit.is_update ? report_.updates : report_.queries);
    std::string what = Difference(unit.method, before, now);
    if (what.empty()) {
      return;
    }
    ++report_.differing;
    if (report_.differences.size() < ReplayReport::kMostKept) {
      report_.differences.push_back({unit.call, unit.method, unit.map, std::move(what)});
    }
  }

  std::vector<Unit> units_;
  const ReplayOptions options_;
  const absl::Duration timeout_;
  const client::Client client_;
  const client::Connection connection_;
  absl::flat_hash_map<std::string, Bases> bases_;
  ReplayReport report_;
};

}  // namespace

absl::StatusOr<ReplayReport> Replay(Units units, const client::Options& client_options,
                                    const ReplayOptions& options,
                                    absl::FunctionRef<void(const ReplayProgress&)> tell) {
  auto& all = units.units;
  all.erase(
      std::remove_if(all.begin(), all.end(), [&](const Unit& unit) { return !IsWanted(unit, options.only); }),
      all.end());
  Player player(std::move(all), client_options, options);
  if (!player.status().ok()) {
    return player.status();
  }
  if (const absl::Status status = player.Play(tell); !status.ok()) {
    return status;
  }
  player.report().left_out = std::move(units.left_out);
  return std::move(player.report());
}

}  // namespace waystar::record
