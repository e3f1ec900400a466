#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/app.h"
#include "client/cli/exit_code.h"
#include "client/cli/table.h"
#include "client/client.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::cli {

enum class ColorChoice { kAuto, kAlways, kNever };

// The options that every command takes.
struct GlobalOptions {
  // Where the server is and how to reach it. Of its timeouts those of `timeout` are used.
  client::Options connection;
  // The client's own, if empty.
  std::optional<absl::Duration> timeout;
  bool json = false;
  ColorChoice color = ColorChoice::kAuto;
};

// All pages of a listing, as one.
template <typename Request, typename Response>
absl::StatusOr<Response> AllPages(const client::Client& client, Request request,
                                  absl::StatusOr<Response> (client::Client::*list)(const Request&) const) {
  constexpr int kRowsPerPage = 1000;
  Response all;
  request.set_page_size(kRowsPerPage);
  do {
    auto page = (client.*list)(request);
    if (!page.ok()) {
      return page.status();
    }
    request.set_page_token(page->next_page_token());
    page->clear_next_page_token();
    all.MergeFrom(*page);
  } while (!request.page_token().empty());
  return all;
}

// One run of `waystar`: what all its commands share. Not thread-safe.
class Session {
 public:
  explicit Session(Io& io) : io_(io) {}

  Io& io() { return io_; }
  GlobalOptions& options() { return options_; }
  bool UsesColor() const;
  // How wide a table may be: as the terminal, and anywhere else as it likes.
  std::size_t table_width() const;

  // Returns the client options of the command line, including timeouts.
  client::Options ClientOptions() const;
  // Made at the first call, with the options as they are then.
  const client::Client& client();

  // Returns the server's description of the map. The first call for a map asks the server.
  const absl::StatusOr<v1::MapInfo>& InfoOf(const std::string& map);

  void PrintJson(const google::protobuf::Message& message);
  // As a table whose first row is its head; or the first cell of each other row alone.
  void PrintTable(const std::vector<TableRow>& rows, bool names_only = false);

  // Reports a failed call; otherwise prints the answer, as JSON or as text by `print`, and returns `code`.
  template <typename Response, typename Print>
  ExitCode Answer(const absl::StatusOr<Response>& response, Print print, ExitCode code = ExitCode::kOk) {
    if (!response.ok()) {
      return Fail(response.status());
    }
    if (options_.json) {
      PrintJson(*response);
    } else {
      print(*response);
    }
    return code;
  }

  // Returns a message for people about a failed call and its remedy.
  std::string TextOf(const absl::Status& status);
  // Tells the user of an error and returns the code to exit with.
  ExitCode Fail(const absl::Status& status);
  ExitCode FailUsage(absl::string_view sentence);
  ExitCode FailUsage(const absl::Status& status) { return FailUsage(status.message()); }

  // The command line, as it was typed.
  std::vector<std::string> words;
  // Exit code of the process.
  ExitCode exit_code = ExitCode::kOk;

 private:
  // Returns a line about what the user may have meant, after a "\n"; empty if that is not known.
  std::string MeantText(const absl::Status& status);

  Io& io_;
  GlobalOptions options_;
  std::unique_ptr<client::Client> client_;
  std::map<std::string, absl::StatusOr<v1::MapInfo>> infos_;
};

}  // namespace waystar::cli
