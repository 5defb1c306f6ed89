// The properties, one function a codec.
#include "tests/fuzz/driver_codecs.hpp"

#include <algorithm>
#include <string>

#include "core/result.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/transceiver/itla_facts.hpp"
#include "drivers/transceiver/itla_frame.hpp"
#include "drivers/wss/flexgrid_dialect.hpp"
#include "sim_backend/devices/ocs_model.hpp"
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
  if (const auto vendor = scpi::vendor_of(line)) {
    LOOM_ASSERT(scpi::same_word(*vendor, *vendor));
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
  const std::string grid = answer_of(wss, later, "DCC?\r\n");
  const auto told = flexgrid::read_reply(grid);
  LOOM_ASSERT(told && flexgrid::read_grid({}, told->data).has_value());
  const std::string map = answer_of(ocs, later, ":oxc:swit:conn:stat?\n");
  LOOM_ASSERT(scpi::read_map(kSize, scpi::unframe({}, map).value_or("?")).has_value());
  const std::string errors = answer_of(ocs, later + std::chrono::seconds{1}, ":syst:err:all?\n");
  LOOM_ASSERT(scpi::read_errors(scpi::unframe({}, errors).value_or("?")).has_value());
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

}  // namespace loom::fuzz
