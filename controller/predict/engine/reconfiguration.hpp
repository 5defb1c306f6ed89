// SPDX-License-Identifier: Apache-2.0
// One machine for every optical fabric that changes while a job runs: live, drain, dark, link-up, live again. A policy chooses
// the next topology from what is left to send; the machine says which network carries traffic now and which nodes are dark.
// Pure: handed the time, it never asks for it.
#pragma once

#include <functional>
#include <vector>

#include "controller/predict/engine/network.hpp"
#include "controller/predict/engine/transfers.hpp"
#include "controller/predict/networks/matchings.hpp"

namespace loom {

enum class LightPhase : std::uint8_t {
  live,
  drain,    ///< nothing new is admitted, what is under way goes on
  dark,     ///< mirrors, filters or lasers move
  link_up,  ///< light is there, receivers lock; still nothing gets through
};

struct ReconfigurationTerms {
  Duration live{};       ///< from resume to the next decision
  Duration drain{};      ///< 0: whatever is under way is cut, and goes on later
  Duration dark{};       ///< the switch's delay
  Duration link_up{};    ///< after it
  bool all_stop = true;  ///< everything goes dark; else only circuits that change
};

/// TopoOpt's OCS-reconfig: live 4 x delay, then the delay (dyn_net_sch.cpp).
ReconfigurationTerms ocs_reconfig_terms(Duration delay);
/// SiP-ML: an interval, then all-stop while the rings are tuned (100 us and 20 us in its authors' code).
ReconfigurationTerms periodic_terms(Duration interval, Duration reconfiguration);

/// The next topology, from the bytes not yet sent. Same end points always.
using TopologyPolicy = std::function<Result<Network>(double now, std::span<const Transfers::Left> residual)>;

/// What carried traffic from `at` on, nanoseconds.
struct RecordedNetwork {
  double at = 0;
  Network network;
};

/// Darkness of some nodes, ns.
struct DarkSpan {
  double from = 0;
  double to = 0;
  std::vector<std::uint32_t> nodes;  ///< ascending; empty: all
};

class Reconfiguration {
 public:
  /// Spans that are kept; with them, the nodes that they name count.
  static constexpr std::size_t kDarkSpansMax = std::size_t{1} << 20U;

  /// Light as it was: each network from its instant on, the last one for ever. `networks` ascending, the first at 0 or before;
  /// all of them of the same links, dark ones with rate 0 and in no route. dark_ns() stays 0. Errors: invalid_argument (none,
  /// or other end points), those of check().
  static Result<Reconfiguration> recorded(std::vector<RecordedNetwork> networks);

  /// `first` is live at 0. Errors: out_of_range (a live time of 0 or less, a negative delay).
  static Result<Reconfiguration> make(const ReconfigurationTerms& terms, Network first, TopologyPolicy policy);

  LightPhase phase() const { return phase_; }
  double next() const { return next_; }
  /// What carries traffic in this phase.
  const Network& network() const { return *current_; }
  /// Moves on to the next phase; `now` = next(). Errors: the policy's; invalid_argument (other end points).
  Result<void> step(double now, std::span<const Transfers::Left> residual);
  /// By node: nanoseconds without light so far, up to the last step().
  const std::vector<double>& dark_ns() const { return dark_ns_; }
  std::uint32_t changes() const { return changes_; }
  /// The run is over: what is dark was so until `now`.
  void end(double now);
  /// When who was dark, up to the last step() or end(); of networks that were recorded, nothing.
  const std::vector<DarkSpan>& dark_spans() const { return dark_spans_; }
  /// There were more than kDarkSpansMax, and the later ones are not kept.
  bool forgot_dark() const { return forgot_dark_; }

 private:
  Reconfiguration() = default;
  void go_dark();
  void add_dark(double now);

  ReconfigurationTerms terms_;
  TopologyPolicy policy_;
  LightPhase phase_ = LightPhase::live;
  double next_ = 0;
  double dark_since_ = 0;
  Network live_;
  Network coming_;
  Network standing_;  ///< while dark: what does not change, or nothing
  std::vector<RecordedNetwork> recorded_;
  std::size_t playing_ = 0;  ///< of the recorded ones
  const Network* current_ = nullptr;
  std::vector<bool> is_dark_;
  std::vector<double> dark_ns_;
  std::uint32_t changes_ = 0;
  std::vector<DarkSpan> dark_spans_;
  std::size_t dark_kept_ = 0;
  bool forgot_dark_ = false;

 public:
  Reconfiguration(Reconfiguration&& other) noexcept;
  Reconfiguration& operator=(Reconfiguration&& other) noexcept;
  Reconfiguration(const Reconfiguration&) = delete;
  Reconfiguration& operator=(const Reconfiguration&) = delete;
  ~Reconfiguration() = default;
};

/// Matching after matching, for ever.
TopologyPolicy cycle_policy(const NetworkTerms& terms, std::vector<Matching> cycle);

}  // namespace loom
