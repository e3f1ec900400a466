#include "client/record/compare.h"

#include <google/protobuf/stubs/common.h>
#include <google/protobuf/util/field_comparator.h>
#include <google/protobuf/util/message_differencer.h>

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/errors.h"
#include "client/record/methods.h"

namespace waystar::record {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::util::DefaultFieldComparator;
using google::protobuf::util::MessageDifferencer;

constexpr double kTolerance = 1e-6;

class IgnoresWhatPasses final : public MessageDifferencer::IgnoreCriteria {
 public:
  bool IsIgnored(const Message& /*before*/, const Message& /*now*/, const FieldDescriptor* field,
                 const std::vector<MessageDifferencer::SpecificField>& /*parents*/) override {
    // Revisions are compared by how far they are from the first.
    for (const char* const name :
         {"version", "map_version", "statistics", "memory_bytes", "create_time", "old_snapshots", "lifetime",
          "digest", "already_applied", "next_page_token"}) {
      if (field->name() == name) {
        return true;
      }
    }
    return false;
  }
};

std::string StatusText(const google::rpc::Status& message) {
  if (message.code() == 0) {
    return "OK";
  }
  const absl::Status status = client::FromMessage(message);
  std::string text = absl::StatusCodeToString(status.code());
  for (const std::string& part : {client::ReasonOf(status), client::FieldOf(status)}) {
    absl::StrAppend(&text, part.empty() ? "" : " ", part);
  }
  return text;
}

// The first of what the differencer found, as it says it, without its words for how.
std::string FirstDifference(const Message& before, const Message& now) {
  DefaultFieldComparator comparator;
  comparator.set_float_comparison(DefaultFieldComparator::APPROXIMATE);
  comparator.SetDefaultFractionAndMargin(kTolerance, kTolerance);
  MessageDifferencer differencer;
  differencer.set_field_comparator(&comparator);
#if GOOGLE_PROTOBUF_VERSION < 6030000
  differencer.AddIgnoreCriteria(new IgnoresWhatPasses());
#else
  differencer.AddIgnoreCriteria(std::make_unique<IgnoresWhatPasses>());
#endif
  std::string report;
  differencer.ReportDifferencesToString(&report);
  if (differencer.Compare(before, now)) {
    return "";
  }
  const std::vector<absl::string_view> lines = absl::StrSplit(report, '\n', absl::SkipEmpty());
  // What was ignored stands in the report as well.
  for (const absl::string_view line : lines) {
    if (!absl::StartsWith(line, "ignored: ")) {
      return std::string(absl::StripPrefix(line, "modified: "));
    }
  }
  return "the answers differ";
}

}  // namespace

std::string Difference(const std::string& method, const CallResult& before, const CallResult& now) {
  if (const std::string then = StatusText(before.status), today = StatusText(now.status); then != today) {
    return absl::StrCat(then, " -> ", today);
  }
  if (before.status.code() != 0) {
    return "";
  }
  const auto* const descriptor = FindMethod(method);
  if (descriptor == nullptr) {
    return "";
  }
  const auto then = ParseAs(*descriptor->output_type(), before.response);
  const auto today = ParseAs(*descriptor->output_type(), now.response);
  if (then == nullptr || today == nullptr) {
    return before.response == now.response ? "" : "the answers differ";
  }
  if (std::string difference = FirstDifference(*then, *today); !difference.empty()) {
    return difference;
  }
  if (before.relative_revision != now.relative_revision) {
    return absl::StrCat("revision: +", before.relative_revision, " -> +", now.relative_revision);
  }
  return "";
}

}  // namespace waystar::record
