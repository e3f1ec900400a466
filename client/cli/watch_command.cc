#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/edit_text.h"
#include "client/cli/json.h"
#include "client/cli/shape_argument.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

struct WatchArguments {
  v1::WatchMapRequest request;
  // Revisions to tell of; 0 for no end.
  uint64_t count = 0;
};

std::string RevisionText(const v1::MapRevision& revision) {
  const absl::Time time = absl::FromUnixSeconds(revision.commit_time().seconds()) +
                          absl::Nanoseconds(revision.commit_time().nanos());
  std::string text = absl::StrCat(
      "Revision ", revision.revision(), " at ", absl::FormatTime("%H:%M:%E3S", time, absl::LocalTimeZone()),
      ": ", ChangeText(revision.changed_cells(), revision.changed_nodes(), revision.changed_edges()),
      " changed", revision.has_changed_bounds() ? " in " + FormatRectangle(revision.changed_bounds()) : "",
      DigestClause(revision.digest()), "\n");
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
      return absl::StrCat("Watching ", map, ", which is at revision ", event.watching().revision(), ".",
                          event.watching().digest() == 0
                              ? ""
                              : absl::StrCat(" Its digest is ", DigestText(event.watching().digest()), "."),
                          "\n");
    case v1::WatchMapResponse::kRevision:
      return RevisionText(event.revision());
    case v1::WatchMapResponse::kResynchronize:
      return absl::StrCat("Revisions up to ", event.resynchronize().revision(),
                          " are not told of: the server no longer remembers all of them, or the map is "
                          "not the one that was asked for.\n");
    case v1::WatchMapResponse::EVENT_NOT_SET:
      break;
  }
  return "";
}

ExitCode Watch(const WatchArguments& arguments, Session& session) {
  const auto watch = session.client().WatchMap(arguments.request);
  std::ostream& out = session.io().out;
  uint64_t told = 0;
  v1::WatchMapResponse event;
  while (watch->Next(event)) {
    out << (session.options().json ? ToJson(event, /*pretty=*/false)
                                   : EventText(arguments.request.map(), event))
        << std::flush;
    told += event.has_revision() ? 1 : 0;
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
  AddField(command, "--from", request, &v1::WatchMapRequest::set_from_revision,
           "The first revision to tell of, if the server still remembers it [the next one]");
  AddField(
      command, "--from-epoch", request, &v1::WatchMapRequest::set_from_epoch,
      "The epoch that --from belongs to: once the map was created anew, it is told of from its beginning");
  AddField(command, "--edits", request, &v1::WatchMapRequest::set_with_edits, "Tell what was changed, too");
  command.add_option("--count", arguments->count, "End after so many revisions")->type_name("N");
  command.footer(
      "One line for each revision, and one for each of its edits. With --json, one object a line.\n\n"
      "Examples:\n"
      "  waystar watch arena\n"
      "  waystar watch arena --from 8 --edits\n"
      "  waystar watch arena --json | jq '.revision.changedBounds'\n");
}

}  // namespace waystar::cli
