// SPDX-License-Identifier: Apache-2.0
// BankSweep: the rings of one bank measured side by side, each by a light of its own. Rounds: where each stands on a first
// light and on one far from it, found by a scan and looked at again when the others are at rest; then with each heater of the
// bank off in turn, which tells what the others feel of it; and last heat of all that tells how good the law is. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/calibrate/law_fit.hpp"
#include "controller/calibrate/peak_search.hpp"
#include "core/messages/report.hpp"
#include "core/ring/calibration.hpp"

namespace loom {

/// What one look asks for.
struct RingLook {
  Probe light;
  std::int32_t millivolts = 0;
};

class BankSweep {
 public:
  /// `rings`: that are measured, ascending channel, each with the lights of the one transmitter that was given to it. `before`:
  /// its calibration until now, which says where to begin; null: none.
  BankSweep(std::vector<RingReport> rings, const DeviceCalibration* before);

  bool is_over() const { return round_ == Round::over; }
  /// Heaters' voltages by channel of the bank. Precondition: not is_over().
  const std::vector<std::int32_t>& millivolts() const { return millivolts_; }
  /// Of the ring at `index` of those measured; none: it is not looked at now.
  std::optional<Probe> light(std::size_t index) const;
  /// What came to the receivers, by index; those that were not looked at: anything.
  void take(const std::vector<Dbm>& powers);
  /// One law for each ring that was found, ascending channel.
  std::vector<RingLaw> laws() const;
  /// Of the ring at `index`; empty: none.
  const std::string& trouble(std::size_t index) const { return places_[index].trouble; }
  const std::vector<RingReport>& rings() const { return rings_; }

 private:
  enum class Round : std::uint8_t { first, first_again, far, far_again, neighbours, proof, over };
  struct Look {
    double place;              ///< of its own heater, as the search has it
    std::vector<double> heat;  ///< V^2, by channel
  };
  struct Place {
    RingLaw law;    ///< as far as the peaks tell
    RingLaw known;  ///< before: of its last calibration, or of its kind
    RingLaw kind;
    bool warm = false;          ///< known from before
    std::vector<Probe> lights;  ///< first, far and proof: as many as there are
    std::vector<RingPeak> peaks;
    std::optional<PeakSearch> search;
    std::vector<Look> looks;    ///< of the search, the last three
    std::size_t light = 0;      ///< of `lights`, that it looks at now
    double rest = 0;            ///< V^2 that it has when it does not look
    FrequencyOffset missed{0};  ///< by what nothing was fitted to
    std::string trouble;
  };

  void choose_lights(std::size_t index);
  /// Which of its lights a ring stands on in this round; none: its heater is off.
  std::optional<std::size_t> light_of_round(const Place& place) const;
  bool looks_in_round(const Place& place) const;
  void begin_round();
  void end_round();
  void aim(std::size_t index);
  void keep_peak(std::size_t index, double peak);
  static std::vector<double> heats_at(const Place& place, double peak);
  void set_heaters();
  /// Own heat that puts it on its light, all others as they are set.
  double heat_wanted(const Place& place) const;
  double reach(std::size_t index) const;
  static void judge_neighbours(Place& place);

  std::vector<RingReport> rings_;
  std::vector<Place> places_;  ///< by index
  std::size_t channels_ = 0;
  Round round_ = Round::first;
  std::size_t neighbour_ = 0;             ///< of Round::neighbours: of places_, whose heater is off
  std::vector<std::int32_t> millivolts_;  ///< by channel of the bank
};

}  // namespace loom
