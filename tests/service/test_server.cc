#include "tests/service/test_server.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/impl/codegen/client_unary_call.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "tests/testing/patience.h"

namespace waystar {

runtime::Options WithPatientTransfers(runtime::Options options) {
  options.transfer_timeout = kPatience;
  options.transfer_stall_timeout = kPatience;
  return options;
}

TestServer::TestServer(runtime::Options options, absl::Duration queue_target,
                       const storage::OpenFolder& open_folder) {
  options.listen = "127.0.0.1:0";
  if (options.workers == 0) {
    options.workers = 2;
  }
  // A slow machine must not make the server refuse what a test is not about.
  options.max_queue_time = std::max(options.max_queue_time, absl::Minutes(1));
  options.queue_target = queue_target;
  auto server = rpc::Server::Start(options, open_folder);
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  client_ = std::make_unique<client::Client>(client::Options{.target = target(),
                                                             .timeout = kPatience,
                                                             .transfer_timeout = kPatience,
                                                             .retry = false,
                                                             .reads_own_writes = false,
                                                             .stream_timeout = kPatience});
}

std::string TestServer::target() const { return absl::StrCat("127.0.0.1:", server_->port()); }

std::shared_ptr<grpc::Channel> TestServer::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target(), grpc::InsecureChannelCredentials(), arguments);
}

std::shared_ptr<grpc::Channel> TestServer::NewNarrowChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target(), grpc::InsecureChannelCredentials(), arguments);
}

void TestServer::Create(const std::string& id, const std::vector<std::string>& rows,
                        const v1::GridOptions& grid) {
  auto request = About<v1::CreateMapRequest>(id);
  request.mutable_rows()->Assign(rows.begin(), rows.end());
  *request.mutable_grid() = grid;
  const auto created = client_->CreateMap(request);
  ASSERT_TRUE(created.ok()) << created.status();
}

void TestServer::CreateBlank(const std::string& id, int width, int height) {
  auto request = About<v1::CreateMapRequest>(id);
  request.mutable_blank()->set_width(width);
  request.mutable_blank()->set_height(height);
  const auto created = client_->CreateMap(request);
  ASSERT_TRUE(created.ok()) << created.status();
}

v1::FindPathResponse TestServer::Find(const v1::FindPathRequest& query) {
  const auto found = client_->FindPath(query);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.value_or(v1::FindPathResponse());
}

v1::GetMetricsResponse TestServer::Metrics() {
  absl::StatusOr<v1::GetMetricsResponse> metrics;
  const auto is_taken = [&] {
    metrics = client_->GetMetrics();
    return !absl::IsResourceExhausted(metrics.status());
  };
  EXPECT_TRUE(WaitUntil(is_taken, "a place in the queue"));
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return metrics.value_or(v1::GetMetricsResponse());
}

CountedCalls CountsIn(const v1::GetMetricsResponse& metrics, const std::string& method) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(method, '/');
  const client::MetricLabels labels = {{"grpc_service", parts.first}, {"grpc_method", parts.second}};
  auto ended = client::MetricsOf(metrics, "waystar_stream_requests_total", labels);
  if (ended.empty()) {
    ended = client::MetricsOf(metrics, "grpc_server_handled_total", labels);
  }
  CountedCalls counts{.open_calls = client::SumOf(metrics, "waystar_open_calls", labels)};
  for (const v1::Metric* const metric : ended) {
    counts.requests += metric->value();
    if (const std::string code = client::LabelOf(*metric, "grpc_code"); code != "OK") {
      counts.failures[code] = metric->value();
    }
  }
  return counts;
}

CountedCalls TestServer::CountsOf(const std::string& method) { return CountsIn(Metrics(), method); }

RestartTest::RestartTest()
    : folder_(std::filesystem::path(::testing::TempDir()) / absl::StrCat("server-", ::getpid())) {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_ / "maps");
  options_ = {.maps_dir = (folder_ / "maps").string(), .data_dir = (folder_ / "data").string()};
}

RestartTest::~RestartTest() {
  server_.reset();
  std::filesystem::remove_all(folder_);
}

void RestartTest::Restart() {
  server_.reset();
  server_.emplace(options_);
}

absl::Status RestartTest::StartError() const {
  runtime::Options options = options_;
  options.listen = "127.0.0.1:0";
  options.workers = 1;
  return rpc::Server::Start(options).status();
}

LargeExport::LargeExport(TestServer& server) : stub_(v1::MapService::NewStub(server.NewNarrowChannel())) {
  server.CreateBlank("large", 3000, 3000);
  auto request = About<v1::ExportMapRequest>("large");
  reader_ = stub_->ExportMap(&context_, request);
  v1::ExportMapResponse header;
  EXPECT_TRUE(reader_->Read(&header));
}

grpc::Status LargeExport::ReadToTheEnd() {
  v1::ExportMapResponse message;
  while (reader_->Read(&message)) {
  }
  return reader_->Finish();
}

absl::StatusOr<grpc::ByteBuffer> CallRaw(grpc::Channel& channel, const std::string& method,
                                         const std::string& bytes) {
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  BoundedContext context;
  const grpc::internal::RpcMethod rpc(method.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      &channel, rpc, &context, request, &response);
  if (!status.ok()) {
    return client::FromGrpc(status);
  }
  return response;
}

::grpc::health::v1::HealthCheckResponse::ServingStatus HealthOf(const std::shared_ptr<grpc::Channel>& channel,
                                                                const std::string& service) {
  ::grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  ::grpc::health::v1::HealthCheckResponse response;
  BoundedContext context;
  const grpc::Status status =
      ::grpc::health::v1::Health::NewStub(channel)->Check(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.status();
}

v1::MapInfo InfoOf(TestServer& server, const std::string& map) {
  auto request = About<v1::GetMapRequest>(map);
  const absl::StatusOr<v1::GetMapResponse> got = server.client().GetMap(request);
  EXPECT_TRUE(got.ok()) << got.status();
  return got.ok() ? got->info() : v1::MapInfo();
}

v1::Version VersionOf(TestServer& server, const std::string& map) { return InfoOf(server, map).version(); }

v1::Cell CellAt(int x, int y) {
  v1::Cell cell;
  cell.set_x(x);
  cell.set_y(y);
  return cell;
}

v1::Location LocationAt(int x, int y) {
  v1::Location location;
  *location.mutable_cell() = CellAt(x, y);
  return location;
}

v1::Rectangle RectangleAt(int x, int y, int width, int height) {
  v1::Rectangle rectangle;
  rectangle.set_x(x);
  rectangle.set_y(y);
  rectangle.set_width(width);
  rectangle.set_height(height);
  return rectangle;
}

v1::FindPathRequest PathRequest(const std::string& map, v1::Cell start, v1::Cell goal) {
  auto request = About<v1::FindPathRequest>(map);
  *request.mutable_start()->mutable_cell() = start;
  *request.add_goals()->mutable_cell() = goal;
  return request;
}

v1::UpdateMapRequest BlockRequest(const std::string& map, const std::vector<v1::Cell>& cells) {
  auto request = About<v1::UpdateMapRequest>(map);
  request.add_edits()->mutable_block()->mutable_cells()->Assign(cells.begin(), cells.end());
  return request;
}

std::string Show(const google::protobuf::RepeatedPtrField<v1::Cell>& points) {
  std::string shown;
  for (const v1::Cell& point : points) {
    absl::StrAppend(&shown, shown.empty() ? "" : " ", "(", point.x(), ", ", point.y(), ")");
  }
  return shown;
}

}  // namespace waystar
