// SPDX-License-Identifier: Apache-2.0
// Objects of a few keys, read with suspicion.
#include "drivers/wss/waveshaper_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/text/format_text.hpp"

namespace loom::waveshaper {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kTextBytes = 120;
constexpr double kThzMax = 1'000.0;

std::unexpected<Error> wrong(std::string why) { return fail(ErrorCode::invalid_argument, std::move(why)); }

std::string printable(std::string_view text) {
  std::string out(text.substr(0, kTextBytes));
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

/// A text, or a number as it would be written; empty: neither.
std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return {};
  }
  return found->is_string()   ? printable(found->get_ref<const std::string&>())
         : found->is_number() ? found->dump()
                              : std::string{};
}

/// A number, or a text that is one.
std::optional<double> number_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return std::nullopt;
  }
  double value = std::nan("");
  if (found->is_number()) {
    value = found->get<double>();
  } else if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    value = error == std::errc{} && end == text.data() + text.size() ? value : std::nan("");
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> integer_at(const Json& object, const char* key) {
  const auto value = number_at(object, key);
  return value && *value == std::trunc(*value) && std::abs(*value) < 1e9 ? std::optional(static_cast<std::int64_t>(*value))
                                                                         : std::nullopt;
}

Result<Json> object_of(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return wrong("no JSON object");
  }
  return json;
}

}  // namespace

std::string_view method_of(std::string_view path) {
  return path == kLoadPath ? "POST" : path == kInfoPath || path == kProfilePath ? "GET" : "";
}

Result<Info> read_info(std::string_view text) {
  const Result<Json> object = object_of(text);
  if (!object) {
    return std::unexpected(object.error());
  }
  if (const auto code = integer_at(*object, "rc"); code && *code != 0) {
    return fail(ErrorCode::device_error, format_text("refused with rc {} ({})", *code, text_at(*object, "rctext")));
  }
  const auto first = number_at(*object, "startfreq");
  const auto last = number_at(*object, "stopfreq");
  const auto ports = integer_at(*object, "portcount");
  if (!first || !last || *first <= 0 || *last > kThzMax || *first >= *last) {
    return wrong("no startfreq and stopfreq in THz");
  }
  if (!ports || *ports < 1 || *ports > 1'024) {
    return wrong("no portcount of 1..1024");
  }
  Info info{
      text_at(*object, "model"), text_at(*object, "sno"), text_at(*object, "ver"), {}, static_cast<std::uint16_t>(*ports)};
  info.band = {Frequency{std::llround(*first * 1e6)}, Frequency{std::llround(*last * 1e6)}};
  if ((info.band.last - info.band.first).mhz / kSpacing.mhz >= static_cast<std::int64_t>(kPointsMax)) {
    return wrong(format_text("a band of more than {} points of 1 GHz", kPointsMax));
  }
  return info;
}

Result<Verdict> read_verdict(std::string_view text) {
  const Result<Json> object = object_of(text);
  if (!object) {
    return std::unexpected(object.error());
  }
  const auto code = integer_at(*object, "rc");
  if (!code) {
    return wrong("no rc");
  }
  return Verdict{*code, text_at(*object, "rctext")};
}

std::string write_info(const Info& info) {
  const auto thz = [](Frequency frequency) { return static_cast<double>(frequency.mhz) / 1e6; };
  return Json{{"model", info.model},
              {"sno", info.serial},
              {"ver", info.release},
              {"startfreq", thz(info.band.first)},
              {"stopfreq", thz(info.band.last)},
              {"ip", "169.254.6.8"},
              {"portcount", info.ports},
              {"rc", 0},
              {"rctext", ""}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string write_verdict(const Verdict& verdict, std::string_view serial) {
  return Json{{"rc", verdict.code}, {"rctext", verdict.text}, {"sno", serial}}.dump(-1, ' ', false,
                                                                                    Json::error_handler_t::replace);
}

std::string write_load(std::string_view profile) {
  return Json{{"type", "wsp"}, {"wsp", profile}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace loom::waveshaper
