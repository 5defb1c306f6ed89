// The properties, one function a codec.
#include "tests/fuzz/driver_codecs.hpp"

#include <string>

#include "core/result.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "drivers/pluggable/cmis_pages.hpp"
#include "drivers/pluggable/sff_pages.hpp"
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
