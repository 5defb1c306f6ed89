// SPDX-License-Identifier: Apache-2.0
// Commands and replies of TL1, for the states of OcsDriver.
#include "drivers/ocs/tl1_ocs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/text/format_text.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/ocs/scpi_ocs.hpp"
#include "drivers/scpi_identity.hpp"

namespace loom {
namespace {

constexpr std::size_t kShown = 60;  ///< characters of a line in a sentence
/// GR-831: a ctag has at most six digits. The first is never 0, so that all are equally long and none is part of another.
constexpr std::uint32_t kFirstCtag = 100'000;
constexpr std::uint32_t kCtags = 900'000;
constexpr std::string_view kNotLoggedIn = "PLNA";  ///< GR-831: privilege, login not active

std::vector<PortPower> ascending(std::vector<PortPower> powers) {
  std::ranges::sort(
      powers, [](const PortPower& a, const PortPower& b) { return a.is_input != b.is_input ? a.is_input : a.port < b.port; });
  return powers;
}

}  // namespace

Result<std::string> read_password(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) {
    return fail(ErrorCode::not_found,
                format_text("password_file {}: {} (errno {})", path, std::strerror(errno), static_cast<int>(errno)));
  }
  if (!S_ISREG(about.st_mode) || (about.st_mode & 077U) != 0) {
    return fail(ErrorCode::refused,
                format_text("password_file {} has mode {:03o}; expected a file that only its owner may read "
                            "(chmod 600)",
                            path, about.st_mode & 0777U));
  }
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  if (!tl1::is_word(line)) {
    return fail(ErrorCode::invalid_argument,
                format_text("password_file {}: its first line is empty or has one of : ; , & \" \\ or a blank in it", path));
  }
  return line;
}

bool Tl1OcsDriver::knows(OcsState state) const {
  return state == OcsState::log_in
             ? !login_.user.empty()
             : state != OcsState::clear_errors && state != OcsState::receive_errors && state != OcsState::port_states;
}

void Tl1OcsDriver::forget() {
  only_connection_ = 0;
  OcsDriver::forget();
}

std::optional<OcsPort> Tl1OcsDriver::port_of(std::uint32_t number) const {
  const SwitchSize size = profile_.ports.ours;
  const std::uint32_t input = number - profile_.number_of_input(0);  // wraps below our first
  const std::uint32_t output = number - profile_.number_of_output(0);
  if (input < size.inputs) {
    return OcsPort{static_cast<std::uint16_t>(input), true};
  }
  return output < size.outputs ? std::optional(OcsPort{static_cast<std::uint16_t>(output), false}) : std::nullopt;
}

std::string Tl1OcsDriver::ctag() const { return std::to_string(kFirstCtag + exchanges_ % kCtags); }

std::string Tl1OcsDriver::text() const {
  if (state_ == OcsState::log_in) {
    return format_text("ACT-USER::{}:{}::{};", login_.user, ctag(), login_.password);
  }
  const Command asks = command();
  return format_text("{}::{}:{}::{}{};", asks.verb, asks.access, ctag(), asks.parameters.empty() ? "" : ":", asks.parameters);
}

decltype(Transaction::order) Tl1OcsDriver::order() const {
  Frame frame = line_order(text(), ";");
  frame.answers = format_text(" {} ", ctag());
  return frame;
}

/// Never the password.
std::string Tl1OcsDriver::question() const {
  if (state_ == OcsState::log_in) {
    return format_text("ACT-USER {}", login_.user);
  }
  const Command asks = command();
  return clipped(asks.access.empty() ? asks.verb : asks.verb + " " + asks.access, kShown);
}

Complaint Tl1OcsDriver::misread(const BusReply& reply) const {
  if (const auto read = tl1::read_reply(characters_of(reply), ctag())) {
    return {Trouble::garbage,
            read->completed ? format_text("{} for an answer", clipped(read->rows.empty() ? "" : read->rows.front(), kShown))
                            : "the switch " + tl1::describe_denial(*read)};
  }
  return {};
}

void Tl1OcsDriver::mark_uncertain(Instant now, const BusReply& reply) {
  const auto read = reply.status == BusStatus::ok ? tl1::read_reply(characters_of(reply), ctag()) : std::nullopt;
  if (read && read->code == kNotLoggedIn) {
    forget();
  }
  ++exchanges_;
  OcsDriver::mark_uncertain(now, reply);
}

Answer Tl1OcsDriver::absorb(Instant now, const BusReply& reply) {
  const auto read = tl1::read_reply(characters_of(reply), ctag());
  if (!read) {
    return Answer::none;
  }
  if (!read->completed) {
    const Answer answer = absorb_denial(now, *read);
    exchanges_ += answer == Answer::none ? 0 : 1;
    return answer;
  }
  Answer answer = Answer::understood;
  if (state_ == OcsState::log_in) {
    take_login();
    only_connection_ = reply.connection;
  } else if (row().exchange == Exchange::moves) {
    take_write(now);
  } else {
    answer = absorb_rows(now, read->rows);
  }
  exchanges_ += answer == Answer::none ? 0 : 1;
  return answer;
}

Answer Tl1OcsDriver::absorb_denial(Instant now, const tl1::Reply& reply) {
  if (reply.code == kNotLoggedIn && state_ != OcsState::log_in) {
    return Answer::none;
  }
  const std::string denial = tl1::describe_denial(reply);
  if (state_ == OcsState::log_in || state_ == OcsState::measure || state_ == OcsState::reading_map) {
    give_up(Trouble::refusing, format_text("{}: the switch {}", question(), denial));
    return Answer::ended;
  }
  if (row().exchange == Exchange::moves) {
    take_complaint(clipped(denial, kShown));
    take_write(now);
  } else {
    lacks(state_);  // not every firmware has it
  }
  return Answer::understood;
}

bool PolatisTl1Driver::knows(OcsState state) const { return Tl1OcsDriver::knows(state); }

/// "1&&4&17&&20"
std::string PolatisTl1Driver::our_ports() const {
  const SwitchSize size = profile_.ports.ours;
  return format_text("{}&&{}&{}&&{}", profile_.number_of_input(0),
                     profile_.number_of_input(static_cast<std::uint16_t>(size.inputs - 1)), profile_.number_of_output(0),
                     profile_.number_of_output(static_cast<std::uint16_t>(size.outputs - 1)));
}

Tl1OcsDriver::Command PolatisTl1Driver::command() const {
  switch (state_) {
    case OcsState::identify:
      return {"RTRV-NETYPE", ""};
    case OcsState::serial:
      return {"RTRV-INV", "OCS"};
    case OcsState::measure:
      return {"RTRV-EQPT", "SYSTEM", "PARAMETER=SIZE"};
    case OcsState::reading_map:
      return {"RTRV-PATCH", ""};
    case OcsState::shutters:
      return {"RTRV-PORT-SHUTTER", our_ports()};
    case OcsState::powers:
      return {"RTRV-PORT-POWER", our_ports()};
    case OcsState::open_shutters: {
      std::vector<std::uint32_t> ports;
      for (const OcsPort port : closed_shutters()) {
        ports.push_back(number_of(port));
      }
      return {"RLS-PORT-SHUTTER", tl1::write_ports(ports)};  // OPR closes, RLS opens [K]
    }
    case OcsState::disconnect: {
      std::vector<std::uint32_t> inputs;
      for (const CrossConnect each : to_disconnect()) {
        inputs.push_back(profile_.first_input + each.input);
      }
      return {"DLT-PATCH", tl1::write_ports(inputs)};
    }
    case OcsState::connect:
      return {"ENT-PATCH", tl1::write_patches(numbers(), to_connect())};  // lists on both sides [K]
    default:
      return {};
  }
}

Answer PolatisTl1Driver::absorb_rows(Instant now, const std::vector<std::string>& rows) {
  switch (state_) {
    case OcsState::identify: {
      const auto identity = rows.empty() ? std::nullopt : scpi::read_identity(rows.front());
      return identity ? take_identity({{},
                                       format_text("{} {} {}, firmware {}", identity->vendor, identity->model, identity->serial,
                                                   identity->release)})
                      : Answer::none;
    }
    case OcsState::serial: {
      const auto serial = tl1::value_of(rows, "SN");
      return take_identity({serial.value_or(""), {}});
    }
    case OcsState::measure: {
      const auto text = tl1::value_of(rows, "SIZE");
      const auto size = text ? read_switch_size(*text) : std::nullopt;
      return size ? take_size(*size) : Answer::none;
    }
    case OcsState::reading_map: {
      auto map = tl1::read_patches(numbers(), profile_.ports.whole, rows);
      if (map) {
        take_map(now, std::move(*map));
      }
      return map ? Answer::understood : Answer::none;
    }
    case OcsState::shutters:
      return absorb_shutters(rows);
    case OcsState::powers:
      return absorb_powers(rows);
    default:
      return Answer::understood;
  }
}

/// A word that is not known says nothing [K: the words].
Answer PolatisTl1Driver::absorb_shutters(const std::vector<std::string>& rows) {
  const auto words = tl1::read_port_words(rows);
  std::vector<OcsPort> closed;
  for (const auto& [number, word] : words.value_or(std::vector<std::pair<std::uint32_t, std::string>>{})) {
    const auto port = port_of(number);
    if (port && (scpi::same_word(word, "CLOSED") || scpi::same_word(word, "CLOSE"))) {
      closed.push_back(*port);
    }
  }
  if (words) {
    take_shutters(std::move(closed));
  }
  return words ? Answer::understood : Answer::none;
}

Answer PolatisTl1Driver::absorb_powers(const std::vector<std::string>& rows) {
  const auto words = tl1::read_port_words(rows);
  std::vector<PortPower> powers;
  for (const auto& [number, word] : words.value_or(std::vector<std::pair<std::uint32_t, std::string>>{})) {
    const auto port = port_of(number);
    const auto power = tl1::read_power(word);
    if (port && power) {  // a port without a monitor says so in a word
      powers.push_back({port->port, port->is_input, *power});
    }
  }
  if (words) {
    take_powers(ascending(std::move(powers)));
  }
  return words ? Answer::understood : Answer::none;
}

bool CalientTl1Driver::knows(OcsState state) const {
  return Tl1OcsDriver::knows(state) && state != OcsState::identify && state != OcsState::serial &&
         state != OcsState::shutters && state != OcsState::open_shutters &&
         state != OcsState::powers;  // powers come with the map
}

Tl1OcsDriver::Command CalientTl1Driver::command() const {
  switch (state_) {
    case OcsState::measure:
      return {"rtrv-system-info", ""};
    case OcsState::reading_map:
      return {"rtrv-crs-fiber", "all"};
    case OcsState::disconnect:
      return {"dlt-crs-fiber", tl1::write_patches(numbers(), to_disconnect())};  // never `all`
    case OcsState::connect:
      return {"ent-crs-fiber", tl1::write_patches(numbers(), to_connect())};  // [K]
    default:
      return {};
  }
}

Answer CalientTl1Driver::absorb_rows(Instant now, const std::vector<std::string>& rows) {
  if (state_ == OcsState::reading_map) {
    return absorb_map(now, rows);
  }
  const auto text = tl1::value_of(rows, "LicensedPortMatrix");
  const auto size = text ? read_switch_size(*text) : std::nullopt;
  return size ? take_size(*size) : Answer::none;
}

Answer CalientTl1Driver::absorb_map(Instant now, const std::vector<std::string>& rows) {
  std::vector<std::string> patches;
  std::vector<PortPower> powers;
  for (const std::string& row : rows) {
    const auto fiber = tl1::read_fiber_connect(row);
    if (!fiber) {
      return Answer::none;
    }
    if (fiber->input != 0 && fiber->output != 0) {
      patches.push_back(format_text("{},{}", fiber->input, fiber->output));
    }
    const auto add = [&](std::uint32_t number, std::optional<Dbm> power) {
      const auto port = number == 0 ? std::nullopt : port_of(number);
      if (port && power) {
        powers.push_back({port->port, port->is_input, *power});
      }
    };
    add(fiber->input, fiber->input_power);
    add(fiber->output, fiber->output_power);
  }
  auto map = tl1::read_patches(numbers(), profile_.ports.whole, patches);
  if (!map) {
    return Answer::none;
  }
  take_map(now, std::move(*map));
  if (profile_.monitors_ports) {
    take_powers(ascending(std::move(powers)));
  }
  return Answer::understood;
}

namespace {

constexpr ProfileKey kUser{"user", TextKey{""}, "who logs in (ACT-USER); empty: nobody does"};
constexpr ProfileKey kPasswordFile{"password_file", TextKey{""},
                                   "file on the agent's host with the user's password, mode 0600; never the password itself"};
constexpr ProfileKey kMonitorsPorts{"monitors_ports", FlagKey{false}, "its ports have power monitors, which every audit reads"};
constexpr std::array kKeys{ocs_keys::kFirstInput, ocs_keys::kFirstOutput, ocs_keys::kSize, ocs_keys::kForeignKey, kUser,
                           kPasswordFile,         kMonitorsPorts};
constexpr OcsNumbers kPolatisNumbers{1, 0};
constexpr OcsNumbers kCalientNumbers{10'001, 20'001};

OcsNumbers numbers_of(const Device& device) {
  return device.model == kCalientTl1.model.name ? kCalientNumbers : kPolatisNumbers;
}

OcsProfile tl1_profile(const Fabric& fabric, const Device& device) {
  OcsProfile profile = ocs_profile(fabric, device, kKeys, numbers_of(device));
  profile.monitors_ports = DeviceProfileView(kKeys, device.profile).flag("monitors_ports");
  profile.exchange = std::chrono::milliseconds{5};  // [K]
  return profile;
}

/// Its password is read where the device is driven: the file is on its agent's host.
template <class Driver>
std::unique_ptr<loom::Driver> make_tl1(const Fabric& fabric, const Device& device) {
  OcsProfile profile = tl1_profile(fabric, device);
  const DeviceProfileView given(kKeys, device.profile);
  Tl1Login login{given.text("user"), {}};
  if (!login.user.empty()) {
    auto password = read_password(given.text("password_file"));
    profile.hindrance = password ? std::string{} : password.error().message;
    login.password = std::move(password).value_or(std::string{});
  }
  return std::make_unique<Driver>(std::move(profile), std::move(login));
}

std::string refuse_tl1(const Fabric& fabric, const Device& device) {
  const DeviceProfileView given(kKeys, device.profile);
  const std::string user = given.text("user");
  if (!user.empty() && !tl1::is_word(user)) {
    return format_text("its profile says user: {}, which TL1 cannot say: none of : ; , & \" \\ or a blank", user);
  }
  if (user.empty() != given.text("password_file").empty()) {
    return "its profile gives one of user and password_file without the other";
  }
  if (device.model == kCalientTl1.model.name && !device.serial.empty()) {
    return "no command that is known of a calient_tl1 tells its serial number; leave serial out";
  }
  return refuse_ocs(fabric, device, kKeys, numbers_of(device));
}

}  // namespace

OcsProfile ocs_profile_of(const Fabric& fabric, const Device& device) {
  const bool is_tl1 = device.model == kPolatisTl1.model.name || device.model == kCalientTl1.model.name;
  return is_tl1 ? tl1_profile(fabric, device) : ocs_profile(fabric, device);
}

constinit const DriverModel kPolatisTl1{
    {"polatis_tl1", DeviceRole::circuit_switch, "optical circuit switch of Polatis, TL1 over TCP port 3082", kKeys, refuse_tl1,
     kStreamSchemes},
    make_tl1<PolatisTl1Driver>};

constinit const DriverModel kCalientTl1{{"calient_tl1", DeviceRole::circuit_switch,
                                         "optical circuit switch of Calient, TL1 over TCP", kKeys, refuse_tl1, kStreamSchemes},
                                        make_tl1<CalientTl1Driver>};

}  // namespace loom
