// SPDX-License-Identifier: Apache-2.0
// One line an optical change; numbers are decimal integers in the units of core/units.hpp.
#include "sim_backend/judge/light_log.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

void append_number(std::string& text, std::int64_t value) {
  text += ' ';
  text += std::to_string(value);
}

void append_routes(std::string& text, const std::vector<WssRoute>& routes) {
  append_number(text, static_cast<std::int64_t>(routes.size()));
  for (const WssRoute& route : routes) {
    append_number(text, route.slot.n);
    append_number(text, route.slot.m);
    append_number(text, route.input);
    append_number(text, route.output);
    append_number(text, route.attenuation.centi);
  }
}

void append_connects(std::string& text, const std::vector<CrossConnect>& connects) {
  append_number(text, static_cast<std::int64_t>(connects.size()));
  for (const CrossConnect& connect : connects) {
    append_number(text, connect.input);
    append_number(text, connect.output);
  }
}

struct Writer {
  std::string& text;
  void operator()(const LaserLight& laser) const {
    text += " laser";
    append_number(text, laser.emitting ? 1 : 0);
    append_number(text, laser.frequency.mhz);
    append_number(text, laser.power.centi);
  }
  void operator()(const RingLight& ring) const {
    text += " ring";
    append_number(text, static_cast<std::int64_t>(ring.resonances.size()));
    for (const Frequency resonance : ring.resonances) {
      append_number(text, resonance.mhz);
    }
  }
  void operator()(const WssLight& wss) const {
    text += " wss";
    append_routes(text, wss.routes);
    append_routes(text, wss.moving);
  }
  void operator()(const OcsLight& ocs) const {
    text += " ocs";
    append_connects(text, ocs.connects);
    append_connects(text, ocs.moving);
  }
  void operator()(const MonitorLight&) const { text += " monitor"; }
  void operator()(const GainLight& stage) const {
    text += " gain";
    append_number(text, stage.gain.centi);
  }
};

/// Reads words of a line one after the other; remembers the first fault.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const auto begin = rest_.find_first_not_of(' ');
    rest_.remove_prefix(begin == std::string_view::npos ? rest_.size() : begin);
    const auto end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    ++count_;
    return found;
  }
  std::int64_t number() {
    const std::string_view text = word();
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault_.empty() && (problem != std::errc{} || end != text.data() + text.size())) {
      fault_ = format_text("word {} is '{}', a whole number was expected", count_, text.substr(0, 32));
    }
    return value;
  }
  std::size_t size(std::size_t most) {
    const std::int64_t value = number();
    if (fault_.empty() && (value < 0 || static_cast<std::size_t>(value) > most)) {
      fault_ = format_text("word {} counts {}, the limit is {}", count_, value, most);
    }
    return fault_.empty() ? static_cast<std::size_t>(value) : 0;
  }
  std::string& fault() { return fault_; }

 private:
  std::string_view rest_;
  std::size_t count_ = 0;
  std::string fault_;
};

std::vector<WssRoute> read_routes(Words& words) {
  std::vector<WssRoute> routes(words.size(limits::kWssRoutes));
  for (WssRoute& route : routes) {
    route.slot.n = static_cast<std::int32_t>(words.number());
    route.slot.m = static_cast<std::int32_t>(words.number());
    route.input = static_cast<std::uint16_t>(words.number());
    route.output = static_cast<std::uint16_t>(words.number());
    route.attenuation.centi = static_cast<std::int32_t>(words.number());
  }
  return routes;
}

std::vector<CrossConnect> read_connects(Words& words) {
  std::vector<CrossConnect> connects(words.size(limits::kWssRoutes));
  for (CrossConnect& connect : connects) {
    connect.input = static_cast<std::uint16_t>(words.number());
    connect.output = static_cast<std::uint16_t>(words.number());
  }
  return connects;
}

OpticalState read_state(Words& words) {
  const std::string_view kind = words.word();
  if (kind == "laser") {
    LaserLight laser;
    laser.emitting = words.number() != 0;
    laser.frequency.mhz = words.number();
    laser.power.centi = static_cast<std::int32_t>(words.number());
    return laser;
  }
  if (kind == "ring") {
    RingLight ring;
    ring.resonances.resize(words.size(limits::kRingsPerBank));
    for (Frequency& resonance : ring.resonances) {
      resonance.mhz = words.number();
    }
    return ring;
  }
  if (kind == "wss") {
    WssLight wss;
    wss.routes = read_routes(words);
    wss.moving = read_routes(words);
    return wss;
  }
  if (kind == "monitor") {
    return MonitorLight{};
  }
  if (kind == "gain") {
    return GainLight{{static_cast<std::int32_t>(words.number())}};
  }
  OcsLight ocs;
  if (kind != "ocs") {
    words.fault() = format_text("'{}' is no kind of device (laser, ring, wss, ocs, monitor, gain)", kind.substr(0, 32));
    return ocs;
  }
  ocs.connects = read_connects(words);
  ocs.moving = read_connects(words);
  return ocs;
}

std::string whole_mark(const std::string& path) { return path + ".whole"; }

}  // namespace

void append_line(std::string& text, const OpticalChange& change) {
  text += std::to_string(ns_of(change.at));
  append_number(text, change.device.value);
  append_number(text, change.generation);
  std::visit(Writer{text}, change.state);
  text += '\n';
}

Result<OpticalChange> read_line(std::string_view line) {
  Words words(line);
  OpticalChange change;
  change.at = instant_from_ns(words.number());
  change.device = DeviceId{static_cast<std::uint32_t>(words.number())};
  change.generation = static_cast<std::uint32_t>(words.number());
  change.state = read_state(words);
  if (words.fault().empty() && !words.word().empty()) {
    words.fault() = "words are left at the end of the line";
  }
  if (!words.fault().empty()) {
    return fail(ErrorCode::malformed, words.fault());
  }
  return change;
}

Result<std::vector<OpticalChange>> read_light_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, format_text("light log {} cannot be opened", path));
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<OpticalChange> changes;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      break;
    }
    ++number;
    auto change = read_line(std::string_view(text).substr(begin, end - begin));
    if (!change) {
      return fail(ErrorCode::malformed, format_text("{}:{}: {}", path, number, change.error().message));
    }
    changes.push_back(std::move(*change));
    begin = end + 1;
  }
  return changes;
}

void drop_partial_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t end = text.find_last_of('\n');
  if (file && !text.empty() && end + 1 != text.size()) {
    std::error_code ignored;
    std::filesystem::resize_file(path, end == std::string::npos ? 0 : end + 1, ignored);
  }
}

void write_light_log_whole(const std::string& path, Instant through) {
  // Renamed into its place: a reader sees the old number or the new one.
  const std::string fresh = whole_mark(path) + ".new";
  std::ofstream(fresh, std::ios::trunc) << ns_of(through) << '\n';
  std::error_code ignored;
  std::filesystem::rename(fresh, whole_mark(path), ignored);
}

Instant light_log_whole_through(const std::string& path) {
  std::int64_t ns = 0;
  std::ifstream file(whole_mark(path));
  return file >> ns ? instant_from_ns(ns) : Instant{};
}

}  // namespace loom
