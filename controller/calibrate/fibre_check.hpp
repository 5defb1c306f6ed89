// SPDX-License-Identifier: Apache-2.0
// FibreCheck: which fibres are swapped, missing or dirty, by toggling and listening. Each receiver that is measured gets a
// transmitter of its own, and each of these a number; first all shine, then those whose number has this bit, bit after bit, so
// that every receiver hears who it is that reaches it, in about log2(N) looks. Where not all ways can be at once, half of them
// are tried at a time. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/calibrate/light_survey.hpp"
#include "core/messages/report.hpp"

namespace loom {

enum class FibreTrouble : std::uint8_t {
  missing,  ///< no light comes
  swapped,  ///< another transmitter's comes
  mixed,    ///< nobody's alone
  dirty,    ///< its own, with more loss than the fabric says
};
std::string_view to_string(FibreTrouble trouble);

struct FibreFinding {
  FibreTrouble trouble = FibreTrouble::missing;
  ElementId receiver;
  ElementId transmitter;                 ///< that was to reach it
  std::optional<ElementId> heard{};      ///< of swapped: the transmitter whose light comes
  std::optional<ElementId> meant_for{};  ///< and the receiver that it was sent to
  std::optional<Db> excess{};            ///< of dirty: loss beside what is expected
  bool operator==(const FibreFinding&) const = default;
};

class FibreCheck final : public LightSurvey {
 public:
  /// Loss beside what the fabric says, from which on connectors are to be cleaned [K].
  static constexpr Db kDirty{150};

  explicit FibreCheck(const std::vector<WayReport>& ways);

  bool is_over() const override { return now_.empty(); }
  ProbeLight ask() const override;
  std::vector<ElementId> receivers() const override;
  bool wants_ways() const override { return round_ == 0; }
  void take(const ReceivedLights& lights) override;
  void refused(const Error& error) override;
  std::size_t steps() const override { return steps_; }
  std::size_t done() const override { return checked_; }
  std::size_t all() const override { return checked_ + now_.size() + waiting_.size(); }

  /// Ascending receiver.
  const std::vector<FibreFinding>& findings() const { return findings_; }
  std::size_t checked() const { return checked_; }
  /// Measured, and no light could be sent to them, with the reason.
  const std::vector<std::pair<ElementId, std::string>>& unchecked() const { return unchecked_; }

 private:
  struct Pair {
    Probe light;
    std::optional<Dbm> expected{};
    Dbm heard{kNoLight};       ///< when all shone
    std::uint64_t number = 0;  ///< that it heard, bit by bit
  };

  void begin();
  void judge();
  std::size_t bits() const;

  std::vector<Pair> waiting_;
  std::vector<Pair> now_;    ///< ascending receiver; the number of the k-th is k + 1
  std::size_t at_once_ = 0;  ///< pairs, at most
  std::size_t round_ = 0;    ///< 0: all; then bit round_ - 1
  std::size_t steps_ = 0;
  std::size_t checked_ = 0;
  std::vector<FibreFinding> findings_;
  std::vector<std::pair<ElementId, std::string>> unchecked_;
};

}  // namespace loom
