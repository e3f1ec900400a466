#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/completion/command_tree.h"
#include "client/cli/progress.h"
#include "client/load/json_text.h"
#include "client/record/proxy.h"
#include "client/record/recording_file.h"

namespace waystar::cli {
namespace {

struct RecordArguments {
  std::string file;
  std::string listen = "127.0.0.1:7452";
  absl::Duration duration = absl::InfiniteDuration();
};

// Until it ends, SIGINT and SIGTERM wait for somebody to ask: in all threads that are begun meanwhile, too.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Whether one has come within `time`.
  bool Wait(absl::Duration time) const {
    const timespec timeout = absl::ToTimespec(time);
    return sigtimedwait(&signals_, nullptr, &timeout) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

ExitCode Record(const RecordArguments& arguments, Session& session) {
  const HeldSignals signals;
  v1::RecordingHeader header;
  const std::string& server = session.options().connection.target;
  header.set_server(server);
  const absl::Time begin = absl::Now();
  header.mutable_start_time()->set_seconds(absl::ToUnixSeconds(begin));
  auto recording = record::RecordingWriter::Create(arguments.file, header);
  if (!recording.ok()) {
    return session.FailUsage(std::string(recording.status().message()));
  }
  const auto proxy = record::Proxy::Start(arguments.listen, session.ClientOptions(), *std::move(recording));
  if (!proxy.ok()) {
    return session.FailUsage(std::string(proxy.status().message()));
  }
  Io& io = session.io();
  const bool is_json = session.options().json;
  const std::string host = arguments.listen.substr(0, arguments.listen.rfind(':'));
  const std::string address =
      (*proxy)->port() > 0 ? absl::StrCat(host, ":", (*proxy)->port()) : arguments.listen;
  if (is_json) {
    io.out << load::JsonObject({{"address", load::JsonQuoted(address)}, {"server", load::JsonQuoted(server)}})
           << "\n"
           << std::flush;
  } else {
    io.out << "Recording what is said at " << address << " to " << server << ", until Ctrl-C.\n"
           << std::flush;
  }
  {
    Progress progress(session, "recording", Progress::Unit::kCount, "calls");
    while (absl::Now() - begin < arguments.duration &&
           !signals.Wait(std::min(absl::Milliseconds(200), arguments.duration - (absl::Now() - begin)))) {
      progress.Show(static_cast<std::int64_t>((*proxy)->calls()), 0);
      (*proxy)->Flush();
    }
  }
  const absl::Status closed = (*proxy)->Stop();
  if (!closed.ok()) {
    return session.FailUsage(absl::StrCat(arguments.file, ": ", closed.message()));
  }
  if (is_json) {
    io.out << load::JsonObject({{"calls", load::JsonNumber((*proxy)->calls())}}) << "\n";
  } else {
    io.out << "Recorded " << (*proxy)->calls() << " calls.\n";
  }
  return ExitCode::kOk;
}

}  // namespace

void AddRecordCommand(CLI::App& parent, Session& session) {
  const auto arguments = std::make_shared<RecordArguments>();
  CLI::App& command = *parent.add_subcommand(
      "record", "Stands between clients and the server, and writes down what they say, to be played back");
  command.add_option("FILE", arguments->file, "The recording to write")->required()->type_name(kFileType);
  command.add_option("--listen", arguments->listen, "Where clients are to connect to [127.0.0.1:7452]")
      ->type_name("HOST:PORT");
  AddParsed(
      command, "--duration", &ParseTimeout,
      [arguments](absl::Duration duration) { arguments->duration = duration; },
      "End after that time [with Ctrl-C]")
      ->type_name("TIME");
  command.footer(
      "Clients connect to --listen, without encryption, in place of the server; --server, --tls and so on "
      "say how\n"
      "that is reached. Calls are handed on as they are, with their deadlines and their tokens.\n\n"
      "Requests are written down with the time when they came, and the answers of calls, streams of queries "
      "and\n"
      "streams of updates. Tokens are not written down.\n\n"
      "Examples:\n"
      "  waystar record session.rec\n"
      "  waystar record session.rec --listen 127.0.0.1:9000 --server 10.0.0.1:7450 --duration 10m\n"
      "  waystar replay session.rec\n");
  command.callback([arguments, &session] { session.exit_code = Record(*arguments, session); });
}

}  // namespace waystar::cli
