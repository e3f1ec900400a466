#include "client/streams.h"

#include "client/errors.h"

namespace waystar::client {

UpdateStream::UpdateStream(const Connection& connection, v1::MapService::StubInterface* maps,
                           absl::Duration timeout)
    : problem_(connection.status()), is_finished_(!problem_.ok()) {
  if (problem_.ok()) {
    connection.Prepare(context_, timeout);
    stream_ = maps->StreamObstacleUpdates(&context_);
  }
}

UpdateStream::~UpdateStream() {
  if (!is_finished_) {
    context_.TryCancel();
    stream_->Finish().IgnoreError();
  }
}

bool UpdateStream::Send(const v1::UpdateObstaclesRequest& batch) {
  v1::StreamObstacleUpdatesRequest message;
  *message.mutable_update() = batch;
  return stream_ != nullptr && stream_->Write(message);
}

void UpdateStream::EndSending() {
  if (stream_ != nullptr) {
    stream_->WritesDone();
  }
}

bool UpdateStream::Receive(v1::StreamObstacleUpdatesResponse& answer) {
  return stream_ != nullptr && stream_->Read(&answer);
}

absl::Status UpdateStream::Finish() {
  is_finished_ = true;
  return stream_ == nullptr ? problem_ : FromGrpc(stream_->Finish());
}

PathStream::PathStream(const Connection& connection, v1::PathService::StubInterface* paths,
                       absl::Duration timeout)
    : problem_(connection.status()), is_finished_(!problem_.ok()) {
  if (problem_.ok()) {
    connection.Prepare(context_, timeout);
    stream_ = paths->StreamFindPath(&context_);
  }
}

PathStream::~PathStream() {
  if (!is_finished_) {
    context_.TryCancel();
    stream_->Finish().IgnoreError();
  }
}

bool PathStream::Send(const v1::StreamFindPathRequest& queries) {
  return stream_ != nullptr && stream_->Write(queries);
}

void PathStream::EndSending() {
  if (stream_ != nullptr) {
    stream_->WritesDone();
  }
}

bool PathStream::Receive(v1::StreamFindPathResponse& answers) {
  return stream_ != nullptr && stream_->Read(&answers);
}

absl::Status PathStream::Finish() {
  is_finished_ = true;
  return stream_ == nullptr ? problem_ : FromGrpc(stream_->Finish());
}

MapWatch::MapWatch(const Connection& connection, v1::MapService::StubInterface* maps,
                   const v1::WatchMapRequest& request, absl::Duration timeout)
    : problem_(connection.status()), is_finished_(!problem_.ok()) {
  if (problem_.ok()) {
    connection.Prepare(context_, timeout);
    reader_ = maps->WatchMap(&context_, request);
  }
}

MapWatch::~MapWatch() {
  if (!is_finished_) {
    context_.TryCancel();
    reader_->Finish().IgnoreError();
  }
}

bool MapWatch::Next(v1::WatchMapResponse& event) { return reader_ != nullptr && reader_->Read(&event); }

absl::Status MapWatch::Finish() {
  is_finished_ = true;
  return reader_ == nullptr ? problem_ : FromGrpc(reader_->Finish());
}

PathWatch::PathWatch(const Connection& connection, v1::PathService::StubInterface* paths,
                     const v1::WatchPathRequest& request, absl::Duration timeout)
    : problem_(connection.status()), is_finished_(!problem_.ok()) {
  if (problem_.ok()) {
    connection.Prepare(context_, timeout);
    reader_ = paths->WatchPath(&context_, request);
  }
}

PathWatch::~PathWatch() {
  if (!is_finished_) {
    context_.TryCancel();
    reader_->Finish().IgnoreError();
  }
}

bool PathWatch::Next(v1::WatchPathResponse& answer) { return reader_ != nullptr && reader_->Read(&answer); }

absl::Status PathWatch::Finish() {
  is_finished_ = true;
  return reader_ == nullptr ? problem_ : FromGrpc(reader_->Finish());
}

}  // namespace waystar::client
