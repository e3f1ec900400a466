#include "server/service/transport/http/json.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/type.pb.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"

namespace waystar::http {
namespace {

constexpr char kUrlPrefix[] = "type.googleapis.com";

// Describes types like the resolver of the descriptor pool, which makes each description again for each
// conversion; here they are copied, which takes half of the time.
class CachedTypes final : public google::protobuf::util::TypeResolver {
 public:
  using Status = decltype(std::declval<TypeResolver>().ResolveMessageType("", nullptr));

  Status ResolveMessageType(const std::string& url, google::protobuf::Type* type) override {
    return Resolve(messages_, url, *type, &TypeResolver::ResolveMessageType);
  }
  Status ResolveEnumType(const std::string& url, google::protobuf::Enum* type) override {
    return Resolve(enums_, url, *type, &TypeResolver::ResolveEnumType);
  }

 private:
  // Descriptions by URL. They are never removed, and so stay at their addresses.
  template <typename Type>
  using Known = absl::flat_hash_map<std::string, std::unique_ptr<const Type>>;

  template <typename Type>
  Status Resolve(Known<Type>& known, const std::string& url, Type& type,
                 Status (TypeResolver::*resolve)(const std::string&, Type*)) {
    const Type* cached = nullptr;
    {
      MutexLock lock(mutex_);
      const auto found = known.find(url);
      cached = found == known.end() ? nullptr : found->second.get();
    }
    if (cached != nullptr) {
      type = *cached;
      return Status();
    }
    Status status = ((*pool_).*resolve)(url, &type);
    if (status.ok()) {
      MutexLock lock(mutex_);
      known.emplace(url, std::make_unique<const Type>(type));
    }
    return status;
  }

  const std::unique_ptr<TypeResolver> pool_{google::protobuf::util::NewTypeResolverForDescriptorPool(
      kUrlPrefix, google::protobuf::DescriptorPool::generated_pool())};
  Mutex mutex_;
  Known<google::protobuf::Type> messages_;
  Known<google::protobuf::Enum> enums_;
};

CachedTypes& Types() {
  static auto* const types = new CachedTypes;
  return *types;
}

std::string UrlOf(const google::protobuf::Descriptor& type) {
  return absl::StrCat(kUrlPrefix, "/", type.full_name());
}

std::string Join(absl::string_view path, absl::string_view name) {
  return absl::StrCat(path, path.empty() || name.empty() ? "" : ".", name);
}

// Implements FieldIn for messages of Protobuf 22 and later: "invalid JSON in T @ start.x: int32, near 1:2
// (offset 3): ..." or "invalid JSON in T, near 1:2 (offset 3): no such field: 'z'".
std::string FieldInPlace(absl::string_view why) {
  const std::size_t near = std::min(why.find(", near "), why.size());
  absl::string_view place = why.substr(0, near);
  const std::size_t at = place.find(" @ ");
  place.remove_prefix(at == absl::string_view::npos ? place.size() : at + 3);
  place = place.substr(0, place.find(": "));
  absl::string_view fault = why.substr(near);
  fault.remove_prefix(std::min(fault.find(": "), fault.size()));
  const bool is_unknown =
      absl::ConsumePrefix(&fault, ": no such field: '") && absl::ConsumeSuffix(&fault, "'");
  return Join(place, is_unknown ? fault : "");
}

// Returns the path of the field in an error message of Protobuf; empty if it names none. Older versions write
// "(start.x): invalid value ..." or "(start) z: Cannot find field.".
std::string FieldIn(absl::string_view why) {
  if (absl::ConsumePrefix(&why, "invalid JSON in ")) {
    return FieldInPlace(why);
  }
  std::string field;
  if (absl::ConsumePrefix(&why, "(")) {
    const std::size_t end = std::min(why.find(')'), why.size());
    field = std::string(why.substr(0, end));
    why.remove_prefix(std::min(end + 1, why.size()));
  }
  if (absl::ConsumeSuffix(&why, ": Cannot find field.")) {
    return Join(field, absl::StripAsciiWhitespace(why));
  }
  return field;
}

// Returns the text, cut to 200 bytes at a character boundary of UTF-8.
std::string Shortened(std::string text) {
  constexpr std::size_t kMostBytes = 200;
  if (text.size() > kMostBytes) {
    std::size_t end = kMostBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end;
    }
    text.resize(end);
    text += "...";
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> JsonToWire(const google::protobuf::Descriptor& type, std::string_view json) {
  std::string wire;
  const auto status =
      google::protobuf::util::JsonToBinaryString(&Types(), UrlOf(type), {json.data(), json.size()}, &wire);
  if (!status.ok()) {
    std::string why(status.message());
    // Protobuf inserts random blanks, different in each process.
    absl::RemoveExtraAsciiWhitespace(&why);
    return MakeError(ErrorReason::kBadValue, Shortened(FieldIn(why)),
                     absl::StrCat("no such request: ", Shortened(why)));
  }
  return wire;
}

absl::StatusOr<std::string> WireToJson(const google::protobuf::Descriptor& type, std::string_view wire) {
  std::string json;
  google::protobuf::io::ArrayInputStream from(wire.data(), static_cast<int>(wire.size()));
  google::protobuf::io::StringOutputStream to(&json);
  if (!google::protobuf::util::BinaryToJsonStream(&Types(), UrlOf(type), &from, &to).ok()) {
    return absl::InternalError(absl::StrCat("an answer is no ", type.full_name()));
  }
  return json;
}

std::string MessageJson(const google::protobuf::Message& message) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json).ok()) {
    return "{}";
  }
  return json;
}

std::string StatusJson(const grpc::Status& status) {
  // Links the type of the details, so that they can be printed.
  google::protobuf::LinkMessageReflection<google::rpc::ErrorInfo>();
  google::rpc::Status message;
  if (!message.ParseFromString(status.error_details())) {
    message.Clear();
  }
  message.set_code(static_cast<int>(status.error_code()));
  message.set_message(status.error_message());
  return MessageJson(message);
}

int HttpCode(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return 200;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
      return 400;
    case grpc::StatusCode::UNAUTHENTICATED:
      return 401;
    case grpc::StatusCode::PERMISSION_DENIED:
      return 403;
    case grpc::StatusCode::NOT_FOUND:
      return 404;
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::ABORTED:
      return 409;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return 429;
    case grpc::StatusCode::CANCELLED:
      return 499;
    case grpc::StatusCode::UNIMPLEMENTED:
      return 501;
    case grpc::StatusCode::UNAVAILABLE:
      return 503;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return 504;
    default:
      return 500;
  }
}

namespace {

// Maximum number of waiting tasks per lane.
constexpr std::size_t kMaxTasks = 1024;
constexpr int kSmallThreads = 2;
// Lowers the priority of large messages without starving them.
constexpr int kLargeNiceness = 10;

}  // namespace

class JsonPool::Lane {
 public:
  // One client may use `client_threads` of the threads.
  Lane(const std::string& name, int threads, int client_threads, int niceness)
      : client_threads_(client_threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.push_back(StartThread(name, [this, niceness] {
        if (niceness > 0) {
          // The system may refuse.
          static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness));
        }
        Work();
      }));
    }
  }

  void Stop() {
    {
      MutexLock lock(mutex_);
      is_stopping_ = true;
      wake_.NotifyAll();
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
    // Destroyed without the lock.
    Clients dropped;
    MutexLock lock(mutex_);
    std::swap(dropped, clients_);
  }

  bool Push(std::uint64_t key, std::function<void()> task) {
    MutexLock lock(mutex_);
    auto client =
        std::find_if(clients_.begin(), clients_.end(), [&](const Client& each) { return each.key == key; });
    const std::size_t own = client == clients_.end() ? 0 : client->tasks.size();
    if (is_stopping_ || own >= kMaxTasks - size_) {
      return false;
    }
    if (client == clients_.end()) {
      client = clients_.insert(client, Client{.key = key});
    }
    client->tasks.push_back(std::move(task));
    ++size_;
    wake_.NotifyOne();
    return true;
  }

 private:
  // A client with waiting or running tasks.
  struct Client {
    std::uint64_t key = 0;
    std::deque<std::function<void()>> tasks;
    int running = 0;
  };
  // Ordered by turn, next first.
  using Clients = std::list<Client>;

  void Work() {
    for (;;) {
      std::function<void()> task;
      Clients::iterator client;
      {
        MutexLock lock(mutex_);
        while ((client = NextClient()) == clients_.end() && !is_stopping_) {
          wake_.Wait(mutex_);
        }
        if (is_stopping_) {
          return;
        }
        task = std::move(client->tasks.front());
        client->tasks.pop_front();
        ++client->running;
        --size_;
        clients_.splice(clients_.end(), clients_, client);
      }
      task();
      task = nullptr;
      MutexLock lock(mutex_);
      if (--client->running == 0 && client->tasks.empty()) {
        clients_.erase(client);
      }
    }
  }

  Clients::iterator NextClient() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::find_if(clients_.begin(), clients_.end(), [this](const Client& each) {
      return !each.tasks.empty() && each.running < client_threads_;
    });
  }

  const int client_threads_;
  Mutex mutex_;
  CondVar wake_;
  Clients clients_ ABSL_GUARDED_BY(mutex_);
  // Number of waiting tasks.
  std::size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

JsonPool::JsonPool(int threads)
    : small_(std::make_unique<Lane>("json-small", kSmallThreads, kSmallThreads, 0)),
      large_(std::make_unique<Lane>("json-large", threads, std::max(threads / 2, 1), kLargeNiceness)) {}

JsonPool::~JsonPool() { Stop(); }

void JsonPool::Stop() {
  small_->Stop();
  large_->Stop();
}

bool JsonPool::Run(std::uint64_t client, std::size_t bytes, std::function<void()> task) {
  return (bytes <= kSmallBytes ? small_ : large_)->Push(client, std::move(task));
}

}  // namespace waystar::http
