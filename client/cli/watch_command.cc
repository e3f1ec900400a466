#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

struct WatchArguments {
  v1::WatchMapRequest request;
  // First revision to print; 0 for the next.
  uint64_t from = 0;
  // Number of revisions to print; 0 for no limit.
  uint64_t count = 0;
};

// Returns " in 3,0+5x6 40,2+1x1", or "" if there are no areas.
std::string AreasClause(const google::protobuf::RepeatedPtrField<v1::ChangedArea>& areas) {
  v1::Shape all;
  for (const v1::ChangedArea& area : areas) {
    if (area.has_disc()) {
      *all.add_discs() = area.disc();
    } else {
      *all.add_rectangles() = area.rectangle();
    }
  }
  return areas.empty() ? "" : " in " + FormatShape(all);
}

std::string RevisionText(const v1::MapRevision& revision) {
  const absl::Time time = absl::FromUnixSeconds(revision.commit_time().seconds()) +
                          absl::Nanoseconds(revision.commit_time().nanos());
  std::string text =
      absl::StrCat("Revision ", revision.version().revision(), " at ",
                   absl::FormatTime("%H:%M:%E3S", time, absl::LocalTimeZone()), ": ",
                   ChangeText(CountsOf(revision, revision.edits())), " changed",
                   AreasClause(revision.changed_areas()), DigestClause(revision.digest()), "\n");
  for (const v1::Edit& edit : revision.edits()) {
    absl::StrAppend(&text, "  ", EditText(edit), "\n");
  }
  if (revision.edits_omitted()) {
    absl::StrAppend(&text, "  (more edits than fit a message)\n");
  }
  return text;
}

std::string EventText(const std::string& map, const v1::WatchMapResponse& event) {
  switch (event.event_case()) {
    case v1::WatchMapResponse::kWatching:
      return absl::StrCat("Watching ", map, ", which is at revision ", event.watching().version().revision(),
                          ".",
                          event.watching().digest() == 0
                              ? ""
                              : absl::StrCat(" Its digest is ", DigestText(event.watching().digest()), "."),
                          "\n");
    case v1::WatchMapResponse::kCommit:
      return RevisionText(event.commit());
    case v1::WatchMapResponse::kResynchronize:
      return absl::StrCat("Revisions up to ", event.resynchronize().version().revision(),
                          " are not told of: the server no longer remembers all of them, or the map is "
                          "not the one that was asked for.\n");
    case v1::WatchMapResponse::EVENT_NOT_SET:
      break;
  }
  return "";
}

ExitCode Watch(const WatchArguments& arguments, Session& session) {
  v1::WatchMapRequest request = arguments.request;
  if (arguments.from > 0) {
    // Complete even where the last known revision is 0.
    v1::Version from = request.after();
    from.set_revision(arguments.from);
    if (const absl::Status status = CompleteVersion(session, request.map(), from); !status.ok()) {
      return session.Fail(status);
    }
    request.mutable_after()->set_epoch(from.epoch());
    request.mutable_after()->set_revision(arguments.from - 1);
  } else {
    request.clear_after();
  }
  const auto watch = session.client().WatchMap(request);
  std::ostream& out = session.io().out;
  uint64_t told = 0;
  v1::WatchMapResponse event;
  while (watch->Next(event)) {
    out << (session.options().json ? ToJson(event, /*pretty=*/false)
                                   : EventText(arguments.request.map(), event))
        << std::flush;
    told += event.has_commit() ? 1 : 0;
    if (!out || (told > 0 && told == arguments.count)) {
      return ExitCode::kOk;
    }
  }
  return session.Fail(watch->Finish());
}

}  // namespace

void AddWatchCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<WatchArguments>();
  v1::WatchMapRequest& request = arguments->request;
  CLI::App& command =
      AddCommand(parent, session, "watch", "Tells of every change of a map, until Ctrl-C", arguments, &Watch);
  AddMap(command, *request.mutable_map());
  command
      .add_option("--from", arguments->from,
                  "The first revision to report, if the server still remembers it [the next one]")
      ->type_name("N");
  AddValue<uint64_t>(
      command, "--from-epoch", [&request](uint64_t epoch) { request.mutable_after()->set_epoch(epoch); },
      "The epoch that --from belongs to [the map's]: once the map was created again, the server says so", "N")
      ->needs("--from");
  AddField(command, "--edits", request, &v1::WatchMapRequest::set_with_edits, "Tell what was changed, too");
  command.add_option("--count", arguments->count, "End after so many revisions")->type_name("N");
  command.footer(
      "One line for each revision, and one for each of its edits. With --json, one object a line.\n\n"
      "Examples:\n"
      "  waystar watch arena --from 8 --edits\n"
      "  waystar watch arena --json | jq '.commit.changedAreas'\n");
}

}  // namespace waystar::cli
