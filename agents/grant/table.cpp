// The triggers of the rows.
#include "agents/grant/table.hpp"

#include <algorithm>
#include <string>

namespace loom {

GrantTable::GrantTable(std::uint32_t transmitters, Duration tune) : lanes_(transmitters), tune_(tune) {
  LOOM_ASSERT(transmitters >= 1);
  LOOM_ASSERT(transmitters <= limits::kTransmittersPerNode);
}

Result<void> GrantTable::write(const GrantRow& row) {
  if (row.transmitter >= lanes_.size()) {
    return fail(ErrorCode::out_of_range, "grant table: transmitter " + std::to_string(row.transmitter) + " of " +
                                             std::to_string(lanes_.size()) + " does not exist");
  }
  TransmitterRows& queue = lanes_[row.transmitter].queue;
  const bool overlaps = queue.count > 0 && row.tune_at < queue.rows[queue.count - 1].dark_at;
  if (queue.count == kRowsPerTransmitter || overlaps || row.light_at < row.tune_at || row.dark_at <= row.light_at) {
    return fail(ErrorCode::conflict, "grant table: transmitter " + std::to_string(row.transmitter) + " holds " +
                                         std::to_string(queue.count) + " of " + std::to_string(kRowsPerTransmitter) +
                                         " rows, and a row must follow the one before it in time");
  }
  queue.rows[queue.count++] = row;
  return {};
}

void GrantTable::clear() {
  for (Lane& lane : lanes_) {
    lane = Lane{};
  }
}

Instant GrantTable::next_trigger(const Lane& lane) const {
  if (lane.queue.count == 0) {
    return kNever;
  }
  const GrantRow& row = lane.queue.rows[0];
  switch (lane.phase) {
    case Phase::idle:
      return row.tune_at;
    case Phase::tuning:
      return std::min(std::max(row.light_at, lane.was_tuned ? lane.since : lane.since + tune_), row.dark_at);
    case Phase::lit:
      return row.dark_at;
  }
  return kNever;
}

TableTurn GrantTable::step(Instant now) {
  TableTurn turn;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (next_trigger(lanes_[i]) <= now) {
      advance(now, i, turn);
    }
    turn.wake = std::min(turn.wake, next_trigger(lanes_[i]));
  }
  return turn;
}

void GrantTable::advance(Instant now, std::uint32_t transmitter, TableTurn& turn) {
  Lane& lane = lanes_[transmitter];
  const GrantRow& row = lane.queue.rows[0];
  const NodeId destination = row.stream.destination;
  if (now >= row.dark_at) {
    turn.orders[turn.order_count++] = {transmitter, LaserAct::dark, destination};
    end_row(now, lane, turn);
  } else if (lane.phase == Phase::idle) {
    turn.orders[turn.order_count++] = {transmitter, LaserAct::tune, destination};
    lane.phase = Phase::tuning;
    lane.was_tuned = lane.tuned_to == destination;
    lane.tuned_to = destination;
    lane.since = now;
  } else {
    turn.orders[turn.order_count++] = {transmitter, LaserAct::light, destination};
    lane.phase = Phase::lit;
    lane.since = now;
  }
}

void GrantTable::end_row(Instant now, Lane& lane, TableTurn& turn) {
  RowEnded& ended = turn.ended[turn.ended_count++];
  ended = {lane.queue.rows[0], now, now};
  if (lane.phase == Phase::lit) {
    ended.lit_from = lane.since;
  }
  lane.queue.rows[0] = lane.queue.rows[1];
  --lane.queue.count;
  lane.phase = Phase::idle;
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
  for (const Lane& lane : lanes_) {
    digest.add(lane.queue.count);
    digest.add(static_cast<std::uint64_t>(lane.phase));
    digest.add(lane.tuned_to ? lane.tuned_to->value + 1 : 0);
    digest.add(lane.was_tuned ? 1 : 0);
    digest.add(lane.phase == Phase::idle ? 0 : static_cast<std::uint64_t>(ns_of(lane.since)));
    for (std::uint32_t i = 0; i < lane.queue.count; ++i) {
      fold_row(digest, lane.queue.rows[i]);
    }
  }
}

}  // namespace loom
