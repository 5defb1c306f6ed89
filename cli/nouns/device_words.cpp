// SPDX-License-Identifier: Apache-2.0
// One function a role.
#include "cli/nouns/device_words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/render/json.hpp"
#include "cli/render/term.hpp"
#include "core/config/yaml/quantity.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct Word {
  std::string key;
  std::string value;
};

std::unexpected<Error> refuse(const DeviceReport& device, std::string message) {
  return fail(ErrorCode::invalid_argument, format_text("{} (a {}): {}", device.name, to_string(device.role), message),
              format_text("loom device show {}", device.device.value));
}

template <class Integer>
bool read(std::string_view text, Integer& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size();
}

/// 193.1THz as well as "193.1 THz".
Result<std::int64_t> quantity(const std::string& text, const UnitTable& table) {
  const auto unit = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  std::string spaced(text.begin(), unit);
  if (unit != text.end() && !spaced.empty() && spaced.back() != ' ') {
    spaced += ' ';
  }
  return parse_quantity(spaced.append(unit, text.end()), table);
}

Result<Setpoint> set_laser(const DeviceReport& device, TransmitterSetpoint laser, const std::vector<Word>& words) {
  for (const Word& word : words) {
    if (word.key == "frequency") {
      const auto mhz = quantity(word.value, kFrequencyUnits);
      if (!mhz) {
        return refuse(device, mhz.error().message);
      }
      const std::int64_t offset = *mhz - kGridAnchor.mhz;
      if (std::abs(offset) > limits::kSlotN * kGridStep.mhz) {
        return refuse(device, format_text("{} is outside of the grid, {} to {} (kSlotN)", word.value,
                                          to_string(centre_of({-limits::kSlotN})), to_string(centre_of({limits::kSlotN}))));
      }
      if (offset % kGridStep.mhz != 0) {
        return refuse(device, word.value + " is not on the grid of 193.1 THz + n x 6.25 GHz (ITU-T G.694.1)");
      }
      laser.slot.n = static_cast<std::int32_t>(offset / kGridStep.mhz);
    } else if (word.key == "power") {
      const auto centi = quantity(word.value, kPowerUnits);
      if (!centi) {
        return refuse(device, centi.error().message);
      }
      laser.power = Dbm{static_cast<std::int32_t>(*centi)};
    } else if (word.key == "emit" && (word.value == "on" || word.value == "off")) {
      laser.emit = word.value == "on";
    } else {
      return refuse(device,
                    format_text("'{}={}' is none of frequency=193.1THz, power=-1dBm, emit=on, emit=off", word.key, word.value));
    }
  }
  return laser;
}

Result<HandSetting> set_heater(const DeviceReport& device, FilterSetpoint heater, const std::vector<Word>& words) {
  std::vector<HeaterByHand> heaters;
  for (const Word& word : words) {
    std::uint16_t channel = 0;
    const bool is_volts = word.key.starts_with("volts.");
    if ((!is_volts && !word.key.starts_with("ring.")) || !read(std::string_view(word.key).substr(is_volts ? 6 : 5), channel)) {
      return refuse(device, format_text("'{}' is neither ring.K nor volts.K with the ring's channel K, as in ring.0=193.05THz, "
                                        "ring.0=off or volts.0=2.5V",
                                        word.key));
    }
    std::erase_if(heater.rings, [&](const RingResonance& ring) { return ring.channel == channel; });
    std::erase_if(heaters, [&](const HeaterByHand& each) { return each.channel == channel; });
    if (word.value == "off") {
      continue;
    }
    if (is_volts) {
      const auto millivolts = quantity(word.value, kVoltageUnits);
      if (!millivolts || *millivolts < 0 || *millivolts >= limits::kMillivolts) {
        return refuse(device, millivolts ? format_text("{}: a heater takes 0 to {} V", word.value, limits::kMillivolts / 1000)
                                         : millivolts.error().message);
      }
      heaters.push_back({channel, static_cast<std::uint32_t>(*millivolts)});
      continue;
    }
    const auto mhz = quantity(word.value, kFrequencyUnits);
    if (!mhz) {
      return refuse(device, mhz.error().message);
    }
    const auto place = std::lower_bound(heater.rings.begin(), heater.rings.end(), channel,
                                        [](const RingResonance& ring, std::uint16_t wanted) { return ring.channel < wanted; });
    heater.rings.insert(place, {channel, Frequency{*mhz}});
  }
  return HandSetting{std::move(heater), std::move(heaters)};
}

/// "3-5" to two ports.
bool read_ports(std::string_view text, std::uint16_t& input, std::uint16_t& output) {
  const auto dash = text.find('-');
  return dash != std::string_view::npos && read(text.substr(0, dash), input) && read(text.substr(dash + 1), output);
}

Result<Setpoint> set_wss(const DeviceReport& device, const std::vector<Word>& words) {
  WavelengthSwitchSetpoint wss;
  for (const Word& word : words) {
    WssRoute route;
    const std::string_view text = word.value;
    const auto slash = text.find('/');
    const auto colon = text.find(':');
    const bool is_read = word.key == "route" && slash < colon && colon != std::string_view::npos &&
                         read(text.substr(0, slash), route.slot.n) &&
                         read(text.substr(slash + 1, colon - slash - 1), route.slot.m) &&
                         read_ports(text.substr(colon + 1), route.input, route.output);
    if (!is_read) {
      return refuse(device, format_text("'{}={}' is not route=N/M:IN-OUT, as in route=-16/8:0-3", word.key, word.value));
    }
    wss.routes.push_back(route);
  }
  std::sort(wss.routes.begin(), wss.routes.end(),
            [](const WssRoute& a, const WssRoute& b) { return std::pair{a.slot.n, a.input} < std::pair{b.slot.n, b.input}; });
  return wss;
}

Result<Setpoint> set_ocs(const DeviceReport& device, const std::vector<Word>& words) {
  CircuitSwitchSetpoint ocs;
  for (const Word& word : words) {
    CrossConnect connect;
    if (word.key != "connect" || !read_ports(word.value, connect.input, connect.output)) {
      return refuse(device, format_text("'{}={}' is not connect=IN-OUT, as in connect=0-3", word.key, word.value));
    }
    ocs.connects.push_back(connect);
  }
  std::sort(ocs.connects.begin(), ocs.connects.end(),
            [](const CrossConnect& a, const CrossConnect& b) { return a.input < b.input; });
  return ocs;
}

Result<Setpoint> set_gain(const DeviceReport& device, const std::vector<Word>& words) {
  GainSetpoint stage;
  for (const Word& word : words) {
    if (word.key == "gain" && word.value == "off") {
      stage.gain = kGainOff;
      continue;
    }
    const auto centi = word.key == "gain" ? quantity(word.value, kRatioUnits)
                                          : Result<std::int64_t>(fail(ErrorCode::invalid_argument, std::string{}));
    constexpr std::int64_t kMost = 100'00;
    if (!centi || *centi > kMost || *centi < -kMost) {
      return refuse(
          device,
          format_text(
              "'{}={}' is not gain=DB to 0.01 dB, as in gain=12dB of an amplifier, gain=-3dB of an attenuator, or gain=off",
              word.key, word.value));
    }
    stage.gain = Db{static_cast<std::int32_t>(*centi)};
  }
  return stage;
}

Result<HandSetting> by_itself(Result<Setpoint> setpoint) {
  if (!setpoint) {
    return std::unexpected(std::move(setpoint).error());
  }
  return HandSetting{std::move(*setpoint)};
}

}  // namespace

Result<HandSetting> setpoint_of(const DeviceReport& device, const std::vector<std::string>& words) {
  std::vector<Word> split;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      return refuse(device, format_text("'{}' is not key=value", word));
    }
    split.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  if (split.empty()) {
    return refuse(device, "nothing to set: give key=value, or --clear");
  }
  if (device.role == DeviceRole::gain_stage) {
    return by_itself(set_gain(device, split));  // its setpoint is one number: nothing of it stays as it is desired
  }
  if (!device.desired) {
    return fail(ErrorCode::busy,
                device.name + ": no revision has been confirmed yet, so nobody knows what it is to change from", "loom status");
  }
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&*device.desired)) {
    return by_itself(set_laser(device, *laser, split));
  }
  if (const auto* heater = std::get_if<FilterSetpoint>(&*device.desired)) {
    return set_heater(device, *heater, split);
  }
  return by_itself(std::holds_alternative<WavelengthSwitchSetpoint>(*device.desired) ? set_wss(device, split)
                                                                                     : set_ocs(device, split));
}

}  // namespace loom::cli
