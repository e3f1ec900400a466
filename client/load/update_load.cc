#include "client/load/update_load.h"

#include <cstddef>
#include <vector>

#include "client/errors.h"
#include "client/load/schedule.h"

namespace waystar::load {

UpdateLoad::UpdateLoad(const client::Client& client, const Workload& workload, double rate)
    : workload_(workload), rate_(rate), stream_(client.StreamObstacleUpdates()) {}

void UpdateLoad::Start(const Window& window) {
  window_ = &window;
  receiver_ = std::thread([this] { Receive(); });
  sender_ = std::thread([this] { Send(); });
}

void UpdateLoad::Finish() {
  sender_.join();
  receiver_.join();
}

void UpdateLoad::Send() {
  Schedule schedule = Schedule::Even(window_->begin, rate_);
  std::vector<bool> is_blocked(workload_.toggles().size());
  bool is_open = true;
  std::size_t index = 0;
  for (; is_open && window_->MaySend(schedule.due()) && Clock::now() < window_->end; schedule.Next()) {
    if (window_->SleepUntil(schedule.due())) {
      break;
    }
    is_blocked[index] = !is_blocked[index];
    is_open = Toggle(index, is_blocked[index], schedule.due());
    index = (index + 1) % is_blocked.size();
  }
  for (index = 0; is_open && index < is_blocked.size(); ++index) {
    is_open = !is_blocked[index] || Toggle(index, false, Time::max());
  }
  stream_->EndSending();
}

bool UpdateLoad::Toggle(std::size_t index, bool block, Time due) {
  const Workload::Toggle& toggle = workload_.toggles()[index];
  v1::UpdateObstaclesRequest request;
  request.set_map(toggle.map);
  v1::Edit& edit = *request.add_edits();
  *(block ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = toggle.cell;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (has_ended_) {
      return false;
    }
    under_way_.push_back(due);
  }
  sent_ += window_->Counts(due) ? 1 : 0;
  return stream_->Send(request);
}

void UpdateLoad::Receive() {
  v1::StreamObstacleUpdatesResponse answer;
  while (stream_->Receive(answer)) {
    const Time now = Clock::now();
    Time due;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (under_way_.empty()) {
        continue;
      }
      due = under_way_.front();
      under_way_.pop_front();
    }
    if (!window_->Counts(due)) {
      continue;
    }
    if (answer.has_refused()) {
      tally_.AddFailure(client::FromMessage(answer.refused()), 1);
    } else {
      ++tally_.answered;
      tally_.latency.Add(Nanos(now - due).count());
    }
    tally_.last_end = now;
  }
  absl::Status end = stream_->Finish();
  if (end.ok()) {
    end = absl::UnavailableError("the server ended the stream");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  has_ended_ = true;
  for (const Time due : under_way_) {
    if (window_->Counts(due)) {
      tally_.AddFailure(end, 1);
    }
  }
  under_way_.clear();
}

}  // namespace waystar::load
