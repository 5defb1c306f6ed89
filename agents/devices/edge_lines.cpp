// SPDX-License-Identifier: Apache-2.0
// One order outstanding a line counts: the newest.
#include "agents/devices/edge_lines.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {

std::vector<EdgeLine> edge_lines_of(const Fabric& fabric, const std::vector<TriggerLine>& lines, NodeId agent) {
  std::vector<EdgeLine> own;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].agent == agent) {
      own.push_back({lines[i].name, trigger_bus(fabric, i), lines[i].devices});
    }
  }
  return own;
}

EdgeLines::EdgeLines(std::vector<EdgeLine> lines) {
  for (EdgeLine& line : lines) {
    lines_.push_back({std::move(line)});
  }
}

std::optional<std::size_t> EdgeLines::index_of(DeviceId device) const {
  const auto found = std::ranges::find_if(
      lines_, [device](const Line& line) { return std::ranges::find(line.facts.devices, device) != line.facts.devices.end(); });
  return found == lines_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - lines_.begin()));
}

void EdgeLines::order(StepContext context, Line& line, DeviceId device, Instant at) {
  line.last = TransactionId{next_transaction_++};
  line.is_taken = false;
  context.sink->emit(Transact{line.facts.bus, line.last, edge_order(device, at)});
}

void EdgeLines::arm(StepContext context, DeviceId device, Instant at) {
  const auto index = index_of(device);
  if (!index || lines_[*index].at == at || at <= context.now) {
    return;
  }
  Line& line = lines_[*index];
  line.at = at;
  ++counters_.asked;
  order(context, line, device, at);
}

void EdgeLines::disarm(StepContext context, DeviceId device) {
  const auto index = index_of(device);
  if (!index || lines_[*index].at == kNever) {
    return;
  }
  lines_[*index].at = kNever;
  order(context, lines_[*index], device, Instant{});
}

bool EdgeLines::is_armed(DeviceId device, Instant at) const {
  const auto index = index_of(device);
  return index && lines_[*index].at == at && lines_[*index].is_taken;
}

bool EdgeLines::replied(const BusReplied& event) {
  const auto line = std::ranges::find_if(lines_, [&](const Line& each) { return each.facts.bus == event.bus; });
  if (line == lines_.end()) {
    return false;
  }
  if (line->last != event.transaction || line->at == kNever) {
    return true;  // of an order that a newer one has overtaken, or of taking one back
  }
  line->is_taken = event.reply.status == BusStatus::ok;
  if (!line->is_taken) {
    ++counters_.refused;
    refusal_ = format_text("trigger '{}' gives no edge: {}", line->facts.name,
                           event.reply.cause.empty() ? "its line does not answer" : event.reply.cause);
  }
  return true;
}

std::optional<std::string> EdgeLines::take_refusal() { return std::exchange(refusal_, std::nullopt); }

}  // namespace loom
