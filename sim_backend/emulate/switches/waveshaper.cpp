// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate waveshaper: a programmable filter behind a web server of its own, HTTP/1.1 to anybody.
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/http_text.hpp"
#include "drivers/bus/http/http_message.hpp"
#include "drivers/wss/waveshaper_json.hpp"
#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/server.hpp"
#include "sim_backend/emulate/switches/switch_options.hpp"

namespace loom {
namespace {

constexpr std::size_t kBodyMax = 1u << 20;  ///< of a request; a profile of the C band is 160 KB
constexpr int kContinue = 100;
constexpr int kBadRequest = 400;
constexpr int kMethodNotAllowed = 405;

constexpr const char* kWords =
    "\nHTTP/1.1; connections are kept, and a body of a request may have 1 MB.\n"
    "  GET  /waveshaper/devinfo      JSON: model, sno, ver, startfreq, stopfreq in THz, ip, portcount, rc, rctext\n"
    "  POST /waveshaper/loadprofile  JSON, answered with rc (0 is good), rctext and sno; its type is\n"
    "    wsp                         wsp: lines of THz, dB, rad and port, by tabs, ascending; port 0 or more than 40 dB "
    "blocks\n"
    "    bandpass bandstop gaussian  port, center and bandwidth in THz, attn in dB\n"
    "    blockall, transmit          transmit takes a port\n"
    "  GET  /waveshaper/getprofile   the profile that is loaded, as lines\n"
    "The codes of a refusal are made up: -1 no JSON, -2 type, -3 line, -4 band, -5 port, -6 number, -100 optics.\n"
    "Nothing tells when it has settled, as with the real device. SIGHUP is a power cycle: all is blocked.\n"
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

/// What must be remembered of a request until it is answered; travels in EmulatedRequest::frame.
struct Note {
  int status = 0;  ///< not 0: HTTP itself answers so
  bool keeps_alive = true;
  bool is_head = false;

  std::vector<std::uint8_t> bytes() const {
    return {static_cast<std::uint8_t>(status / 256), static_cast<std::uint8_t>(status % 256),
            static_cast<std::uint8_t>(keeps_alive ? 1 : 0), static_cast<std::uint8_t>(is_head ? 1 : 0)};
  }
  static Note of(const std::vector<std::uint8_t>& bytes) { return {bytes[0] * 256 + bytes[1], bytes[2] != 0, bytes[3] != 0}; }
};

/// A client may name the server once more, as it would to a proxy (RFC 9112 section 3.2.2).
std::string_view path_of(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  return target.starts_with(kScheme) ? target.substr(std::min(target.find('/', kScheme.size()), target.size())) : target;
}

class HttpFraming final : public Framing {
 public:
  void take(std::span<const std::uint8_t> bytes, Instant) override {
    if (refusal_ == 0 && !is_last_) {
      refusal_ = reader_.take(bytes);
    }
  }

  std::optional<EmulatedRequest> next() override {
    if (is_last_) {
      return std::nullopt;
    }
    if (refusal_ == 0 && reader_.wants_encouragement()) {
      return by_itself(kContinue);
    }
    if (refusal_ == 0 && reader_.is_whole()) {
      return whole_request();
    }
    if (refusal_ != 0) {
      is_last_ = true;
      return by_itself(refusal_);
    }
    return std::nullopt;
  }

  std::vector<std::uint8_t> answer(const EmulatedRequest& request, const BusReply& reply) override {
    const std::string text = words(request, reply);
    return {text.begin(), text.end()};
  }

  bool ends_after_answer() const override { return is_last_; }

 private:
  EmulatedRequest whole_request() {
    const HttpRequest request = reader_.request();
    const Frame order = http_order({request.method, path_of(request.path), request.body});
    const Note note{0, reader_.keeps_alive(), request.method == "HEAD"};
    if (!read_http_request(order.request)) {
      is_last_ = true;
      return by_itself(kBadRequest);
    }
    is_last_ = !note.keeps_alive;
    refusal_ = reader_.next();
    return {{}, order, note.bytes()};
  }
  /// HTTP answers; the device is asked all the same, for whether it answers at all.
  static EmulatedRequest by_itself(int status) {
    return {{}, http_order({"GET", waveshaper::kInfoPath}), Note{status, status == kContinue, false}.bytes(), 1};
  }

  std::string words(const EmulatedRequest& request, const BusReply& reply) {
    const Note note = Note::of(request.frame);
    if (reply.status != BusStatus::ok) {
      return {};
    }
    if (note.status == kContinue) {
      return "HTTP/1.1 100 Continue\r\n\r\n";
    }
    if (note.status != 0) {
      return write_http({note.status, http_reason(note.status), {}}, {.keeps_alive = false});
    }
    const auto said = read_http_reply(reply.bytes);
    if (!said) {  // damaged where HTTP has its first line
      is_last_ = true;
      return "HTTP/1.1 " + std::string(reply.bytes.begin(), reply.bytes.end());
    }
    HttpReplyHead head;
    head.keeps_alive = note.keeps_alive;
    head.content_type = said->body.starts_with('{') ? "application/json" : "text/plain";
    const auto asked = read_http_request(std::get<Frame>(request.order).request);
    head.allow = said->status == kMethodNotAllowed && asked ? waveshaper::method_of(asked->path) : std::string_view{};
    std::string text = write_http(*said, head);
    if (note.is_head) {
      text.resize(text.size() - said->body.size());
    }
    return text;
  }

  HttpRequestReader reader_{kBodyMax};
  int refusal_ = 0;
  bool is_last_ = false;  ///< nothing more is read
};

Result<EmulatedDevices> devices_of(const SwitchOptions& options) {
  if (!options.common.scenario.empty()) {
    return devices_of_scenario(options.common, {"waveshaper"});
  }
  if (options.inputs > 1 && options.outputs > 1) {
    return fail(ErrorCode::invalid_argument,
                format_text("--inputs {} --outputs {}: a waveshaper has one common port, so one of them is 1", options.inputs,
                            options.outputs));
  }
  WavelengthSelectiveSwitch kind;
  kind.settle_max = std::chrono::microseconds{options.settle_us};
  Element element = switch_element(options);
  element.kind = kind;
  return lone_devices({{DeviceRole::wavelength_switch, "waveshaper", {element}}}, options.common);
}

int serve(const SwitchOptions& options) {
  return run_emulator(devices_of(options), {}, {[](const EmulatorOptions&) { return std::make_unique<HttpFraming>(); }},
                      options.common);
}

}  // namespace

const EmulatorProgram kWaveShaperEmulator{"waveshaper", "a WaveShaper programmable filter, HTTP over TCP",
                                          [](CLI::App& app) -> std::function<int()> {
                                            const auto options = std::make_shared<SwitchOptions>();
                                            options->outputs = 4;
                                            add_switch_options(app, *options, 8'080);
                                            app.footer(kWords + fault_help(DeviceRole::wavelength_switch));
                                            return [options] { return serve(*options); };
                                          }};

}  // namespace loom
