// SPDX-License-Identifier: Apache-2.0
// Where a ring drops most light, in few looks: a scan in steps of half its width, then three looks about the best of them. All
// places are shifts from the cold resonance, MHz, by the fabric's own figures of the heater. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace loom {

class PeakSearch {
 public:
  /// The whole of [from, to]; `width`: of the ring, full at half maximum.
  static PeakSearch scan(double from, double to, double width);
  /// About `place`, and a scan of twice the width each way if it is not there.
  static PeakSearch about(double place, double from, double to, double width);

  /// Where to look next. Precondition: not is_over().
  double next() const { return looks_.front(); }
  /// What was measured there; `place`: where the ring's heater really was.
  void take(double place, Dbm power);
  bool is_over() const { return looks_.empty(); }
  /// Where it dropped most; none: see trouble(). Precondition: is_over().
  std::optional<double> peak() const { return peak_; }
  /// Precondition: is_over() without a peak.
  const std::string& trouble() const { return trouble_; }
  Dbm strongest() const { return strongest_; }

 private:
  struct Look {
    double place;
    Dbm power;
  };

  PeakSearch(double from, double to, double width) : from_(from), to_(to), width_(width) {}
  void plan_scan(double from, double to);
  void plan_close_looks(double place);
  void judge_scan();
  void judge_close_looks();
  /// Of the Lorentzian of about its width on which the three looks lie; none: they lie on none.
  std::optional<double> top() const;
  void give_up(std::string why) { trouble_ = std::move(why); }

  double from_;
  double to_;
  double width_;
  bool scans_ = false;
  bool has_scanned_ = false;
  int moves_ = 0;              ///< of the three looks, after light
  std::vector<double> looks_;  ///< to come
  std::vector<Look> seen_;     ///< of the scan, or of the three
  std::optional<double> peak_;
  std::string trouble_;
  Dbm strongest_{kNoLight};
};

}  // namespace loom
