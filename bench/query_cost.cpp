// SPDX-License-Identifier: Apache-2.0
// What each question of an operator costs the controller's thread on 1024 nodes, made and encoded: heartbeats wait for it. A
// page is what one request is answered with. The floor beside it: the encoding of the same answer alone.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/control/controller.hpp"
#include "controller/control/timers.hpp"
#include "controller/plan/pipeline.hpp"
#include "proto/codec.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 50;

/// A controller whose agents do at once what they are told.
class Lab {
 public:
  Lab() : fabric_(std::make_shared<const Fabric>(make_oddl({}))), controller_({fabric_, "oddl", {}, {}, {}, encoded_bytes}) {
    feed(Started{1, kVirtualClock, {}});
    for (const Node& node : fabric_->nodes) {
      deliver(node.id, Hello{"bench", 100, {}, {}, false, {}});
    }
    JobSpec spec;
    spec.name = "ring";
    spec.node_count = static_cast<std::uint32_t>(fabric_->nodes.size());
    spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}, 1}};
    (void)ask(SubmitJob{spec, false});
    for (int i = 0; i < 100; ++i) {
      now_ += std::chrono::milliseconds{50};
      for (const Node& node : fabric_->nodes) {
        deliver(node.id, Heartbeat{controller_.confirmed(), controller_.confirmed(), false});
      }
      for (const TimerId timer : {timers::kSweep, timers::kTick, timers::kPlan}) {
        feed(TimerFired{timer});
      }
      settle();
    }
    for (const Device& device : fabric_->devices) {
      deliver(device.agent, ObservationReport{{{device.id, DeviceHealth::ready, now_, reading_of(device), ""}}});
    }
    for (std::uint64_t revision = 1; revision < 1'024; ++revision) {
      const NodeId node{static_cast<std::uint32_t>(revision)};
      deliver(node, AlarmReport{{AlarmCode::device_failed, node, fabric_->devices_of_agent[node.value].front(), "burnt", ""}});
    }
  }

  std::size_t circuits() const { return controller_.confirmed_plan() ? controller_.confirmed_plan()->plan.circuits.size() : 0; }
  std::size_t devices() const { return fabric_->devices.size(); }
  Envelope ask(OperatorAsk what) {
    Envelope answer;
    answer_ = &answer;
    feed(MessageArrived{
        {Peer::Kind::operator_, 7},
        {kWireVersion, "ada", Role::admin, {}, {}, {}, {}, OperatorRequest{RequestId{++asked_}, std::move(what)}}});
    answer_ = nullptr;
    return answer;
  }

 private:
  void deliver(NodeId node, Body body, Revision revision = {}) {
    feed(MessageArrived{agent_peer(node),
                        {kWireVersion, "agent", Role::agent, Term{1}, node, kVirtualClock, revision, std::move(body)}});
  }
  Reading reading_of(const Device& device) const {
    switch (device.role) {
      case DeviceRole::transmitter:
        return TransmitterObservation{};
      case DeviceRole::filter:
        return FilterObservation{std::vector<std::int32_t>(device.elements.size())};
      case DeviceRole::wavelength_switch:
        return WavelengthSwitchObservation{{}, true};
      case DeviceRole::circuit_switch:
        return CircuitSwitchObservation{{}, true};
      case DeviceRole::monitor:
        return MonitorObservation{};
      case DeviceRole::gain_stage:
        return GainObservation{usual_gain(fabric_->element(device.elements.front()).kind), true};
    }
    return {};
  }
  void feed(const Event& event) {
    EffectSink sink;
    controller_.step(now_, event, sink);
    std::uint64_t appends = 0;
    for (Effect& effect : sink.effects()) {
      if (auto* send = std::get_if<Send>(&effect)) {
        if (send->to.kind == Peer::Kind::operator_ && answer_ != nullptr) {
          *answer_ = std::move(send->envelope);
        } else {
          inbox_.push_back(std::move(send->envelope));
        }
      } else if (std::holds_alternative<Append>(effect)) {
        ++appends;
      } else if (auto* make = std::get_if<MakePlan>(&effect)) {
        plans_.push_back(make->request);
      }
    }
    appended_ += appends;
    if (appends > 0) {
      feed(Appended{appended_});
    }
  }
  void settle() {
    while (!inbox_.empty() || !plans_.empty()) {
      if (!plans_.empty()) {
        const auto request = plans_.front();
        plans_.pop_front();
        feed(Planned{{request->revision, make_plan(all_architectures(), *request), {}}});
        continue;
      }
      const Envelope asked = std::move(inbox_.front());
      inbox_.pop_front();
      if (std::holds_alternative<Prepare>(asked.body)) {
        deliver(asked.node, Prepared{{}, std::chrono::milliseconds{1}}, asked.revision);
      } else if (std::holds_alternative<Arm>(asked.body)) {
        deliver(asked.node, Armed{{}, std::chrono::milliseconds{100}}, asked.revision);
      } else if (std::holds_alternative<Go>(asked.body)) {
        deliver(asked.node, Darkened{{}, {}}, asked.revision);
      } else if (const auto* proceed = std::get_if<Proceed>(&asked.body)) {
        deliver(asked.node, proceed->phase == CommitPhase::move ? Body(Settled{{}, {}}) : Body(Applied{{}, {}}),
                asked.revision);
      }
    }
  }

  std::shared_ptr<const Fabric> fabric_;
  Controller controller_;
  Instant now_{std::chrono::seconds{1}};
  std::deque<Envelope> inbox_;
  std::deque<std::shared_ptr<const PlanRequest>> plans_;
  Envelope* answer_ = nullptr;
  std::uint64_t appended_ = 0;
  std::uint64_t asked_ = 0;
};

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void measure(Lab& lab, const char* name, Query query) {
  std::vector<double> whole;
  std::vector<double> encoding;
  std::size_t bytes = 0;
  std::uint32_t total = 0;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = Clock::now();
    const Envelope answer = lab.ask(query);
    const auto made = Clock::now();
    bytes = encode(answer).size();
    const auto end = Clock::now();
    whole.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    encoding.push_back(std::chrono::duration<double, std::micro>(end - made).count());
    total = std::get<OperatorReply>(answer.body).total_rows;
  }
  std::sort(whole.begin(), whole.end());
  std::printf("  %-22s p50 %8.0f us  max %8.0f us  of it encoding %8.0f us  %8zu bytes of %u rows\n", name, median(whole),
              whole.back(), median(encoding), bytes, total);
}

}  // namespace

int main() {
  Lab lab;
  std::printf("one request each, %zu circuits, %zu devices\n", lab.circuits(), lab.devices());
  measure(lab, "status", {Noun::status, {}});
  measure(lab, "nodes", {Noun::nodes, {}});
  measure(lab, "devices", {Noun::devices, {}});
  measure(lab, "devices, last page", {Noun::devices, {}, static_cast<std::uint32_t>(lab.devices() - 1), 0});
  measure(lab, "one device", {Noun::devices, 7});
  measure(lab, "circuits", {Noun::circuits, {}});
  measure(lab, "circuits, last page", {Noun::circuits, {}, static_cast<std::uint32_t>(lab.circuits() - 1), 0});
  measure(lab, "one circuit", {Noun::circuits, 3});
  measure(lab, "explanation", {Noun::explanation, 3});
  measure(lab, "jobs", {Noun::jobs, {}});
  measure(lab, "history", {Noun::history, {}});
  measure(lab, "alarms", {Noun::alarms, {}});
  return 0;
}
