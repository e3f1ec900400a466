#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/exit_code.h"
#include "client/cli/io.h"
#include "client/client.h"

namespace waystar::cli {

enum class ColorChoice { kAuto, kAlways, kNever };

// The options that every command takes.
struct GlobalOptions {
  // Where the server is and how to reach it. Of its timeouts, those of `timeout` are used.
  client::Options connection;
  // The timeout. If it is empty, the client's own holds.
  std::optional<absl::Duration> timeout;
  bool json = false;
  ColorChoice color = ColorChoice::kAuto;
};

// Session: one run of `waystar`, and what all its commands share.
//
// Thread safety: one thread.
class Session {
 public:
  explicit Session(Io& io) : io_(io) {}

  Io& io() { return io_; }
  GlobalOptions& options() { return options_; }
  bool UsesColor() const;
  // How wide a table may be: as wide as the terminal, and anywhere else as wide as it likes.
  std::size_t table_width() const;

  // The options of the client, timeouts included.
  client::Options ClientOptions() const;
  // The client, which is made at the first call with the options as they are then.
  const client::Client& client();

  void PrintJson(const google::protobuf::Message& message);

  // Tells the user of an error and returns the code to exit with.
  ExitCode Fail(const absl::Status& status);
  ExitCode FailUsage(const std::string& sentence);

  // The code that the process is to return.
  ExitCode exit_code = ExitCode::kOk;

 private:
  Io& io_;
  GlobalOptions options_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace waystar::cli
