// SPDX-License-Identifier: Apache-2.0
// Lines of an XPOW, and its model.
#include "drivers/heater/nicslab.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/text/format_text.hpp"

namespace loom {
namespace nicslab {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> quantity_of(std::string_view text) {
  const auto value = number_of<double>(text);
  return value && std::isfinite(*value) && std::abs(*value) < 1e4 ? value : std::nullopt;
}

}  // namespace

LineAnswer read(const LineQuestion& question, std::string_view reply) {
  constexpr std::size_t kFieldsMax = 6;
  reply = reply.substr(0, reply.find_last_not_of(" \r\n") + 1);
  std::array<std::string_view, kFieldsMax> fields{};
  std::size_t count = 0;
  while (count < kFieldsMax) {
    const std::size_t end = std::min(reply.find(':'), reply.size());
    fields[count++] = reply.substr(0, end);
    if (end == reply.size()) {
      break;
    }
    reply.remove_prefix(end + 1);
  }
  LineAnswer answer;
  const bool has_word = count == 5 && !quantity_of(fields[2]);
  if ((count != 4 && !has_word) || fields[0] != "CH" || number_of<std::size_t>(fields[1]) != question.channel) {
    return answer;
  }
  const auto volts = quantity_of(fields[count - 2]);
  const auto amperes = quantity_of(fields[count - 1]);
  if (volts && amperes) {
    answer.volts = volts;
    answer.amperes = amperes;
  }
  return answer;
}

std::string say(const LineQuestion& question) {
  if (question.state == LineHeaterState::reading_volts) {
    return format_text("CH:{}:VAL?", question.channel);
  }
  return question.state == LineHeaterState::write
             ? format_text("CH:{}:VOLT:{}.{:03}", question.channel, question.millivolts / 1000, question.millivolts % 1000)
             : std::string{};
}

}  // namespace nicslab

namespace {

/// What is usual is an assumption [K]; MEASCONF sets how long it measures.
constexpr std::array kKeys{
    ProfileKey{"first_channel", IntegerKey{1, 1, 8}, "channel of the first ring, as the device counts"},
    ProfileKey{"measure_after",
               DurationKey{std::chrono::milliseconds{50}, std::chrono::milliseconds{1}, std::chrono::seconds{5}},
               "until a new voltage is heat and is measured"},
    ProfileKey{"accuracy", RealKey{0.01, 0.001, 1}, "volts by which a measured voltage may differ from what was set"},
};

LineHeaterProfile profile_of(const Fabric& fabric, const Device& device) {
  const DeviceProfileView given(kKeys, device.profile);
  LineHeaterProfile profile = line_heater_profile(fabric, device, kNicslabDialect);
  profile.source = {nicslab::kVoltMax, nicslab::kAmpereMax};
  profile.first_ring = static_cast<std::size_t>(given.integer("first_channel")) - kNicslabDialect.first_channel;
  profile.settle_max = given.duration("measure_after");
  profile.accuracy_millivolts = static_cast<std::int32_t>(std::lround(given.real("accuracy") * 1e3));
  profile.exchange = std::chrono::milliseconds{5};  // over TCP [K]
  return profile;
}

std::string refuse(const Fabric& fabric, const Device& device) {
  const auto first = static_cast<std::size_t>(DeviceProfileView(kKeys, device.profile).integer("first_channel"));
  const std::size_t left = nicslab::kChannels + 1 - first;
  return device.elements.size() > left ? format_text("it has {} rings from channel {} on, and an XPOW has {} channels",
                                                     device.elements.size(), first, nicslab::kChannels)
                                       : refuse_weak_source(fabric, device, {nicslab::kVoltMax, nicslab::kAmpereMax});
}

}  // namespace

/// No client reads an answer to what it sets [K]: whether it was taken is measured.
constinit const LineHeaterDialect kNicslabDialect{.name = "Nicslab XPOW",
                                                  .terminator = "\n",
                                                  .answers_writes = false,
                                                  .reads_both = true,
                                                  .first_channel = 1,
                                                  .say = nicslab::say,
                                                  .read = nicslab::read};

constinit const DriverModel kNicslab{
    {"nicslab", DeviceRole::filter, "Nicslab XPOW, heaters with measured voltage and current, lines over TCP or a serial line",
     kKeys, refuse, kStreamSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<LineHeatersDriver>(profile_of(fabric, device));
    }};

}  // namespace loom
