// Worst cases of the fabric, summed once.
#include "controller/plan/grants.hpp"

#include <algorithm>
#include <set>

#include "core/limits.hpp"

namespace loom {
namespace {

/// Everything a window has beside its bytes must fit into limits::kGrantWindowNs with it: half of that for the bytes.
constexpr Duration kQuantum{limits::kGrantWindowNs / 2};
/// One way between two agents of a lab, as expected: some work on a shared loop. Safety never rests on it.
constexpr Duration kControl = std::chrono::milliseconds{1};
/// 50 m of fibre, and a kilometre of difference.
constexpr Duration kFlight{250};
constexpr Duration kFlightError = std::chrono::microseconds{5};
/// Agents of one host read one clock; TAI of several is kept closer than this, or commits are refused.
constexpr Duration kClockError = std::chrono::microseconds{10};

template <class T>
void insert_sorted(std::vector<T>& into, const T& value) {
  const auto place = std::lower_bound(into.begin(), into.end(), value);
  if (place == into.end() || *place != value) {
    into.insert(place, value);
  }
}

}  // namespace

GrantTimings grant_timings(const Fabric& fabric, const std::vector<Circuit>& circuits) {
  GrantTimings timings;
  timings.tune = timings.lock = timings.blank = timings.trigger_late = Duration{};
  timings.control = kControl;
  timings.flight = kFlight;
  timings.flight_error = kFlightError;
  timings.clock_error = kClockError;
  bool is_first = true;
  for (const Circuit& circuit : circuits) {
    const auto& transmitter = std::get<Transmitter>(fabric.element(circuit.transmitter).kind);
    const auto& receiver = std::get<Receiver>(fabric.element(circuit.receiver).kind);
    timings.rate = is_first ? circuit.rate : std::min(timings.rate, circuit.rate);
    is_first = false;
    timings.tune = std::max(timings.tune, transmitter.retune_max + transmitter.blank_max + transmitter.control_max);
    timings.blank = std::max(timings.blank, transmitter.blank_max + transmitter.control_max);
    timings.trigger_late = std::max(timings.trigger_late, transmitter.control_max);
    timings.lock = std::max(timings.lock, receiver.acquisition_max);
  }
  return timings;
}

TimedSetpoint wavelength_entry(const Fabric& fabric, const Circuit& circuit, const TransmitterSetpoint& light,
                               Duration offset) {
  const auto& transmitter = std::get<Transmitter>(fabric.element(circuit.transmitter).kind);
  const auto& receiver = std::get<Receiver>(fabric.element(circuit.receiver).kind);
  const Duration guard = transmitter.retune_max + transmitter.blank_max + transmitter.control_max + receiver.acquisition_max;
  return {offset, guard, Duration{limits::kGrantWindowNs}, light};
}

std::vector<GrantMap> grant_maps(const Fabric& fabric, const Job& job, const Stage& stage,
                                 const std::vector<Circuit>& circuits) {
  const GrantTimings timings = grant_timings(fabric, circuits);
  std::vector<GrantMap> maps;
  for (const NodeId node : job.nodes) {
    GrantMap map{job.id, {}, timings, kQuantum, {}, {}, {}};
    for (const Circuit& circuit : circuits) {
      const auto laser = fabric.device_of_element[circuit.transmitter.value];
      if (circuit.source == node && laser) {
        map.wavelengths.push_back({circuit.destination, *laser, circuit.slot});
      }
      if (circuit.destination == node) {
        insert_sorted(map.sources, circuit.source);
      }
    }
    std::sort(map.wavelengths.begin(), map.wavelengths.end(), [](const AllowedWavelength& a, const AllowedWavelength& b) {
      return std::pair{a.destination, a.laser} < std::pair{b.destination, b.laser};
    });
    std::copy_if(stage.streams.begin(), stage.streams.end(), std::back_inserter(map.sends),
                 [&](const OfferedStream& stream) { return stream.source == node; });
    maps.push_back(std::move(map));
  }
  return maps;
}

bool is_same_but_routed_by(const GrantMap& a, const GrantMap& b) {
  GrantMap same = a;
  same.routed_by = b.routed_by;
  return same == b;
}

void reroute_touched_grants(const Fabric& fabric, const std::vector<NodeId>& restored, Plan& plan) {
  std::set<JobId> jobs;
  for (const NodePlan& node : plan.nodes) {
    for (std::size_t i = 0; node.grants && i < node.devices.size(); ++i) {
      const DevicePlan& device = node.devices[i];
      if (device.touched && fabric.device(device.device).role == DeviceRole::transmitter) {
        jobs.insert(node.grants->job);
      }
    }
  }
  for (const NodeId node : restored) {
    if (plan.nodes[node.value].grants) {
      jobs.insert(plan.nodes[node.value].grants->job);
    }
  }
  for (NodePlan& node : plan.nodes) {
    if (!node.grants || !jobs.contains(node.grants->job)) {
      continue;
    }
    node.grants->routed_by = plan.revision;
    insert_sorted(plan.changed, node.node);
    for (DevicePlan& device : node.devices) {
      const bool is_laser = fabric.device(device.device).role == DeviceRole::transmitter;
      device.touched = device.touched || (is_laser && !device.left_alone);
    }
  }
  for (const Circuit& circuit : plan.circuits) {
    if (jobs.contains(circuit.job)) {
      insert_sorted(plan.touched, circuit.id);
    }
  }
}

}  // namespace loom
