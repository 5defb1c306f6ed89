// SPDX-License-Identifier: Apache-2.0
// What a WaveShaper's web server says and is told, as JSON and as values (sources: three public clients).
//
//   GET  /waveshaper/devinfo      {"model", "sno", "ver", "startfreq", "stopfreq" (THz), "ip", "portcount", "rctext"}
//   POST /waveshaper/loadprofile  {"type": "wsp", "wsp": TEXT} -> {"rc": 0 is good, "rctext", "sno"}
//   GET  /waveshaper/getprofile   the profile that is loaded, as WSP text
//
// loadprofile knows more types (bandpass, bandstop, gaussian, blockall, transmit), which nobody here asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "drivers/wss/waveshaper_profile.hpp"

namespace loom::waveshaper {

inline constexpr std::string_view kInfoPath = "/waveshaper/devinfo";
inline constexpr std::string_view kLoadPath = "/waveshaper/loadprofile";
inline constexpr std::string_view kProfilePath = "/waveshaper/getprofile";

/// With which a path is asked; empty: there is no such path.
std::string_view method_of(std::string_view path);

struct Info {
  std::string model;
  std::string serial;
  std::string release;
  Band band;
  std::uint16_t ports = 0;
  bool operator==(const Info&) const = default;
};

struct Verdict {
  std::int64_t code = 0;  ///< `rc`
  std::string text;
  bool operator==(const Verdict&) const = default;
};

/// Errors: invalid_argument, a sentence; device_error, its rc is not 0. Texts are cut to what a line of a report holds, and
/// printable.
Result<Info> read_info(std::string_view json);
Result<Verdict> read_verdict(std::string_view json);

std::string write_info(const Info& info);
std::string write_verdict(const Verdict& verdict, std::string_view serial);
/// The body of a loadprofile of type wsp.
std::string write_load(std::string_view profile);

}  // namespace loom::waveshaper
