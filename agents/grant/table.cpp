// SPDX-License-Identifier: Apache-2.0
// The triggers of the rows.
#include "agents/grant/table.hpp"

#include <algorithm>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {

GrantTable::GrantTable(std::uint32_t transmitters, Duration tune) : units_(transmitters), tune_(tune) {
  LOOM_ASSERT(transmitters >= 1);
  LOOM_ASSERT(transmitters <= limits::kTransmittersPerNode);
}

Result<void> GrantTable::write(const GrantRow& row) {
  if (row.transmitter >= units_.size()) {
    return fail(ErrorCode::out_of_range,
                format_text("grant table: transmitter {} of {} does not exist", row.transmitter, units_.size()));
  }
  TransmitterRows& queue = units_[row.transmitter].queue;
  const bool overlaps = queue.count > 0 && row.tune_at < queue.rows[queue.count - 1].dark_at;
  if (queue.count == kRowsPerTransmitter || overlaps || row.light_at < row.tune_at || row.dark_at <= row.light_at) {
    return fail(ErrorCode::conflict,
                format_text("grant table: transmitter {} holds {} of {} rows, and a row must follow the one before it in time",
                            row.transmitter, queue.count, kRowsPerTransmitter));
  }
  queue.rows[queue.count++] = row;
  return {};
}

void GrantTable::clear() {
  for (DeviceUnit& unit : units_) {
    unit = DeviceUnit{};
  }
}

Instant GrantTable::next_trigger(const DeviceUnit& unit) const {
  if (unit.queue.count == 0) {
    return kNever;
  }
  const GrantRow& row = unit.queue.rows[0];
  switch (unit.phase) {
    case Phase::idle:
      return row.tune_at;
    case Phase::tuning:
      return std::min(std::max(row.light_at, unit.was_tuned ? unit.since : unit.since + tune_), row.dark_at);
    case Phase::lit:
      return row.dark_at;
  }
  return kNever;
}

TableStep GrantTable::step(Instant now) {
  TableStep context;
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    if (next_trigger(units_[i]) <= now) {
      advance(now, i, context);
    }
    context.wake = std::min(context.wake, next_trigger(units_[i]));
  }
  return context;
}

void GrantTable::advance(Instant now, std::uint32_t transmitter, TableStep& context) {
  DeviceUnit& unit = units_[transmitter];
  const GrantRow& row = unit.queue.rows[0];
  const NodeId destination = row.stream.destination;
  if (now >= row.dark_at) {
    context.orders[context.order_count++] = {transmitter, LaserAct::dark, destination};
    end_row(now, unit, context);
  } else if (unit.phase == Phase::idle) {
    context.orders[context.order_count++] = {transmitter, LaserAct::tune, destination};
    unit.phase = Phase::tuning;
    unit.was_tuned = unit.tuned_to == destination;
    unit.tuned_to = destination;
    unit.since = now;
  } else {
    context.orders[context.order_count++] = {transmitter, LaserAct::light, destination};
    unit.phase = Phase::lit;
    unit.since = now;
  }
}

void GrantTable::end_row(Instant now, DeviceUnit& unit, TableStep& context) {
  RowEnded& ended = context.ended[context.ended_count++];
  ended = {unit.queue.rows[0], now, now};
  if (unit.phase == Phase::lit) {
    ended.lit_from = unit.since;
  }
  unit.queue.rows[0] = unit.queue.rows[1];
  --unit.queue.count;
  unit.phase = Phase::idle;
}

void fold_row(Digest& digest, const GrantRow& row) {
  digest.add(row.transmitter);
  digest.add(row.stream.job.value);
  digest.add(row.stream.collective);
  digest.add(row.stream.source.value);
  digest.add(row.stream.destination.value);
  digest.add(row.key.epoch);
  digest.add(row.key.sequence);
  digest.add(static_cast<std::uint64_t>(ns_of(row.tune_at)));
  digest.add(static_cast<std::uint64_t>(ns_of(row.light_at)));
  digest.add(static_cast<std::uint64_t>(ns_of(row.dark_at)));
  digest.add(static_cast<std::uint64_t>(row.bytes.count));
}

void GrantTable::fold(Digest& digest) const {
  for (const DeviceUnit& unit : units_) {
    digest.add(unit.queue.count);
    digest.add(static_cast<std::uint64_t>(unit.phase));
    digest.add(unit.tuned_to ? unit.tuned_to->value + 1 : 0);
    digest.add(unit.was_tuned ? 1 : 0);
    digest.add(unit.phase == Phase::idle ? 0 : static_cast<std::uint64_t>(ns_of(unit.since)));
    for (std::uint32_t i = 0; i < unit.queue.count; ++i) {
      fold_row(digest, unit.queue.rows[i]);
    }
  }
}

}  // namespace loom
