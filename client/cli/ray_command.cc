#include <cmath>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/field_arguments.h"

namespace waystar::cli {
namespace {

absl::StatusOr<v1::Point> ParsePoint(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  double x = 0.0;
  double y = 0.0;
  if (parts.size() != 2 || !absl::SimpleAtod(parts[0], &x) || !absl::SimpleAtod(parts[1], &y)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is no position: give X,Y, such as 3.5,4"));
  }
  v1::Point point;
  point.set_x(x);
  point.set_y(y);
  return point;
}

ExitCode Ray(const v1::CastRayRequest& request, Session& session) {
  const auto answer = session.client().CastRay(request);
  if (!answer.ok()) {
    return session.Fail(answer.status());
  }
  if (session.options().json) {
    session.PrintJson(*answer);
  } else if (answer->blocked()) {
    session.io().out << absl::StreamFormat("Blocked by %s, at %.6g,%.6g (revision %d)\n",
                                           FormatCell(answer->cell()), answer->point().x(),
                                           answer->point().y(), answer->revision());
  } else {
    session.io().out << absl::StreamFormat("Free (revision %d)\n", answer->revision());
  }
  return answer->blocked() ? ExitCode::kNoPath : ExitCode::kOk;
}

}  // namespace

void AddRayCommand(CLI::App& parent, Session& session) {
  const auto request = std::make_shared<v1::CastRayRequest>();
  CLI::App& command =
      *parent.add_subcommand("ray",
                             "Tells which cell a straight line between two positions comes to first that is "
                             "blocked");
  AddFieldQuestion(command, *request);
  AddParsed(
      command, "FROM", &ParsePoint, [request](const v1::Point& point) { *request->mutable_from() = point; },
      "Where to start: X,Y, which need not be whole numbers; a cell's centre is at its coordinates")
      ->required();
  AddParsed(
      command, "TO", &ParsePoint, [request](const v1::Point& point) { *request->mutable_to() = point; },
      "Where to go: X,Y")
      ->required();
  command.footer(
      "Examples:\n"
      "  waystar ray arena 1,1 60,40\n"
      "  waystar ray arena 1.25,1 60.5,40 --corner-rule always\n");
  command.callback([request, &session] { session.exit_code = Ray(*request, session); });
}

}  // namespace waystar::cli
