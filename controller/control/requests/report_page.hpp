// SPDX-License-Identifier: Apache-2.0
// Rows of a reply, page by page, by about how many bytes each kind of row is. For reports.cpp and its siblings.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/control/requests/reports.hpp"

namespace loom {

/// So that no page takes more than a millisecond of the controller's thread to make and to encode; heartbeats wait for it.
inline constexpr std::size_t kPageBytes = 96u << 10;

inline std::size_t bytes_of(const Observation& seen) {
  std::size_t bytes = 64 + seen.fault.size();
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&seen.reading)) {
    bytes += 32 * wss->routes.size();
  } else if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&seen.reading)) {
    bytes += 16 * (ocs->connects.size() + ocs->occupied.size() + ocs->powers.size());
  } else if (const auto* heater = std::get_if<FilterObservation>(&seen.reading)) {
    bytes += 8 * heater->millivolts.size() + 16 * heater->locks.size();
  } else if (const auto* monitor = std::get_if<MonitorObservation>(&seen.reading)) {
    bytes += 24 * monitor->lights.size();
  }
  return bytes;
}

inline std::size_t bytes_of(const NodeReport& row) {
  return 96 + row.name.size() + row.turned_away.size() + 10 * row.jobs.size();
}
inline std::size_t bytes_of(const DeviceReport& row) { return 96 + row.name.size() + 2 * bytes_of(row.observation); }
inline constexpr std::size_t kCircuitBytes = 144;
inline std::size_t bytes_of(const CircuitReport& row) { return kCircuitBytes + row.state.size() + row.why.size(); }
inline std::size_t bytes_of(const JobReport& row) {
  return 192 + row.name.size() + row.workload.size() + row.reason.size() + row.slowest.size() + row.awaited.size() +
         5 * row.nodes.size();
}
inline std::size_t bytes_of(const CommitReport& row) { return 512 + row.reason.size() + row.ordered_by.size(); }
inline std::size_t bytes_of(const StandingAlarm& row) {
  return 160 + row.alarm.evidence.size() + row.alarm.next_command.size() + row.acknowledged_by.size() + 5 * row.nodes.size();
}

inline std::size_t bytes_of(const SchedulePart& row) {
  const ForwardingTable& forwarding = row.part.forwarding;
  std::size_t bytes = 64 + row.part.note.size() + 8 * (forwarding.nodes.size() + forwarding.entries.size()) +
                      4 * (forwarding.first_hop.size() + forwarding.hops.size());
  for (const Stage& stage : row.part.stages) {
    bytes += 24 * stage.streams.size();
    for (const Timeslot& timeslot : stage.timeslots) {
      bytes += 24 + 48 * timeslot.circuits.size();
    }
  }
  return bytes;
}

inline std::size_t bytes_of(const AuditRecord& row) {
  return 128 + row.principal.size() + row.asked.size() + (row.outcome.error ? row.outcome.error->message.size() : 0);
}

inline std::size_t bytes_of(const CalibrationReport& row) {
  std::size_t bytes = 96 + row.name.size() + row.calibration.serial.size();
  for (const RingLaw& law : row.calibration.rings) {
    bytes += 32 + 6 * law.shift.size();
  }
  return bytes;
}
inline std::size_t bytes_of(const RingReport& row) { return 128 + row.name.size() + 24 * row.lights.size(); }
inline std::size_t bytes_of(const ReceiverReport& row) { return 64 + row.name.size(); }
inline std::size_t bytes_of(const WayReport& row) { return 64 + row.name.size() + 24 * row.lights.size(); }

inline bool is_wanted(const Query& query, std::uint64_t id) { return !query.id.has_value() || *query.id == id; }

/// The rows from `offset` on that were asked for and fit; at least one, so that every page goes on. Only those are made: the
/// others are counted.
template <class Row>
class Page {
 public:
  explicit Page(const Query& query) : query_(query) {}

  template <class Make>
  void add(std::uint64_t id, Make make) {
    if (!is_wanted(query_, id) || total_++ < query_.offset || is_full_) {
      return;
    }
    if (query_.limit != 0 && rows_.size() == query_.limit) {
      is_full_ = true;
      return;
    }
    Row row = make();
    bytes_ += bytes_of(row);
    is_full_ = !rows_.empty() && bytes_ > kPageBytes;
    if (!is_full_) {
      rows_.push_back(std::move(row));
    }
  }
  ReportPage<Row> take() { return {std::move(rows_), total_}; }

 private:
  const Query& query_;
  std::vector<Row> rows_;
  std::uint32_t total_ = 0;
  std::size_t bytes_ = 0;
  bool is_full_ = false;
};

}  // namespace loom
