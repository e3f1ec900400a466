#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/arguments.h"
#include "client/cli/cell_argument.h"
#include "client/cli/commands.h"
#include "client/cli/table.h"
#include "client/cli/update.h"

namespace waystar::cli {
namespace {

constexpr int kPortalsPerPage = 1000;

void AddPutPortal(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::UpdateObstaclesRequest>();
  v1::PutPortal& put = *request->add_edits()->mutable_put_portal();
  v1::Portal& portal = *put.mutable_portal();
  CLI::App& command = *group.add_subcommand("put", "Adds a portal to a map");
  AddMap(command, *request->mutable_map());
  command.add_option("ID", *portal.mutable_id(), "The portal's name")->required();
  AddParsed(
      command, "FROM", &ParseCell, [&portal](const v1::Cell& cell) { *portal.mutable_from() = cell; },
      "The cell that it leads from: X,Y")
      ->required();
  AddParsed(
      command, "TO", &ParseCell, [&portal](const v1::Cell& cell) { *portal.mutable_to() = cell; },
      "The cell that it leads to: X,Y")
      ->required();
  command.add_option("--to-map", *portal.mutable_to_map(), "The map that TO lies on, if it is another")
      ->type_name("MAP");
  command
      .add_option_function<double>(
          "--cost", [&portal](double cost) { portal.set_cost(cost); }, "What it costs to go through [0]")
      ->type_name("N");
  command.add_flag_callback(
      "--both-ways", [&portal] { portal.set_both_ways(true); }, "It leads back as well");
  command
      .add_option_function<std::vector<std::string>>(
          "--tag",
          [&portal](const std::vector<std::string>& tags) {
            portal.mutable_tags()->Assign(tags.begin(), tags.end());
          },
          "What agents may require of it")
      ->type_name("TAG");
  command.add_flag_callback(
      "--closed", [&portal] { portal.set_closed(true); }, "Nobody passes until it is opened");
  command.add_flag_callback(
      "--replace", [&put] { put.set_replace(true); }, "Put it in the place of one of the same name");
  RunsUpdate(command, request, session);
  command.footer(
      "Examples:\n"
      "  waystar portal put arena ferry 3,9 40,9 --cost 5 --both-ways\n"
      "  waystar portal put arena stairs 12,4 2,2 --to-map cellar --cost 1\n");
}

// One edit for each ID.
void AddEach(CLI::App& group, const char* name, const char* summary, const char* examples,
             const std::function<void(v1::Edit&, const std::string&)>& fill, Session& session) {
  const auto request = std::make_shared<v1::UpdateObstaclesRequest>();
  CLI::App& command = *group.add_subcommand(name, summary);
  AddMap(command, *request->mutable_map());
  command
      .add_option_function<std::vector<std::string>>(
          "ID",
          [request, fill](const std::vector<std::string>& ids) {
            for (const std::string& id : ids) {
              fill(*request->add_edits(), id);
            }
          },
          "The names of the portals")
      ->required();
  RunsUpdate(command, request, session);
  command.footer(absl::StrCat("All at once, as one new revision.\n\nExamples:\n  ", examples, "\n"));
}

absl::StatusOr<v1::ListPortalsResponse> AllPortals(v1::ListPortalsRequest request,
                                                   const client::Client& client) {
  v1::ListPortalsResponse all;
  request.set_page_size(kPortalsPerPage);
  do {
    auto page = client.ListPortals(request);
    if (!page.ok()) {
      return page.status();
    }
    all.mutable_portals()->MergeFrom(page->portals());
    all.set_revision(page->revision());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return all;
}

ExitCode ListPortals(const v1::ListPortalsRequest& request, Session& session) {
  const auto all = AllPortals(request, session.client());
  if (!all.ok()) {
    return session.Fail(all.status());
  }
  if (session.options().json) {
    session.PrintJson(*all);
    return ExitCode::kOk;
  }
  std::vector<TableRow> rows = {{"PORTAL", "FROM", "TO", "COST", "WAYS", "STATE", "TAGS"}};
  for (const v1::Portal& portal : all->portals()) {
    rows.push_back(
        {portal.id(), FormatCell(portal.from()),
         absl::StrCat(FormatCell(portal.to()), portal.to_map().empty() ? "" : " of ", portal.to_map()),
         absl::StrCat(portal.cost()), portal.both_ways() ? "both" : "one",
         portal.closed() ? "closed" : "open",
         portal.tags().empty() ? "-" : absl::StrJoin(portal.tags(), " ")});
  }
  session.io().out << FormatTable(rows, session.table_width());
  return ExitCode::kOk;
}

void AddListPortals(CLI::App& group, Session& session) {
  const auto request = std::make_shared<v1::ListPortalsRequest>();
  CLI::App& command = *group.add_subcommand("list", "Lists the portals of a map");
  AddMap(command, *request->mutable_map());
  command.footer(
      "Examples:\n"
      "  waystar portal list arena\n");
  command.callback([request, &session] { session.exit_code = ListPortals(*request, session); });
}

}  // namespace

void AddPortalCommands(CLI::App& parent, Session& session) {
  CLI::App& group = *parent.add_subcommand("portal", "Links cells that lie apart, on one map or on two");
  group.require_subcommand(1);
  group.footer(
      "Examples:\n"
      "  waystar portal put arena stairs 12,4 2,2 --to-map cellar --cost 1\n"
      "  waystar find arena 1,1 9,9 --goal-map cellar\n");
  AddPutPortal(group, session);
  AddEach(
      group, "remove", "Removes portals from a map", "waystar portal remove arena ferry stairs",
      [](v1::Edit& edit, const std::string& id) { edit.mutable_remove_portal()->set_id(id); }, session);
  AddEach(
      group, "open", "Opens portals", "waystar portal open arena stairs",
      [](v1::Edit& edit, const std::string& id) { edit.mutable_switch_portal()->set_id(id); }, session);
  AddEach(
      group, "close", "Closes portals: nobody passes", "waystar portal close arena stairs",
      [](v1::Edit& edit, const std::string& id) {
        edit.mutable_switch_portal()->set_id(id);
        edit.mutable_switch_portal()->set_closed(true);
      },
      session);
  AddListPortals(group, session);
}

}  // namespace waystar::cli
