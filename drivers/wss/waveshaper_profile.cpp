// SPDX-License-Identifier: Apache-2.0
// Text to points, points to passes, and back.
#include "drivers/wss/waveshaper_profile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::waveshaper {
namespace {

constexpr std::int32_t kBlockingTenthMilli = 400'000;  ///< more than 40 dB blocks
constexpr std::int32_t kTenthMilliMax = 10'000'000;    ///< 1000 dB
constexpr double kFrequencyMaxThz = 1'000.0;
constexpr std::size_t kShown = 40;

std::unexpected<Error> wrong(std::size_t line, const std::string& why) {
  return fail(ErrorCode::invalid_argument, format_text("line {}: {}", line, why));
}

/// The next field of a line, without its separators; empty: there is none.
std::string_view take_field(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view field = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return field;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

/// Printable, and its first characters only: it comes from somebody else.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, kShown));
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return format_text("'{}{}", out, text.size() > kShown ? "...'" : "'");
}

Result<Point> read_point(std::string_view text, std::size_t number) {
  std::string_view rest = text;
  const auto frequency = number_of(take_field(rest));
  const auto attenuation = number_of(take_field(rest));
  const auto phase = number_of(take_field(rest));
  const std::string_view port_text = take_field(rest);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (!frequency || !attenuation || !phase || error != std::errc{} || end != port_text.data() + port_text.size() ||
      !take_field(rest).empty()) {
    return wrong(number, format_text("found {}; expected frequency, attenuation, phase and port", shown(text)));
  }
  if (*frequency <= 0 || *frequency > kFrequencyMaxThz) {
    return wrong(number, format_text("no frequency in THz: {}", shown(text)));
  }
  const double tenth_milli = std::clamp(*attenuation * 1e4, 0.0, static_cast<double>(kTenthMilliMax));
  return Point{Frequency{std::llround(*frequency * 1e6)}, static_cast<std::int32_t>(std::lround(tenth_milli)), port};
}

std::int64_t floor_steps(Frequency frequency) {
  const std::int64_t offset = (frequency - kGridAnchor).mhz;
  const std::int64_t steps = offset / kGridStep.mhz;
  return offset % kGridStep.mhz < 0 ? steps - 1 : steps;
}

Frequency at_step(std::int64_t steps) { return {kGridAnchor.mhz + steps * kGridStep.mhz}; }

/// The multiple of 6.25 GHz that an edge between two points stands for; nothing: it is none, or the points lie too far apart to
/// say. Clients that count the last point of a band in mean the same edge.
std::optional<std::int32_t> edge_between(Frequency below, Frequency above) {
  const Frequency middle{(below.mhz + above.mhz) / 2};
  const std::int64_t steps = floor_steps(middle + FrequencyOffset{kGridStep.mhz / 2});
  const std::int64_t off = (middle - at_step(steps)).mhz;
  const bool is_edge = std::abs(off) <= kSpacing.mhz / 2 && (above - below).mhz <= 2 * kSpacing.mhz;
  return is_edge ? std::optional(static_cast<std::int32_t>(steps)) : std::nullopt;
}

bool is_same(const Point& a, const Point& b) { return passes(a) && a.port == b.port && a.attenuation == b.attenuation; }

/// What passes from one point to another, with the frequencies just outside.
struct Run {
  Frequency before, first, last, after;
  const Point* point = nullptr;
};

void append_run(Spectrum& spectrum, const Run& run) {
  const std::int32_t centi = (run.point->attenuation + 50) / 100;
  const auto lower = edge_between(run.before, run.first);
  const auto upper = edge_between(run.last, run.after);
  if (lower && upper && *upper > *lower && (*upper - *lower) % 2 == 0) {
    spectrum.passes.push_back({*lower, *upper, run.point->port, centi});
    return;
  }
  const auto outer_lower = static_cast<std::int32_t>(floor_steps(run.first));
  auto outer_upper = static_cast<std::int32_t>(floor_steps({run.after.mhz - 1}) + 1);
  outer_upper = std::max(outer_upper, outer_lower + 1);
  outer_upper += (outer_upper - outer_lower) % 2;
  spectrum.foreign.push_back({outer_lower, outer_upper, run.point->port, centi});
}

/// "193.1000" for 1931000. Not negative.
void append_fixed(std::string& text, std::int64_t ten_thousandths) {
  constexpr std::int64_t kUnit = 10'000;
  std::array<char, 24> digits{};
  const auto whole = std::to_chars(digits.data(), digits.data() + digits.size(), ten_thousandths / kUnit);
  text.append(digits.data(), whole.ptr);
  const auto rest = std::to_chars(digits.data(), digits.data() + digits.size(), kUnit + ten_thousandths % kUnit);
  digits[0] = '.';  // in place of the 1 that kept the zeroes
  text.append(digits.data(), rest.ptr);
}

}  // namespace

bool passes(const Point& point) { return point.port != 0 && point.attenuation <= kBlockingTenthMilli; }

std::string write_profile(std::span<const Point> points) {
  constexpr std::size_t kLine = 28;
  std::string text;
  text.reserve(points.size() * kLine);
  for (const Point& point : points) {
    append_fixed(text, point.frequency.mhz / 100);
    text += '\t';
    append_fixed(text, point.attenuation);
    text += "\t0.0000\t";
    text += std::to_string(point.port);
    text += '\n';
  }
  return text;
}

Result<std::vector<Point>> read_profile(std::string_view text) {
  std::vector<Point> points;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (text.empty() && line.find_first_not_of(" \t") == std::string_view::npos) {
      break;
    }
    const Result<Point> point = read_point(line, number);
    if (!point) {
      return std::unexpected(point.error());
    }
    if (!points.empty() && point->frequency <= points.back().frequency) {
      return wrong(number, "frequencies must ascend");
    }
    if (points.size() >= kPointsMax) {
      return wrong(number, format_text("more than {} points", kPointsMax));
    }
    points.push_back(*point);
  }
  return points;
}

Pass pass_of(FrequencySlot slot, std::uint16_t port, Db attenuation) {
  return {slot.n - slot.m, slot.n + slot.m, port, attenuation.centi};
}

FrequencySlot slot_of(const Pass& pass) { return {(pass.lower + pass.upper) / 2, (pass.upper - pass.lower) / 2}; }

Spectrum spectrum_of(std::span<const Point> points) {
  Spectrum spectrum;
  const auto frequency_at = [&](std::size_t i) { return points[i].frequency; };
  const FrequencyOffset gap_before = points.size() > 1 ? frequency_at(1) - frequency_at(0) : kSpacing;
  const std::size_t size = points.size();
  const FrequencyOffset gap_after = size > 1 ? frequency_at(size - 1) - frequency_at(size - 2) : kSpacing;
  for (std::size_t begin = 0; begin < size;) {
    std::size_t end = begin + 1;
    while (end < size && is_same(points[begin], points[end])) {
      ++end;
    }
    if (passes(points[begin])) {
      const Frequency before = begin > 0 ? frequency_at(begin - 1) : frequency_at(0) - gap_before;
      const Frequency after = end < size ? frequency_at(end) : frequency_at(size - 1) + gap_after;
      append_run(spectrum, {before, frequency_at(begin), frequency_at(end - 1), after, &points[begin]});
    }
    begin = end;
  }
  return spectrum;
}

std::vector<Pass> all_of(const Spectrum& spectrum) {
  std::vector<Pass> passes = spectrum.passes;
  for (const Pass& foreign : spectrum.foreign) {
    const bool is_free = std::ranges::none_of(
        passes, [&](const Pass& pass) { return pass.lower < foreign.upper && foreign.lower < pass.upper; });
    if (is_free) {
      passes.push_back(foreign);
    }
  }
  std::ranges::sort(passes);
  return passes;
}

std::vector<WssRoute> routes_of(std::span<const Pass> passes, PortMap map, PortNumber ports) {
  std::vector<WssRoute> routes;
  for (const Pass& pass : passes) {
    if (pass.port <= ports && routes.size() < limits::kWssRoutes) {
      routes.push_back(route_at(map, slot_of(pass), pass.port));
      routes.back().attenuation = Db{pass.centi};
    }
  }
  std::ranges::sort(routes, {}, [](const WssRoute& route) { return std::pair(route.slot.n, route.input); });
  return routes;
}

std::vector<Pass> joined(std::span<const Pass> passes) {
  std::vector<Pass> all;
  for (const Pass& pass : passes) {
    if (!all.empty() && all.back().upper == pass.lower && all.back().port == pass.port && all.back().centi == pass.centi) {
      all.back().upper = pass.upper;
    } else {
      all.push_back(pass);
    }
  }
  return all;
}

bool lets_through(const Spectrum& spectrum, const Pass& wanted) {
  return std::ranges::any_of(joined(spectrum.passes), [&](const Pass& pass) {
    return pass.lower <= wanted.lower && pass.upper >= wanted.upper && pass.port == wanted.port && pass.centi == wanted.centi;
  });
}

bool lets_through_only(const Spectrum& spectrum, std::span<const Pass> wanted) {
  return spectrum.foreign.empty() && joined(spectrum.passes) == joined(wanted);
}

std::vector<Point> points_of(const Band& band, std::span<const Pass> passes) {
  const std::int64_t first = (band.first.mhz + kSpacing.mhz - 1) / kSpacing.mhz;
  const std::int64_t last = band.last.mhz / kSpacing.mhz;
  std::vector<Point> points;
  points.reserve(static_cast<std::size_t>(std::max<std::int64_t>(last - first + 1, 0)));
  std::size_t at = 0;
  std::int32_t mark = 0;
  for (std::int64_t ghz = first; ghz <= last && points.size() < kPointsMax; ++ghz) {
    const Frequency frequency{ghz * kSpacing.mhz};
    while (at < passes.size() && frequency >= at_step(passes[at].upper)) {
      const bool has_twin = at + 1 < passes.size() && passes[at].upper == passes[at + 1].lower &&
                            passes[at].port == passes[at + 1].port && passes[at].centi == passes[at + 1].centi;
      mark = has_twin ? 1 - mark : 0;
      ++at;
    }
    const bool is_inside = at < passes.size() && frequency >= at_step(passes[at].lower);
    points.push_back(is_inside ? Point{frequency, passes[at].centi * 100 + mark, passes[at].port} : Point{frequency});
  }
  return points;
}

}  // namespace loom::waveshaper
