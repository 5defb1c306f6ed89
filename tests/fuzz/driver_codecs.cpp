// SPDX-License-Identifier: Apache-2.0
// The properties, one function a codec.
#include "tests/fuzz/driver_codecs.hpp"

#include <algorithm>
#include <string>

#include "core/result.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/ocs/tl1_dialect.hpp"
#include "drivers/pluggable/cmis_pages.hpp"
#include "drivers/pluggable/sff_pages.hpp"
#include "drivers/scpi_identity.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/transceiver/itla_facts.hpp"
#include "drivers/transceiver/itla_frame.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"
#include "sim_backend/devices/ocs/ocs_model.hpp"
#include "sim_backend/devices/ocs/tl1_ocs_model.hpp"
#include "sim_backend/devices/wss_model.hpp"

namespace loom::fuzz {
namespace {

constexpr scpi::Size kSize{16, 24};

/// Says a line to a model as an emulator does; the answer without its end.
std::string answer_of(SimulatedDevice& model, Instant now, std::string_view line) {
  const ModelReply delivered =
      model.execute(now, {DeviceId{0}, 1, Frame{{line.begin(), line.end()}, 0, {}}, std::chrono::seconds{2}});
  LOOM_ASSERT(delivered.service_time >= Duration{} && delivered.service_time <= std::chrono::seconds{2});
  model.take_changes();
  return {delivered.reply.bytes.begin(), delivered.reply.bytes.end()};
}

template <class Model>
Model model_of(PortNumber inputs, PortNumber outputs, ElementKind kind, DeviceRole device) {
  Element element;
  element.inputs = inputs;
  element.outputs = outputs;
  element.kind = kind;
  return Model({DeviceId{0}, "switch", device, NodeId{0}, BusId{0}, 1, {ElementId{0}}}, element, {});
}

}  // namespace

void check_itla_frame(std::span<const std::uint8_t> bytes) {
  if (const auto response = itla::decode_response(bytes)) {
    LOOM_ASSERT(itla::decode_response(itla::encode(*response)) == response);
    LOOM_ASSERT(!itla::to_string(response->reg).empty());
  }
  if (const auto request = itla::decode_request(bytes)) {
    LOOM_ASSERT(itla::decode_request(itla::encode(*request)) == request);
  }
}

void check_itla_facts(std::span<const std::uint8_t> bytes) {
  itla::FactsReader reader("A100");
  std::size_t asked = 0;
  for (std::size_t at = 0; reader.next() && at + 4 <= bytes.size(); at += 4, ++asked) {
    const auto response = itla::decode_response(bytes.subspan(at, 4));
    if (!response) {
      reader.absorb_loss(static_cast<itla::Loss>(bytes[at] % 4));
    } else if (response->status == itla::Status::execution_error) {
      reader.absorb_refusal();
    } else {
      reader.absorb(*response);
    }
  }
  const itla::Facts& facts = reader.facts();
  for (const std::string& text : {facts.serial, facts.maker, facts.model, facts.device_type, facts.release}) {
    LOOM_ASSERT(text.size() <= itla::FactsReader::kTextBytes);
    LOOM_ASSERT(std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }));
  }
  LOOM_ASSERT(!facts.first || *facts.first <= *facts.last);
  LOOM_ASSERT(!facts.power_min || *facts.power_min < *facts.power_max);
  LOOM_ASSERT(!facts.grid || facts.grid->mhz > 0);
  LOOM_ASSERT(reader.stranger().empty() || facts.serial != "A100");
}

void check_itla_answers(std::span<const std::uint8_t> bytes) {
  constexpr int kStepsMax = 20'000;
  ItlaProfile profile;
  profile.name = "laser";
  profile.serial = "A100";
  profile.channels = {{-272, 8}, 16, 48};
  profile.retune_max = profile.reply_deadline = std::chrono::milliseconds{10};
  profile.enable_limit = profile.grace = std::chrono::milliseconds{10};
  profile.frequency_tolerance = FrequencyOffset{500};
  profile.trims = true;
  profile.trim = {FrequencyOffset{100}, FrequencyOffset{50}};
  ItlaDriver driver(profile);
  driver.stage(TransmitterSetpoint{{-256, 8}, Dbm{0}, true});
  driver.fire();
  Instant now = instant_from_ns(1'000'000);
  Step step = driver.step(now, nullptr);
  std::size_t at = 0;
  int steps = 0;
  for (; step.transaction || step.wake != kNever; ++steps) {
    LOOM_ASSERT(steps < kStepsMax);
    if (!step.transaction) {
      now = step.wake;
      step = driver.step(now, nullptr);
      continue;
    }
    now += std::chrono::milliseconds{1};
    BusReply reply{BusStatus::timeout, 0, {}, {}};
    if (at + 4 <= bytes.size()) {
      reply.status = BusStatus::ok;
      // Its register is right and its checksum sound, so that what it says is looked at; every eighth is left as it came.
      const auto asked = itla::decode_request(std::get<Frame>(step.transaction->order).request);
      const auto data = static_cast<std::uint16_t>(bytes[at + 2] << 8 | bytes[at + 3]);
      const auto frame = itla::encode(itla::Response{static_cast<itla::Status>(bytes[at] & 3), false, asked->reg, data});
      const bool is_raw = (bytes[at + 1] & 7) == 7;
      reply.bytes.assign(is_raw ? bytes.data() + at : frame.data(), (is_raw ? bytes.data() + at : frame.data()) + 4);
      at += 4;
    }
    step = driver.step(now, &reply);
  }
  LOOM_ASSERT(driver.activity() == DriverActivity::settled || driver.activity() == DriverActivity::failed);
  LOOM_ASSERT(driver.activity() == DriverActivity::settled || !driver.observe().fault.empty());
}

void check_flexgrid_line(std::string_view line) {
  if (const auto text = flexgrid::unframe(line)) {
    LOOM_ASSERT(flexgrid::frame(flexgrid::is_framed(line), *text) == std::string(line) + "\r\n");
  }
  if (const auto reply = flexgrid::read_reply(line)) {
    LOOM_ASSERT(reply->end == "OK" || !flexgrid::error_name(reply->end).empty());
  }
  for (const std::int32_t slices : {flexgrid::kSlices, flexgrid::kCoarseSlices}) {
    flexgrid::Dialect dialect;
    dialect.slices = slices;
    const auto grid = flexgrid::read_grid(dialect, line);
    for (const flexgrid::Channel& channel : grid.value_or(std::vector<flexgrid::Channel>{})) {
      const auto slot = flexgrid::slot_of(dialect, channel);
      LOOM_ASSERT(!slot || flexgrid::channel_of(dialect, *slot) == channel);
      LOOM_ASSERT(flexgrid::fits_slices(dialect, channel));
    }
    LOOM_ASSERT(!grid || flexgrid::read_grid(dialect, flexgrid::write_grid(dialect, *grid)) == grid);
  }
  static_cast<void>(flexgrid::read_status(line));
  if (const auto ports = flexgrid::read_ports(line)) {
    LOOM_ASSERT(flexgrid::read_ports(flexgrid::write_ports(*ports)) == ports);
  }
  static_cast<void>(flexgrid::error_name(line));
}

void check_scpi_line(std::string_view line) {
  if (const auto map = scpi::read_map(kSize, line)) {
    LOOM_ASSERT(scpi::read_map(kSize, scpi::write_map(kSize, *map)) == map);
  }
  if (const auto size = scpi::read_size(line)) {
    LOOM_ASSERT(size->inputs > 0 && size->outputs > 0);
  }
  if (const auto errors = scpi::read_errors(line)) {
    for (const scpi::QueuedError& error : *errors) {
      LOOM_ASSERT(error.number != 0);
    }
  }
  if (const auto text = scpi::unframe({}, line)) {
    LOOM_ASSERT(!text->empty() && text->size() < line.size());
  }
  if (const auto identity = scpi::read_identity(line)) {
    LOOM_ASSERT(!identity->vendor.empty() && scpi::same_word(identity->vendor, identity->vendor));
  }
  if (const auto states = scpi::read_port_states(line)) {
    LOOM_ASSERT(2 * states->size() + (states->empty() ? 2 : 1) == line.size());
  }
  if (const auto size = read_switch_size(line)) {
    LOOM_ASSERT(size->inputs > 0 && size->outputs > 0);
  }
}

void check_tl1_reply(std::string_view text) {
  if (const auto reply = tl1::read_reply(text, "7")) {
    for (const std::string& row : reply->rows) {
      LOOM_ASSERT(row.find('"') == std::string::npos);
    }
    LOOM_ASSERT(!tl1::describe_denial(*reply).empty());
    static_cast<void>(tl1::read_port_words(reply->rows));
  }
  const std::vector<std::string> row{std::string(text)};
  for (const tl1::Numbers numbers : {tl1::Numbers{1, 17}, tl1::Numbers{10'001, 20'001}}) {
    if (const auto patches = tl1::read_patches(numbers, kSize, row)) {
      LOOM_ASSERT(tl1::read_patches(numbers, kSize, {tl1::write_patches(numbers, *patches)}) == patches);
    }
  }
  static_cast<void>(tl1::read_fiber_connect(text));
  static_cast<void>(tl1::value_of(row, "SIZE"));
  if (const auto power = tl1::read_power(text)) {
    LOOM_ASSERT(power->centi >= -20'000 && power->centi <= 20'000);
  }
}

void check_switch_models(std::string_view line) {
  WavelengthSelectiveSwitch optics;
  optics.settle_max = std::chrono::milliseconds{100};
  auto wss = model_of<WssModel>(1, 3, optics, DeviceRole::wavelength_switch);
  auto ocs = model_of<OcsModel>(16, 24, OpticalCircuitSwitch{std::chrono::milliseconds{25}}, DeviceRole::circuit_switch);
  const Instant begin = instant_from_ns(1'000'000);
  answer_of(wss, begin, std::string(line) + "\r\n");
  answer_of(ocs, begin, std::string(line) + "\n");
  const Instant later = begin + std::chrono::seconds{10};
  for (const Tl1Vendor vendor : {Tl1Vendor::polatis, Tl1Vendor::calient}) {
    Element element;
    element.inputs = 16;
    element.outputs = 24;
    element.kind = OpticalCircuitSwitch{std::chrono::milliseconds{25}};
    Tl1OcsModel tl1_switch({DeviceId{0}, "switch", DeviceRole::circuit_switch, NodeId{0}, BusId{0}, 1, {ElementId{0}}}, element,
                           {}, {kSize, kSize}, vendor);
    answer_of(tl1_switch, begin, std::string(line) + ";");
    const bool is_polatis = vendor == Tl1Vendor::polatis;
    const std::string told = answer_of(tl1_switch, later, is_polatis ? "RTRV-PATCH:::7:;" : "rtrv-crs-fiber::all:7:;");
    const auto reply = tl1::read_reply(told, "7");
    LOOM_ASSERT(reply && reply->completed);
    LOOM_ASSERT(!is_polatis || tl1::read_patches({1, 17}, kSize, reply->rows).has_value());
    for (const std::string& row : is_polatis ? std::vector<std::string>{} : reply->rows) {
      LOOM_ASSERT(tl1::read_fiber_connect(row).has_value());
    }
  }
  const std::string grid = answer_of(wss, later, "DCC?\r\n");
  const auto told = flexgrid::read_reply(grid);
  LOOM_ASSERT(told && flexgrid::read_grid({}, told->data).has_value());
  const std::string map = answer_of(ocs, later, ":oxc:swit:conn:stat?\n");
  LOOM_ASSERT(scpi::read_map(kSize, scpi::unframe({}, map).value_or("?")).has_value());
  const std::string errors = answer_of(ocs, later + std::chrono::seconds{1}, ":syst:err:all?\n");
  LOOM_ASSERT(scpi::read_errors(scpi::unframe({}, errors).value_or("?")).has_value());
}

void check_cmis_page(std::span<const std::uint8_t> bytes) {
  static_cast<void>(cmis::read_lower(bytes));
  if (const auto identity = cmis::read_identity(bytes)) {
    for (const char character : identity->serial + identity->vendor + identity->part + identity->revision) {
      LOOM_ASSERT(character >= 0x20 && character < 0x7F);
    }
  }
  if (const auto told = cmis::read_advertised(bytes)) {
    LOOM_ASSERT(told->init > Duration{} && told->deinit > Duration{} && told->turn_on > Duration{});
  }
  if (const auto limits = cmis::read_limits(bytes)) {
    LOOM_ASSERT(!cmis::reach_of(*limits).empty());
    for (std::int64_t mhz = 191'100'000; mhz < 196'400'000; mhz += 131'250) {
      const auto choice = cmis::choose(*limits, Frequency{mhz}, FrequencyOffset{100'000});
      const auto centre = choice ? cmis::frequency_of(choice->grid, choice->channel) : std::nullopt;
      LOOM_ASSERT(!choice || (centre && centre->mhz + choice->fine == mhz));
    }
  }
  for (unsigned lane = 0; lane < cmis::kLanes; ++lane) {
    const std::uint8_t lanes = cmis::host_lanes(bytes, lane);
    LOOM_ASSERT(lanes == 0 || (lanes >> lane & 1) != 0);
    LOOM_ASSERT(!cmis::to_string(cmis::path_state(bytes, lane)).empty());
    LOOM_ASSERT(!cmis::name_of_config_status(cmis::config_status(bytes, lane)).empty());
    static_cast<void>(cmis::read_tuning(bytes, lane));
  }
  static_cast<void>(cmis::complaint_of(bytes.empty() ? std::uint8_t{0} : bytes.front()));
}

void check_sff_bytes(std::span<const std::uint8_t> bytes) {
  if (const auto identity = sff::read_identity(bytes)) {
    for (const char character : identity->serial + identity->vendor + identity->part + identity->revision) {
      LOOM_ASSERT(character >= 0x20 && character < 0x7F);
    }
  }
  const auto limits = sff::read_limits(bytes);
  for (std::int64_t mhz = 191'100'000; limits && mhz < 196'400'000; mhz += 131'250) {
    const auto channel = sff::channel_of(*limits, Frequency{mhz});
    LOOM_ASSERT(!channel || limits->first.mhz + (*channel - 1) * limits->grid.mhz == mhz);
  }
}

std::vector<std::string_view> flexgrid_seeds() {
  return {"OK\r\n",
          "^OK$FF66\r\n",
          "^UCA 1,3,0.0;$FD82\r\n",
          "CHW 0",
          "DCC 1=5:20;2=21:36",
          "1=5:20;2=21:36;",
          "1,2,0.0;2,99,99.9",
          "UCA 1,2,0.0;2,99,99.9",
          "URA 1,2,0.0",
          "RSW",
          "DCC?",
          "RRA?",
          "0x0000\r\nOK\r\n",
          "1=5:20\r\nOK\r\n",
          "RER\r\n"};
}

std::vector<std::string_view> scpi_seeds() {
  return {"(@1,2,3),(@19,18,22)",
          "(@),(@)",
          "16,24",
          "192x96",
          "(D,E,F)",
          "0,\"No error\"",
          "-222,\"Data out of range\",-113,\"Undefined header\"",
          "Polatis,I-OST-24x24-LU1-DMHNS,002414,6.5.2.18\r\n",
          "1\n",
          ":oxc:swit:conn:add (@1,2,3),(@17,18,19);*opc?",
          ":OXC:SWITch:CONNect:ONLY (@1),(@40)",
          ":oxc:swit:conn:sub (@1,2),(@)",
          ":oxc:swit:conn:port? 2",
          "*rst;*cls;:syst:err?"};
}

std::vector<std::string_view> tl1_seeds() {
  return {"\r\n\n   OCS 26-01-01 00:00:00\r\nM  7 COMPLD\r\n   \"1,17\"\r\n   \"2,18\"\r\n;",
          "   X 1\r\nA  3 REPT EVT\r\n   \"FAN;1\"\r\n;   X 1\r\nM  7 DENY\r\n   IITA\r\n   /* no such port */\r\n;",
          "M  7 COMPLD\r\n   \"1:OPEN\"\r\n   \"2:-7.31\"\r\n;",
          "1,17",
          "10001,20016",
          "SYSTEM:SIZE=16x24",
          "-49.162",
          "GGN:IPORTID=10001,IPORTNAME=,OPORTID=20004,CONNSTATE=single,INPWR=-49.162,OUTPWR=0.000",
          "ENT-PATCH::1&2,17&18:7:",
          "DLT-PATCH::ALL:7:",
          "RTRV-PORT-SHUTTER::1&&4&17&&20:7:",
          "OPR-PORT-SHUTTER::1&&40:7:",
          "ACT-USER::admin:7::pass",
          "ent-crs-fiber::10001&10002,20001&20002:7:"};
}

}  // namespace loom::fuzz
