// SPDX-License-Identifier: Apache-2.0
// The properties, and a bench of two rings.
#include "tests/fuzz/heater_codecs.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "core/text/format_text.hpp"
#include "drivers/heater/nicslab.hpp"
#include "drivers/heater/qontrol.hpp"
#include "sim_backend/devices/heater/line_heater_models.hpp"

namespace loom::fuzz {
namespace {

constexpr std::array kStates{LineHeaterState::introduce, LineHeaterState::count,         LineHeaterState::limit,
                             LineHeaterState::write,     LineHeaterState::reading_volts, LineHeaterState::reading_current};

void check_answer(const LineAnswer& answer) {
  constexpr double kMost = 1e4;
  LOOM_ASSERT(std::abs(answer.volts.value_or(0)) <= kMost && std::abs(answer.amperes.value_or(0)) <= kMost);
  LOOM_ASSERT(answer.type.size() + answer.serial.size() < 40);
  LOOM_ASSERT(answer.type.empty() == answer.serial.empty());
  for (const LineComplaint& complaint : answer.complaints) {
    const auto again = qontrol::read_complaint(format_text("E{}:{}", complaint.code, complaint.channel));
    LOOM_ASSERT(again && again->kind == complaint.kind && again->channel == complaint.channel);
  }
}

Fabric bench() {
  Fabric fabric;
  RingFilter ring;
  ring.cold_resonance = Frequency{194'000'000};
  for (std::uint32_t i = 0; i < 2; ++i) {
    fabric.elements.push_back({ElementId{i}, "ring", 1, 2, Db{100}, ring});
  }
  fabric.devices.push_back({DeviceId{0}, "bank", DeviceRole::filter, NodeId{0}, BusId{0}, 0, {ElementId{0}, ElementId{1}}});
  return fabric;
}

/// Says a text to a model as an emulator does; its answer.
std::string answer_of(SimulatedDevice& model, Instant now, std::string_view text, std::string terminator) {
  const Transaction transaction{DeviceId{0}, 0, Frame{{text.begin(), text.end()}, 0, std::move(terminator)},
                                std::chrono::seconds{60}};
  const ModelReply delivered = model.execute(now, transaction);
  LOOM_ASSERT(delivered.service_time >= Duration{} && delivered.service_time <= std::chrono::seconds{60});
  model.take_changes();
  return {delivered.reply.bytes.begin(), delivered.reply.bytes.end()};
}

}  // namespace

void check_heater_line(std::string_view text) {
  for (const LineHeaterState state : kStates) {
    check_answer(qontrol::read({state, 3, 0}, text));
    const LineAnswer nicslab = nicslab::read({state, 3, 0}, text);
    check_answer(nicslab);
    LOOM_ASSERT(nicslab.volts.has_value() == nicslab.amperes.has_value());
  }
}

void check_heater_models(std::string_view text) {
  static const Fabric fabric = bench();
  const auto qontrol = kSimulatedQontrol.make(fabric, fabric.devices.front(), {});
  const auto nicslab = kSimulatedNicslab.make(fabric, fabric.devices.front(), {});
  const Instant begin = instant_from_ns(1'000'000);
  const Instant later = begin + std::chrono::minutes{2};
  const std::string line = std::string(text) + "\n";
  answer_of(*qontrol, begin, line, "\n");
  const LineQuestion volts{LineHeaterState::reading_volts, 1, 0};
  const double read = qontrol::read(volts, answer_of(*qontrol, later, "v1?\n", "\n")).volts.value();
  LOOM_ASSERT(read >= 0 && read <= 12.1);
  answer_of(*nicslab, begin, line, {});
  const LineAnswer both = nicslab::read(volts, answer_of(*nicslab, later, "CH:1:VAL?\n", "\n"));
  LOOM_ASSERT(both.volts.value() >= 0 && both.volts.value() <= 29.1 && both.amperes.value() <= 0.31);
}

std::vector<std::string_view> heater_seeds() {
  return {"OK\n",
          "4.500 V\n",
          "12.000 mA\n",
          "Q8iv-0123\n",
          "16\n",
          "E01:07\nOK\n",
          "E90:00\n4.500 V\r\n",
          "CH:3:VAL:1.250:0.0125\n",
          "CH:3:1.250:0.0125\n",
          "v1=4.5",
          "vmax1=9.000",
          "i1?",
          "id?",
          "CH:1:VOLT:1.25",
          "CH:1:VAL?"};
}

}  // namespace loom::fuzz
