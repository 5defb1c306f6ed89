// SPDX-License-Identifier: Apache-2.0
// The properties, one function a codec.
#include "tests/fuzz/waveshaper_codecs.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "core/text/http_text.hpp"
#include "drivers/bus/http/http_message.hpp"
#include "drivers/wss/waveshaper_json.hpp"
#include "drivers/wss/waveshaper_profile.hpp"
#include "sim_backend/devices/wss/waveshaper_model.hpp"
#include "sim_backend/devices/wss/waveshaper_order.hpp"

namespace loom::fuzz {
namespace {

constexpr std::size_t kBodyMax = 4'096;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

struct Message {
  int status = 0;
  std::string words;
  std::string body;
  bool operator==(const Message&) const = default;
};

/// `part` bytes at a time.
std::optional<Message> reply_of(std::string_view bytes, std::size_t part) {
  HttpReplyReader reader(kBodyMax);
  while (!bytes.empty() && !reader.is_whole()) {
    const std::size_t count = std::min(part, bytes.size());
    if (!reader.take(bytes_of(bytes.substr(0, count)))) {
      return std::nullopt;
    }
    bytes.remove_prefix(count);
  }
  if (!reader.is_whole() && (!reader.end() || !reader.is_whole())) {
    return std::nullopt;
  }
  const HttpReply reply = reader.reply();
  return Message{reply.status, std::string(reply.reason), std::string(reply.body)};
}

std::optional<Message> request_of(std::string_view bytes, std::size_t part) {
  HttpRequestReader reader(kBodyMax);
  while (!bytes.empty() && !reader.is_whole()) {
    const std::size_t count = std::min(part, bytes.size());
    if (reader.take(bytes_of(bytes.substr(0, count))) != 0) {
      return std::nullopt;
    }
    static_cast<void>(reader.wants_encouragement());
    bytes.remove_prefix(count);
  }
  if (!reader.is_whole()) {
    return std::nullopt;
  }
  const HttpRequest request = reader.request();
  return Message{0, std::string(request.method) + " " + std::string(request.path), std::string(request.body)};
}

void check_profile(std::string_view text) {
  const auto points = waveshaper::read_profile(text);
  if (!points) {
    LOOM_ASSERT(!points.error().message.empty());
    return;
  }
  const waveshaper::Spectrum spectrum = waveshaper::spectrum_of(*points);
  for (std::size_t i = 0; i < spectrum.passes.size(); ++i) {
    LOOM_ASSERT(spectrum.passes[i].lower < spectrum.passes[i].upper);
    LOOM_ASSERT(i == 0 || spectrum.passes[i - 1].upper <= spectrum.passes[i].lower);
    LOOM_ASSERT(waveshaper::lets_through(spectrum, spectrum.passes[i]));
  }
  static_cast<void>(waveshaper::routes_of(waveshaper::all_of(spectrum), PortMap::by_output, 4));
  const waveshaper::Band band;
  const bool is_ours = std::ranges::all_of(spectrum.passes, [&](const waveshaper::Pass& pass) {
    const FrequencySlot slot = slot_of(pass);
    return lower_edge_of(slot) >= band.first && upper_edge_of(slot) <= band.last &&
           pass.centi <= waveshaper::kCalibratedMax.centi;
  });
  if (is_ours && !spectrum.passes.empty()) {
    const auto again = waveshaper::read_profile(waveshaper::write_profile(waveshaper::points_of(band, spectrum.passes)));
    LOOM_ASSERT(again && waveshaper::spectrum_of(*again).passes == spectrum.passes);
  }
}

}  // namespace

void check_waveshaper_text(std::string_view text) {
  check_profile(text);
  if (const auto info = waveshaper::read_info(text)) {
    const auto again = waveshaper::read_info(waveshaper::write_info(*info));
    LOOM_ASSERT(again && *again == *info);
  }
  if (const auto verdict = waveshaper::read_verdict(text)) {
    const auto again = waveshaper::read_verdict(waveshaper::write_verdict(*verdict, "SN1"));
    LOOM_ASSERT(again && *again == *verdict);
  }
  if (const auto request = read_http_request(bytes_of(text))) {
    const auto again = http_order(*request).request;
    LOOM_ASSERT(std::string_view(reinterpret_cast<const char*>(again.data()), again.size()) == text);
  }
  if (const auto reply = read_http_reply(bytes_of(text))) {
    const auto bytes = http_reply_bytes(*reply);
    const auto again = read_http_reply(bytes);
    LOOM_ASSERT(again && again->status == reply->status && again->reason == reply->reason && again->body == reply->body);
    LOOM_ASSERT(!to_string(*reply).empty());
  }
}

void check_http_bytes(std::string_view bytes) {
  const auto reply = reply_of(bytes, bytes.size());
  LOOM_ASSERT(!reply || reply->body.size() <= kBodyMax);
  LOOM_ASSERT(reply == reply_of(bytes, 1));
  const auto request = request_of(bytes, bytes.size());
  LOOM_ASSERT(!request || request->body.size() <= kBodyMax);
  LOOM_ASSERT(request == request_of(bytes, 1));
}

void check_waveshaper_model(std::string_view text) {
  WavelengthSelectiveSwitch optics;
  optics.settle_max = std::chrono::milliseconds{100};
  Element element;
  element.outputs = 4;
  element.kind = optics;
  WaveShaperModel model({DeviceId{0}, "filter", DeviceRole::wavelength_switch, NodeId{0}, BusId{0}, 1, {ElementId{0}}}, element,
                        {});
  Instant now = instant_from_ns(1'000'000);
  const auto say = [&](Frame frame) {
    const ModelReply answer = model.execute(now, {DeviceId{0}, 1, std::move(frame), std::chrono::seconds{2}});
    LOOM_ASSERT(answer.service_time >= Duration{} && answer.service_time <= std::chrono::seconds{2});
    model.take_changes();
    now += std::chrono::seconds{2};
    return std::string(answer.reply.bytes.begin(), answer.reply.bytes.end());
  };
  say({{text.begin(), text.end()}, 0, {}});
  const std::string loaded = say(http_order({"POST", waveshaper::kLoadPath, text}));
  const auto verdict = read_http_reply(bytes_of(loaded));
  LOOM_ASSERT(verdict && waveshaper::read_verdict(verdict->body));
  const std::string profile = say(http_order({"GET", waveshaper::kProfilePath}));
  const auto told = read_http_reply(bytes_of(profile));
  LOOM_ASSERT(told && waveshaper::read_profile(told->body));
}

std::vector<std::string_view> waveshaper_seeds() {
  return {"193.1000\t0.0000\t0.0000\t1\n193.1010\t1.2500\t3.1416\t2\n193.1020\t50.0000\t0.0000\t0\n",
          R"({"type":"wsp","wsp":"193.1000\t0.0000\t0.0000\t1\n193.1010\t50.0000\t0.0000\t0\n"})",
          R"({"type":"bandpass","port":2,"center":193.15,"bandwidth":0.1,"attn":3})",
          R"({"type":"gaussian","port":1,"center":193.15,"bandwidth":0.05,"attn":0})",
          R"({"type":"transmit"})",
          R"({"type":"blockall"})",
          R"({"model":"WaveShaper 4000A","sno":"SN1","ver":"2.0","startfreq":191.25,"stopfreq":"196.275","portcount":4})",
          R"({"rc":-3,"rctext":"line 2","sno":"SN1"})",
          "GET /waveshaper/devinfo\n",
          "POST /waveshaper/loadprofile\n{\"type\":\"blockall\"}",
          "200 OK\n{\"rc\":0}",
          "503 Service Unavailable\n"};
}

std::vector<std::string_view> http_seeds() {
  return {"GET /waveshaper/devinfo HTTP/1.1\r\nHost: a\r\n\r\n",
          "POST /waveshaper/loadprofile HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
          "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999990\r\n\r\nmore than anybody can hold",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "HTTP/1.0 404 Not Found\r\n\r\nto the end",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"};
}

}  // namespace loom::fuzz
