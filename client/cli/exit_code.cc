#include "client/cli/exit_code.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/errors.h"
#include "waystar/v1/error_reason.pb.h"

namespace waystar::cli {
namespace {

constexpr std::pair<v1::ErrorReason, absl::string_view> kHints[] = {
    {v1::MAP_NOT_FOUND, "`waystar map list` shows the maps there are."},
    {v1::MAP_EXISTS, "Choose another name, or remove the map with `waystar map delete`."},
    {v1::BAD_MAP_ID,
     "A map's name has 1 to 63 of the characters a-z, 0-9, '_', '.' and '-', and begins with a letter or "
     "digit."},
    {v1::STALE_REVISION, "`waystar map show` tells the latest revision."},
    {v1::MAP_REPLACED, "`waystar map show --json` tells the epoch."},
    {v1::REQUEST_ID_EXPIRED,
     "Look whether the map has the change; if not, make it under another --request-id."},
    {v1::FUTURE_REVISION, "`waystar map show` tells the latest revision."},
    {v1::OBSTACLE_NOT_FOUND, "`waystar obstacle list` shows the obstacles there are."},
    {v1::OBSTACLE_EXISTS, "--replace puts the new one in its place."},
    {v1::BAD_OBSTACLE_ID,
     "An obstacle's name has 1 to 63 of the characters A-Z, a-z, 0-9, '_', '.', ':' and '-', and begins with "
     "a letter or digit."},
    {v1::REQUEST_ID_REUSED, "Each change needs a --request-id of its own."},
    {v1::GOAL_BLOCKED, "--nearest finds a path to the nearest cell that can be reached."},
    {v1::ALGORITHM_UNSUITED, "--algorithm auto suits every map."},
    {v1::RESPONSE_TOO_LARGE, "--form corners or directions makes the answer smaller."},
    {v1::NOT_EXPRESSIBLE, "--format text can express every map."},
    {v1::QUEUE_FULL, "The server is busy: try again in a moment."},
    {v1::QUEUE_TIMEOUT, "The server is busy: try again in a moment."},
    {v1::CLIENT_BUSY, "You have too many calls under way: try again in a moment."},
    {v1::ANSWERS_UNREAD, "The server holds too much that is not read yet: try again in a moment."},
    {v1::UPDATES_BUSY, "The server is busy: try again in a moment."},
    {v1::TOO_MANY_WATCHES, "The server is busy: try again in a moment."},
    {v1::NOT_PERMITTED, "The line of the token in the server's --tokens_file says what it may do."},
    {v1::STORAGE_FAILED,
     "The server cannot make the change durable. With a --request-id it can be tried again safely."},
    {v1::MAPS_LOADING, "Try again in a moment: `waystar health` prints SERVING then."},
    {v1::TRANSFERS_BUSY, "The server is busy: try again in a moment."},
};

v1::ErrorReason ReasonOf(const absl::Status& status) {
  v1::ErrorReason reason = v1::ERROR_REASON_UNSPECIFIED;
  v1::ErrorReason_Parse(client::ReasonOf(status), &reason);
  return reason;
}

absl::string_view HintFor(v1::ErrorReason reason) {
  for (const auto& [hinted, hint] : kHints) {
    if (hinted == reason) {
      return hint;
    }
  }
  return "";
}

std::string Sentence(const absl::Status& status) {
  if (status.message().empty()) {
    return absl::StrCat("the server answered ", absl::StatusCodeToString(status.code()));
  }
  return std::string(status.message());
}

}  // namespace

const char kExitCodeHelp[] =
    "Exit codes:\n"
    "  0  done; with find, paths, trace, reachable: a path leads to each goal; with health: serving\n"
    "  1  something went wrong that should not\n"
    "  2  the command line is wrong, or a file cannot be read or written\n"
    "  3  find, paths, trace, reachable: no path to a goal, none within --max-expansions, or only a part of "
    "one\n"
    "  4  the server refused the request: no such map, a bad value, a stale revision ...\n"
    "  5  the server cannot be reached, is not serving, is overloaded or took too long\n";

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kResourceExhausted: {
      // Temporary errors.
      const bool passes = client::RetryDelayOf(status) > absl::ZeroDuration();
      return passes ? ExitCode::kUnavailable : ExitCode::kRefused;
    }
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kRefused;
    default:
      return ExitCode::kFailure;
  }
}

ExitCode ExitCodeFor(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_FOUND ? ExitCode::kOk : ExitCode::kNoPath;
}

bool IsUnreachable(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable && client::ReasonOf(status).empty();
}

std::string ErrorText(const absl::Status& status, const std::string& server) {
  // So the library says of a server whose health service says NOT_SERVING.
  if (IsUnreachable(status) && absl::StrContains(status.message(), "backend unhealthy")) {
    return absl::StrCat(
        "the server at ", server,
        " is not serving: it still reads its maps, or is about to stop\n`waystar health` prints "
        "SERVING when it does.");
  }
  if (IsUnreachable(status)) {
    return absl::StrCat("cannot reach a server at ", server, ": ", Sentence(status),
                        "\nIs it running? --server HOST:PORT or WAYSTAR_SERVER names another.");
  }
  if (status.code() == absl::StatusCode::kDeadlineExceeded && client::ReasonOf(status).empty()) {
    return absl::StrCat("no answer from ", server, " in time\n--timeout allows it more, such as 30s.");
  }
  std::string text = Sentence(status);
  const std::string field = client::FieldOf(status);
  // Errors in a file's bytes are reported for the file that the user named.
  if (!field.empty() && field != "chunk" && !absl::StrContains(text, field)) {
    absl::StrAppend(&text, " (", field, ")");
  }
  if (status.code() == absl::StatusCode::kUnauthenticated) {
    absl::StrAppend(&text, "\n--token or WAYSTAR_TOKEN tells the server who you are.");
  }
  if (status.code() == absl::StatusCode::kUnimplemented) {
    absl::StrAppend(&text, "\nIs that a Waystar server, and as new as this tool?");
  }
  if (const absl::string_view hint = HintFor(ReasonOf(status)); !hint.empty()) {
    absl::StrAppend(&text, "\n", hint);
  }
  return text;
}

}  // namespace waystar::cli
