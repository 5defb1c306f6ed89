// SPDX-License-Identifier: Apache-2.0
// Sources of voltage, and the two dialects.
#include "sim_backend/devices/heater/line_heater_models.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/fabric/device_profile.hpp"
#include "core/text/format_text.hpp"
#include "drivers/heater/nicslab.hpp"
#include "drivers/heater/qontrol.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {

LineHeaterModel::LineHeaterModel(const Device& device, const std::vector<RingFilter>& rings, HeaterSource source,
                                 const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options),
      rings_(rings, options.rings, options.seed),
      source_(source),
      volts_(rings.size(), 0),
      bounds_(rings.size(), source.volt_max) {}

OpticalState LineHeaterModel::light(Instant at) const {
  RingLight light;
  const bool dead = has_fault(DeviceFaultKind::fail, at);
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const bool is_cold = dead || faults().is_open(static_cast<std::uint16_t>(i), at);
    const Frequency resonance = is_cold ? rings_.unheated_at(i, at) : rings_.resonance_at(i, at);
    light.resonances.push_back(resonance + detuning(at, static_cast<std::uint16_t>(i), false));
  }
  return light;
}

void LineHeaterModel::misroute(OpticalState& state) const { rings_.misroute(std::get<RingLight>(state)); }

void LineHeaterModel::append_breakpoints(Instant from, std::vector<Instant>& instants) const {
  rings_.append_breakpoints(from, instants);
}

void LineHeaterModel::power_up(Instant now) {
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    rings_.heat(i, now, 0, options().heater_time_constant);
    volts_[i] = 0;
    bounds_[i] = source_.volt_max;
  }
}

/// What is said unasked comes before the answer; the bus finds more than one line, which is no reply, and keeps it.
ModelReply LineHeaterModel::respond(Instant now, const Transaction& transaction) {
  const auto line = line_in(transaction);
  if (!line) {
    return no_answer(transaction);
  }
  const Instant at = now + wire_time(line->size() + 1, options().serial_baud) + options().device_time;
  const std::string reply = answer(now, at, *line);
  if (reply.empty()) {
    return wants_reply(transaction) ? no_answer(transaction) : ModelReply{{}, at - now};
  }
  const std::string before = unasked();
  const std::string said = before + reply;
  BusReply heard{before.empty() ? BusStatus::ok : BusStatus::malformed, 0, {}, {said.begin(), said.end()}};
  heard.cause = before.empty() ? std::string{} : format_text("{} bytes after its end", reply.size());
  return {std::move(heard), at - now + wire_time(said.size(), options().serial_baud)};
}

ModelReply LineHeaterModel::refuse(Instant, const Transaction&) {
  return {{BusStatus::nack, 0, {}, {}}, options().device_time};
}

LineHeaterModel::Set LineHeaterModel::set_volts(Instant now, Instant at, std::size_t ring, double volts) {
  if (!(volts >= 0) || volts > bounds_[ring] + 1e-9) {
    return Set::over_voltage;
  }
  if (volts / rings_.filter(ring).heater_ohm > source_.ampere_max) {
    return Set::over_current;
  }
  if (has_fault(DeviceFaultKind::stick, now)) {
    return Set::taken;
  }
  record(at, static_cast<std::uint32_t>(ring), static_cast<std::int32_t>(std::lround(volts * 1e3)));
  if (volts != volts_[ring]) {
    volts_[ring] = volts;
    rings_.heat(ring, at, volts, stretched(at, options().heater_time_constant));
    light_changed(now, at);
  }
  return Set::taken;
}

double LineHeaterModel::measured_volts(std::size_t ring) {
  constexpr double kNoise = 1e-3;
  return std::max(0.0, volts_[ring] + kNoise * (static_cast<double>(draw() % 5) - 2));
}

double LineHeaterModel::measured_amperes(Instant at, std::size_t ring) {
  constexpr double kNoise = 1e-6;
  const bool is_open = has_fault(DeviceFaultKind::fail, at) || faults().is_open(static_cast<std::uint16_t>(ring), at);
  const double through = is_open ? 0 : volts_[ring] / rings_.ohm(ring);
  return through + kNoise * static_cast<double>(draw() % 3);
}

namespace {

std::string upper(std::string_view text) {
  std::string raised(text);
  std::ranges::transform(raised, raised.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return raised;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Three decimals, as both makers print.
std::string decimal(double value) {
  const auto thousandths = std::llround(value * 1e3);
  return format_text("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

/// A module of a chain that begins with it. After its power was gone it says so once, before whatever it is asked next, unless
/// whoever listened was not there.
class QontrolModel final : public LineHeaterModel {
 public:
  QontrolModel(const Device& device, const std::vector<RingFilter>& rings, const qontrol::Module& module, std::size_t first,
               const SimDeviceOptions& options)
      : LineHeaterModel(device, rings, {module.volt_max, module.ampere_max}, options),
        identity_(format_text("{}-{:04}", module.type, device.id.value)),
        full_scale_(module.volt_max),
        first_(first) {}

 protected:
  void power_up(Instant now) override {
    LineHeaterModel::power_up(now);
    unasked_ = draw() % 2 == 0 ? "E90:00\n" : "";
  }
  std::string unasked() override { return std::exchange(unasked_, {}); }
  std::string answer(Instant now, Instant at, std::string_view text) override {
    const std::string line = upper(text);
    if (line == "ID?") {
      return identity_ + "\n";
    }
    if (line == "NCHAN?") {
      return format_text("{}\n", first_ + channels());
    }
    if (line == "VFULL?") {
      return decimal(full_scale_) + " V\n";
    }
    const std::size_t mark = std::min(line.find_first_of("?="), line.size());
    const std::size_t digits = std::min(line.find_first_of("0123456789"), mark);
    const auto channel = number_of<std::size_t>(std::string_view(line).substr(digits, mark - digits));
    if (mark == line.size() || !channel) {
      return "E10:00\n";
    }
    if (*channel < first_ || *channel >= first_ + channels()) {
      return format_text("E12:{:02}\n", *channel);
    }
    const std::string_view command = std::string_view(line).substr(0, digits);
    const std::size_t ring = *channel - first_;
    return line[mark] == '?' ? asked(at, command, ring, mark + 1 == line.size())
                             : told(now, at, command, ring, std::string_view(line).substr(mark + 1));
  }

 private:
  std::string asked(Instant at, std::string_view command, std::size_t ring, bool is_whole) {
    if (is_whole && command == "V") {
      return decimal(measured_volts(ring)) + " V\n";
    }
    return is_whole && command == "I" ? decimal(measured_amperes(at, ring) * 1e3) + " mA\n" : "E10:00\n";
  }
  std::string told(Instant now, Instant at, std::string_view command, std::size_t ring, std::string_view text) {
    const auto value = number_of<double>(text);
    if (!value || !(*value >= 0)) {
      return format_text("E11:{:02}\n", first_ + ring);
    }
    if (command == "VMAX") {
      bound(ring, std::min(*value, full_scale_));
      return "OK\n";
    }
    if (command != "V") {
      return "E10:00\n";
    }
    const Set result = set_volts(now, at, ring, *value);
    return result == Set::taken ? "OK\n" : format_text("E{:02}:{:02}\n", result == Set::over_voltage ? 1 : 2, first_ + ring);
  }

  std::string identity_;
  double full_scale_;
  std::size_t first_;
  std::string unasked_;
};

/// Whatever it does not understand or cannot give it leaves as it was, and says nothing.
class NicslabModel final : public LineHeaterModel {
 public:
  NicslabModel(const Device& device, const std::vector<RingFilter>& rings, std::size_t first, const SimDeviceOptions& options)
      : LineHeaterModel(device, rings, {nicslab::kVoltMax, nicslab::kAmpereMax}, options), first_(first) {}

 protected:
  std::string answer(Instant now, Instant at, std::string_view text) override {
    const std::string line = upper(text);
    std::string_view rest = line;
    if (!rest.starts_with("CH:")) {
      return {};
    }
    rest.remove_prefix(3);
    const auto channel = number_of<std::size_t>(rest.substr(0, rest.find(':')));
    if (!channel || *channel < first_ || *channel >= first_ + channels() || rest.find(':') == std::string_view::npos) {
      return {};
    }
    rest.remove_prefix(rest.find(':') + 1);
    const std::size_t ring = *channel - first_;
    if (rest == "VAL?") {
      const std::string volts = decimal(measured_volts(ring));
      const auto microamperes = std::llround(measured_amperes(at, ring) * 1e6);
      return format_text("CH:{}:VAL:{}:{}.{:06}\n", *channel, volts, microamperes / 1'000'000, microamperes % 1'000'000);
    }
    if (rest.starts_with("VOLT:")) {
      if (const auto volts = number_of<double>(rest.substr(5))) {
        static_cast<void>(set_volts(now, at, ring, *volts));
      }
    }
    return {};
  }

 private:
  std::size_t first_;
};

}  // namespace

constinit const SimulatedModel kSimulatedQontrol{
    "qontrol",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      const DeviceProfileView profile(kQontrol.model.keys, device.profile);
      return std::make_unique<QontrolModel>(device, rings_of(fabric, device), qontrol::modules()[profile.word("type")],
                                            static_cast<std::size_t>(profile.integer("first_channel")), options);
    },
    "heater"};

constinit const SimulatedModel kSimulatedNicslab{
    "nicslab",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      const DeviceProfileView profile(kNicslab.model.keys, device.profile);
      return std::make_unique<NicslabModel>(device, rings_of(fabric, device),
                                            static_cast<std::size_t>(profile.integer("first_channel")), options);
    },
    "heater"};

}  // namespace loom
