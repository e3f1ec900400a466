#include "client/streams.h"

#include "client/errors.h"
#include "client/timeout.h"

namespace waystar::client {

UpdateStream::UpdateStream(v1::MapService::StubInterface& maps, absl::Duration timeout) {
  SetTimeout(context_, timeout);
  stream_ = maps.StreamObstacleUpdates(&context_);
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
  return stream_->Write(message);
}

void UpdateStream::EndSending() { stream_->WritesDone(); }

bool UpdateStream::Receive(v1::StreamObstacleUpdatesResponse& answer) { return stream_->Read(&answer); }

absl::Status UpdateStream::Finish() {
  is_finished_ = true;
  return FromGrpc(stream_->Finish());
}

PathStream::PathStream(v1::PathService::StubInterface& paths, absl::Duration timeout) {
  SetTimeout(context_, timeout);
  stream_ = paths.StreamFindPath(&context_);
}

PathStream::~PathStream() {
  if (!is_finished_) {
    context_.TryCancel();
    stream_->Finish().IgnoreError();
  }
}

bool PathStream::Send(const v1::StreamFindPathRequest& queries) { return stream_->Write(queries); }

void PathStream::EndSending() { stream_->WritesDone(); }

bool PathStream::Receive(v1::StreamFindPathResponse& answers) { return stream_->Read(&answers); }

absl::Status PathStream::Finish() {
  is_finished_ = true;
  return FromGrpc(stream_->Finish());
}

MapWatch::MapWatch(v1::MapService::StubInterface& maps, const v1::WatchMapRequest& request,
                   absl::Duration timeout) {
  SetTimeout(context_, timeout);
  reader_ = maps.WatchMap(&context_, request);
}

MapWatch::~MapWatch() {
  if (!is_finished_) {
    context_.TryCancel();
    reader_->Finish().IgnoreError();
  }
}

bool MapWatch::Next(v1::WatchMapResponse& event) { return reader_->Read(&event); }

absl::Status MapWatch::Finish() {
  is_finished_ = true;
  return FromGrpc(reader_->Finish());
}

PathWatch::PathWatch(v1::PathService::StubInterface& paths, const v1::WatchPathRequest& request,
                     absl::Duration timeout) {
  SetTimeout(context_, timeout);
  reader_ = paths.WatchPath(&context_, request);
}

PathWatch::~PathWatch() {
  if (!is_finished_) {
    context_.TryCancel();
    reader_->Finish().IgnoreError();
  }
}

bool PathWatch::Next(v1::WatchPathResponse& answer) { return reader_->Read(&answer); }

absl::Status PathWatch::Finish() {
  is_finished_ = true;
  return FromGrpc(reader_->Finish());
}

}  // namespace waystar::client
