// SPDX-License-Identifier: Apache-2.0
// A Lorentzian's reciprocal is a parabola.
#include "controller/calibrate/peak_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kScanStep = 0.5;    ///< widths: one look at least lies where it drops half
constexpr double kCloseStep = 0.25;  ///< widths: 1 dB beside the peak
constexpr double kFoundAgain = 2;    ///< widths beside where it was thought to be
constexpr int kMoves = 4;
constexpr double kLeastWidth = 0.5;  ///< of what is known: narrower, a look saw less light than its ring drops there,
constexpr double kMostWidth = 2;     ///< wider, more
constexpr Db kPeak{300};             ///< above the least light seen: less is no resonance
constexpr Db kSecondPeak{600};       ///< as near to the strongest another place is a resonance too
constexpr Db kFlat{20};              ///< three close looks that differ by less see no resonance

double reciprocal(Dbm power) { return std::pow(10.0, -power.centi / 1000.0); }

std::string in_gigahertz(double mhz) { return format_text("{} GHz", std::llround(mhz / 1e3)); }

std::string in_dbm(Dbm power) {
  return format_text("{}{}.{} dBm", power.centi < 0 ? "-" : "", std::abs(power.centi) / 100, std::abs(power.centi) % 100 / 10);
}

}  // namespace

PeakSearch PeakSearch::scan(double from, double to, double width) {
  PeakSearch search(from, to, width);
  search.plan_scan(from, to);
  return search;
}

PeakSearch PeakSearch::about(double place, double from, double to, double width) {
  PeakSearch search(from, to, width);
  search.plan_close_looks(std::clamp(place, from, to));
  return search;
}

void PeakSearch::plan_scan(double from, double to) {
  scans_ = true;
  seen_.clear();
  const auto steps = std::max<std::int64_t>(2, std::llround(std::ceil((to - from) / (kScanStep * width_))));
  for (std::int64_t i = 0; i <= steps; ++i) {
    looks_.push_back(from + (to - from) * static_cast<double>(i) / static_cast<double>(steps));
  }
}

void PeakSearch::plan_close_looks(double place) {
  scans_ = false;
  seen_.clear();
  const double step = kCloseStep * width_;
  const double middle = to_ - from_ < 2 * step ? (from_ + to_) / 2 : std::clamp(place, from_ + step, to_ - step);
  looks_ = {std::max(from_, middle - step), middle, std::min(to_, middle + step)};
}

void PeakSearch::take(double place, Dbm power) {
  looks_.erase(looks_.begin());
  seen_.push_back({place, power});
  strongest_ = std::max(strongest_, power);
  if (looks_.empty()) {
    scans_ ? judge_scan() : judge_close_looks();
  }
}

void PeakSearch::judge_scan() {
  has_scanned_ = true;
  const auto best = std::ranges::max_element(seen_, {}, &Look::power);
  const Dbm least = std::ranges::min_element(seen_, {}, &Look::power)->power;
  if (best->power <= kNoLight) {
    return give_up(format_text("no resonance in range: its monitor sees no light with the ring {} to {} below its cold place",
                               in_gigahertz(seen_.front().place), in_gigahertz(seen_.back().place)));
  }
  if (best->power - least < kPeak) {
    return give_up(format_text("its monitor reads {} to {} wherever the ring stands: dead, or light comes another way",
                               in_dbm(least), in_dbm(best->power)));
  }
  const auto as_strong = std::ranges::count_if(seen_, [&](const Look& look) { return best->power - look.power < kFlat; });
  if (as_strong > 2) {
    return give_up(format_text("its monitor reads {} over {} of heat: saturated", in_dbm(best->power),
                               in_gigahertz(kScanStep * width_ * static_cast<double>(as_strong))));
  }
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const bool is_peak =
        (i == 0 || seen_[i - 1].power <= seen_[i].power) && (i + 1 == seen_.size() || seen_[i + 1].power <= seen_[i].power);
    const bool is_apart = std::abs(seen_[i].place - best->place) > 1.5 * width_;
    if (is_peak && is_apart && best->power - seen_[i].power < kSecondPeak && seen_[i].power - least >= kPeak) {
      return give_up(format_text("two resonances in range, {} and {} below its cold place: two rings on one light",
                                 in_gigahertz(std::min(best->place, seen_[i].place)),
                                 in_gigahertz(std::max(best->place, seen_[i].place))));
    }
  }
  plan_close_looks(best->place);
}

std::optional<double> PeakSearch::top() const {
  if (std::ranges::any_of(seen_, [](const Look& look) { return look.power <= kNoLight; })) {
    return std::nullopt;
  }
  const std::array<double, 3> y{reciprocal(seen_[0].power), reciprocal(seen_[1].power), reciprocal(seen_[2].power)};
  const double left = (y[1] - y[0]) / (seen_[1].place - seen_[0].place);
  const double right = (y[2] - y[1]) / (seen_[2].place - seen_[1].place);
  const double bend = (right - left) / (seen_[2].place - seen_[0].place);
  if (!(bend > 0) || !std::isfinite(bend)) {
    return std::nullopt;
  }
  const double peak = (seen_[0].place + seen_[1].place) / 2 - left / (2 * bend);
  const double least = y[0] + (left + bend * (peak - seen_[1].place)) * (peak - seen_[0].place);
  const double width = 2 * std::sqrt(std::max(0.0, least / bend));
  return width > kLeastWidth * width_ && width < kMostWidth * width_ ? std::optional(peak) : std::nullopt;
}

void PeakSearch::judge_close_looks() {
  const auto [least, most] = std::ranges::minmax_element(seen_, {}, &Look::power);
  const double step = kCloseStep * width_;
  const bool is_flat = least->power > kNoLight && most->power - least->power < kFlat && seen_[2].place - seen_[0].place > step;
  if (is_flat && has_scanned_) {
    return give_up(format_text("its monitor reads {} about the peak and does not change: saturated", in_dbm(most->power)));
  }
  const std::optional<double> peak = top();
  if (peak && *peak > seen_[0].place - step / 2 && *peak < seen_[2].place + step / 2) {
    peak_ = peak;
    return;
  }
  double wanted = most->place;
  if (peak) {
    wanted = std::clamp(*peak, seen_[0].place - width_, seen_[2].place + width_);  // outside its looks a parabola is less sure
  } else if (most == seen_.begin() || most == seen_.end() - 1) {
    wanted += most == seen_.begin() ? -step / 2 : step / 2;
  } else if (least->power <= kNoLight) {
    wanted += seen_.front().power <= kNoLight ? step / 2 : -step / 2;
  }
  if (!is_flat && wanted != most->place && most->power > kNoLight && moves_ < kMoves) {
    ++moves_;
    return plan_close_looks(wanted);
  }
  if (has_scanned_) {
    return give_up("what its monitor sees about the strongest light is no resonance");
  }
  const double middle = seen_[1].place;
  plan_scan(std::max(from_, middle - kFoundAgain * width_), std::min(to_, middle + kFoundAgain * width_));
}

}  // namespace loom
