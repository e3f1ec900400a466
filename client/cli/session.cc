#include "client/cli/session.h"

#include "client/cli/error_text.h"
#include "client/cli/json.h"

namespace waystar::cli {

bool Session::UsesColor() const {
  switch (options_.color) {
    case ColorChoice::kAlways:
      return true;
    case ColorChoice::kNever:
      return false;
    case ColorChoice::kAuto:
      break;
  }
  return io_.is_terminal && !io_.no_color;
}

const client::Client& Session::client() {
  if (!client_) {
    client::Options options;
    options.target = options_.server;
    options.timeout = options_.timeout.value_or(options.timeout);
    options.transfer_timeout = options_.timeout.value_or(options.transfer_timeout);
    options.stream_timeout = options_.timeout.value_or(options.stream_timeout);
    client_ = std::make_unique<client::Client>(std::move(options));
  }
  return *client_;
}

void Session::PrintJson(const google::protobuf::Message& message) {
  io_.out << ToJson(message, io_.is_terminal);
}

ExitCode Session::Fail(const absl::Status& status) {
  if (options_.json) {
    io_.err << ToJson(status, /*pretty=*/false);
  } else {
    io_.err << "waystar: " << ErrorText(status, options_.server) << "\n";
  }
  return ExitCodeFor(status);
}

ExitCode Session::FailUsage(const std::string& sentence) {
  io_.err << "waystar: " << sentence << "\n";
  return ExitCode::kUsage;
}

}  // namespace waystar::cli
