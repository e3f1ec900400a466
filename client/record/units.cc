#include "client/record/units.h"

#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/errors.h"
#include "client/record/methods.h"
#include "client/record/playing_order.h"
#include "google/protobuf/util/time_util.h"
#include "waystar/v1/map_service.pb.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::record {
namespace {

using google::protobuf::Message;

absl::Status Damaged(const std::string& method) {
  return absl::DataLossError(absl::StrCat("the recording has a message that is none of ", method));
}

// The text of a field, empty if there is none such.
std::string TextOf(const Message& message, const std::string& field) {
  const auto* const found = message.GetDescriptor()->FindFieldByName(field);
  const bool is_text = found != nullptr && !found->is_repeated() &&
                       found->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING;
  return is_text ? message.GetReflection()->GetString(message, found) : "";
}

bool IsByChance(const google::rpc::Status& message) {
  const absl::Status status = client::FromMessage(message);
  return absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status) ||
         client::RetryDelayOf(status) > absl::ZeroDuration();
}

// Reads events one after the other, of many calls that go on at the same time.
class UnitReader {
 public:
  absl::Status Take(const v1::RecordedEvent& event) {
    switch (event.event_case()) {
      case v1::RecordedEvent::kMethod: {
        OpenCall& call = calls_[event.call()];
        call.method = event.method();
        return absl::OkStatus();
      }
      case v1::RecordedEvent::kRequest:
        return TakeRequest(event, calls_[event.call()]);
      case v1::RecordedEvent::kResponse:
        return TakeResponse(event, calls_[event.call()]);
      case v1::RecordedEvent::kEnd:
        TakeEnd(event);
        return absl::OkStatus();
      case v1::RecordedEvent::EVENT_NOT_SET:
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  Units Finish() && {
    for (const auto& [number, call] : calls_) {
      ++units_.left_out[call.method];
    }
    PutInPlayingOrder(units_.units);
    return std::move(units_);
  }

 private:
  struct OpenCall {
    std::string method;
    // Those that are not answered yet, of streams of queries by their ids.
    std::map<std::uint64_t, std::deque<Unit>> waiting;
  };

  static Unit NewUnit(const v1::RecordedEvent& event, const std::string& method, std::string request) {
    Unit unit;
    unit.call = event.call();
    unit.begin_nanos = google::protobuf::util::TimeUtil::DurationToNanoseconds(event.offset());
    unit.method = method;
    unit.request = std::move(request);
    return unit;
  }

  absl::Status TakeRequest(const v1::RecordedEvent& event, OpenCall& call) {
    const std::string& bytes = event.request();
    if (call.method == kStreamFindPath) {
      v1::StreamFindPathRequest message;
      if (!message.ParseFromString(bytes)) {
        return Damaged(call.method);
      }
      for (const v1::StreamedQuery& query : message.queries()) {
        call.waiting[query.id()].push_back(NewUnit(event, kFindPath, query.query().SerializeAsString()));
      }
      return absl::OkStatus();
    }
    if (call.method == kStreamObstacleUpdates) {
      v1::StreamObstacleUpdatesRequest message;
      if (!message.ParseFromString(bytes)) {
        return Damaged(call.method);
      }
      call.waiting[0].push_back(NewUnit(event, kUpdateObstacles, message.update().SerializeAsString()));
      return absl::OkStatus();
    }
    if (call.method == kImportMap) {
      return TakePart(event, call);
    }
    call.waiting[0].push_back(NewUnit(event, call.method, bytes));
    return absl::OkStatus();
  }

  static absl::Status TakePart(const v1::RecordedEvent& event, OpenCall& call) {
    v1::ImportMapRequest message;
    if (!message.ParseFromString(event.request())) {
      return Damaged(call.method);
    }
    std::deque<Unit>& waiting = call.waiting[0];
    if (waiting.empty()) {
      waiting.push_back(NewUnit(event, kImportMap, message.header().SerializeAsString()));
    } else {
      waiting.front().file += message.chunk();
    }
    return absl::OkStatus();
  }

  absl::Status TakeResponse(const v1::RecordedEvent& event, OpenCall& call) {
    if (call.method == kStreamFindPath) {
      v1::StreamFindPathResponse message;
      if (!message.ParseFromString(event.response())) {
        return Damaged(call.method);
      }
      for (const v1::StreamedAnswer& answer : message.answers()) {
        Answer(event, call, answer.id(), answer.answer().SerializeAsString(), answer.problem());
      }
      return absl::OkStatus();
    }
    if (call.method == kStreamObstacleUpdates) {
      v1::StreamObstacleUpdatesResponse message;
      if (!message.ParseFromString(event.response())) {
        return Damaged(call.method);
      }
      Answer(event, call, 0, message.applied().SerializeAsString(), message.refused());
      return absl::OkStatus();
    }
    // The status of a unary call comes later.
    if (!call.waiting[0].empty()) {
      call.waiting[0].front().response = event.response();
    }
    return absl::OkStatus();
  }

  void TakeEnd(const v1::RecordedEvent& event) {
    const auto found = calls_.find(event.call());
    if (found == calls_.end()) {
      return;
    }
    OpenCall call = std::move(found->second);
    calls_.erase(found);
    const auto* const method = FindMethod(call.method);
    const bool is_unary = method != nullptr && !method->server_streaming();
    if (is_unary && !call.waiting[0].empty()) {
      Answer(event, call, 0, std::move(call.waiting[0].front().response), event.end());
    } else if (call.method != kStreamFindPath && call.method != kStreamObstacleUpdates) {
      ++units_.left_out[call.method];
    }
  }

  void Answer(const v1::RecordedEvent& event, OpenCall& call, std::uint64_t id, std::string response,
              const google::rpc::Status& status) {
    const auto found = call.waiting.find(id);
    if (found == call.waiting.end() || found->second.empty()) {
      return;
    }
    Unit unit = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) {
      call.waiting.erase(found);
    }
    if (IsByChance(status)) {
      ++units_.left_out[call.method];
      return;
    }
    unit.end_nanos = google::protobuf::util::TimeUtil::DurationToNanoseconds(event.offset());
    unit.response = std::move(response);
    unit.status = status;
    const auto request = ParseAs(*FindMethod(unit.method)->input_type(), unit.request);
    unit.map = request == nullptr ? "" : TextOf(*request, "map");
    if (unit.method == kImportMap) {
      v1::ImportMapHeader header;
      static_cast<void>(header.ParseFromString(unit.request));
      unit.map = header.map();
    }
    if (status.code() == 0) {
      const v1::Version version = VersionIn(unit.method, unit.response);
      unit.epoch = version.epoch();
      unit.revision = version.revision();
    }
    unit.is_update = unit.method == kUpdateObstacles || unit.method == kDeleteMap || CreatesMap(unit);
    units_.units.push_back(std::move(unit));
  }

  std::map<std::uint64_t, OpenCall> calls_;
  Units units_;
};

}  // namespace

bool CreatesMap(const Unit& unit) {
  if (unit.method != kCreateMap) {
    return unit.method == kImportMap;
  }
  v1::CreateMapResponse response;
  return !response.ParseFromString(unit.response) || !response.already_created();
}

v1::Version VersionIn(const std::string& method, const std::string& response) {
  const auto* const descriptor = FindMethod(method);
  const auto message = descriptor == nullptr ? nullptr : ParseAs(*descriptor->output_type(), response);
  if (message == nullptr) {
    return {};
  }
  const auto* const type = message->GetDescriptor();
  const auto* const reflection = message->GetReflection();
  const auto* const version = type->FindFieldByName("version");
  if (version != nullptr && version->message_type() == v1::Version::descriptor()) {
    return static_cast<const v1::Version&>(reflection->GetMessage(*message, version));
  }
  const auto* const info = type->FindFieldByName("info");
  if (info == nullptr || info->message_type() != v1::MapInfo::descriptor()) {
    return {};
  }
  return static_cast<const v1::MapInfo&>(reflection->GetMessage(*message, info)).version();
}

absl::StatusOr<Units> ReadUnits(RecordingReader& reader) {
  UnitReader units;
  v1::RecordedEvent event;
  while (true) {
    const absl::StatusOr<bool> has_more = reader.Next(event);
    if (!has_more.ok()) {
      return has_more.status();
    }
    if (!*has_more) {
      return std::move(units).Finish();
    }
    if (const absl::Status status = units.Take(event); !status.ok()) {
      return status;
    }
  }
}

}  // namespace waystar::record
