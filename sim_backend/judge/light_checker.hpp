// SPDX-License-Identifier: Apache-2.0
// LightChecker: the safety judge. At every change of ground-truth light it asks whether that light may be; it learns which
// circuits exist from what the controller journals, and nothing that it judges ever hears from it. Plans active at one time:
// the last confirmed one and every one that is `going` since.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/fabric/contact.hpp"
#include "core/journal/journal.hpp"
#include "sim_backend/light/light_model.hpp"
#include "sim_backend/snapshot_news.hpp"

namespace loom {

enum class SafetyRule : std::uint8_t {
  collision,  ///< two lights in one band on one fibre, or two lights at one receiver, or light that meets itself
  stray,      ///< light where no circuit of any active plan puts it
  mixed,      ///< lights that no one active plan contains both of: at one receiver, in one band of a fibre, at one switch port
  moving_port,  ///< light enters a port while it moves
  lasers_off,   ///< light although all lasers, or this node's, are ordered off
  crosstalk,    ///< what leaks to a receiver of a planned circuit sums to more than it bears beside its signal
  interlock,    ///< light although this node's interlock contact was opened, and nobody has rearmed it since
  power,        ///< more light in a fibre than its limit (core/fabric/hazard.hpp)
  unsettled,    ///< liveness: the run did not come to rest where it should
};
std::string_view to_string(SafetyRule rule);

struct Violation {
  Instant at{};
  SafetyRule rule = SafetyRule::collision;
  std::string evidence;  ///< one sentence: which light, where, against what
  bool operator==(const Violation&) const = default;
};

/// A set of rules.
using RuleSet = std::uint16_t;
constexpr RuleSet rule_set(std::initializer_list<SafetyRule> rules) {
  RuleSet set = 0;
  for (const SafetyRule rule : rules) {
    set = static_cast<RuleSet>(set | 1U << static_cast<unsigned>(rule));
  }
  return set;
}

/// Something was done to an element from outside: what it explains is no fault of the control plane, while it lasts.
struct Excuse {
  ElementId element;
  RuleSet rules = 0;
  Instant until = kNever;
  std::string fault;  ///< `wss-in-0: stick`
};

/// A violation that an injected fault explains.
struct ExcusedViolation {
  Violation violation;
  std::string fault;
  bool operator==(const ExcusedViolation&) const = default;
};

struct CheckerOptions {
  /// From the journalled order to the last photon: the network's retries included for everybody's order.
  Duration lasers_off_bound = std::chrono::seconds{1};
  /// From an agent's own journalled latch to the last photon of its transmitters: its buses alone.
  Duration latch_bound = std::chrono::milliseconds{100};
  /// May nobody be able to tell this transmitter anything now, or just before? Only then may a plan leave its light alone.
  std::function<bool(ElementId)> is_out_of_reach{};
  std::size_t violations_max = 100;  ///< kept; the rest is only counted
};

class LightChecker {
 public:
  LightChecker(const LightModel& light, CheckerOptions options);

  /// What the controller asks its journal to keep, as it asks. Of a snapshot what the rows before it have not told.
  void learn(Instant now, const Record& record);
  /// Another controller, which has not noticed yet that it was replaced, decided to light this: lawful until dismiss_others().
  void admit(std::shared_ptr<const Plan> plan);
  /// The same for what it had decided already, and the journal of the one that replaces it does not know. `known`: ascending.
  void admit_all_but(const std::vector<Revision>& known);
  void dismiss_others(Instant now);
  /// What an agent asks its journal to keep.
  void learn_latch(Instant now, NodeId node, const LatchRecord& latch);
  /// This node's interlock contact. Within its devices' blank and control times its light is gone, and stays so until somebody
  /// has rearmed while the contact was closed, whatever its agent believes. `unread`: it is closed again, and no process was
  /// there while it was open; software that does not run sees nothing.
  /// What it owes from before that it owes still.
  void note_contact(Instant now, NodeId node, ContactState state);
  /// An operator's rearm has come to a controller.
  void note_rearm();
  /// From now on, for the rules that it names: light that this element makes, that enters it, or that has passed it on its way.
  void excuse(Excuse excuse);
  /// The same for light that passes, or has passed, this fibre; the excuse's element counts for nothing.
  void excuse(FibreId fibre, Excuse excuse);
  /// This fault explains nothing any more there.
  void withdraw(ElementId element, const std::string& fault);

  /// After each change of light: the transmitters that LightModel::apply named, and the receivers at which it changed.
  void judge(Instant now, std::span<const ElementId> changed);
  /// All light anew; for instants at which a rule begins to hold without any light changing.
  void judge_all(Instant now);
  /// The next instant at which judge_all() is due because a bound passes; kNever: none.
  Instant next_bound(Instant now) const;

  const std::vector<Violation>& violations() const { return violations_; }
  std::uint64_t count() const { return count_; }
  /// What would be a violation but for a fault; the first violations_max of them.
  const std::vector<ExcusedViolation>& excused() const { return excused_; }
  std::uint64_t excused_count() const { return excused_count_; }
  /// Instants of ground truth at which a `mixed` was found.
  std::uint64_t mixed() const { return mixed_; }
  /// The plan whose light is the only lawful one now; null: darkness.
  const Plan* confirmed() const { return confirmed_.get(); }
  std::shared_ptr<const Plan> confirmed_plan() const { return confirmed_; }

 private:
  struct PlannedCircuit {
    Frequency lower;
    Frequency upper;
    ElementId receiver;    ///< kNobody: wherever it comes to; it is there to be measured
    bool is_left = false;  ///< an earlier plan's; this one leaves it alone, for as long as it shines
  };
  struct ActivePlan {
    std::shared_ptr<const Plan> plan;
    std::vector<std::vector<PlannedCircuit>> of_transmitter;  ///< by element
    bool of_other = false;                                    ///< admitted
  };
  using PlanSet = std::uint64_t;  ///< bit i: active_[i]

  void learn_snapshot(Instant now, const SnapshotRecord& snapshot);
  void activate(std::shared_ptr<const Plan> plan, bool of_other, const std::vector<Probe>& probes);
  void confirm(Instant now, Revision revision);
  void classify_all();
  PlanSet plans_of(ElementId transmitter) const;
  PlanSet plans_to(ElementId transmitter, Frequency frequency, ElementId receiver) const;
  void judge_lights(Instant now, std::span<const ElementId> changed);
  void judge_path(Instant now, ElementId transmitter);
  void judge_fibre(Instant now, const Light& light, FibreId fibre);
  void judge_order(Instant now, ElementId transmitter);
  bool is_interlocked(Instant now, ElementId transmitter, NodeId node) const;
  void judge_power(Instant now, const Light& light, FibreId fibre);
  void judge_crosstalk(Instant now, ElementId receiver);
  /// Which light breaks a rule, and where.
  struct Breach {
    SafetyRule rule;
    ElementId subject;
    ElementId other;
    std::optional<FibreId> fibre{};  ///< none: at the transmitter
  };
  const Excuse* excuse_at(ElementId element, SafetyRule rule, Instant now) const;
  /// Of light that was made by this transmitter, up to the fibre.
  const Excuse* excuse_on_path(ElementId transmitter, FibreId fibre, SafetyRule rule, Instant now) const;
  bool is_leak_excused(ElementId transmitter, Instant now) const;
  const Excuse* excuse_of(const Breach& breach, Instant now) const;
  void report(Instant now, const Breach& breach, std::string evidence);
  std::string describe(const Light& light) const;
  std::string describe(FibreId fibre) const;

  const LightModel& light_;
  CheckerOptions options_;
  std::vector<Probe> probes_;  ///< of the newest intent
  std::vector<ActivePlan> active_;
  std::shared_ptr<const Plan> confirmed_;
  RevisionsRead read_;
  std::vector<PlanSet> plans_;  ///< by element: the active plans that have a circuit for the transmitter's present light
  std::map<ElementId, std::vector<Excuse>> excuses_;
  std::map<FibreId, std::vector<Excuse>> fibre_excuses_;
  Instant lasers_off_since_ = kNever;
  std::vector<Instant> latched_since_;                    ///< by node
  std::vector<std::optional<std::uint64_t>> latched_by_;  ///< by node: order with which `lasers off`, or itself, latched it
  std::set<std::uint64_t> rearms_;                        ///< numbers of the orders by which operators rearmed
  struct Contact {
    bool is_open = false;
    bool is_first = false;        ///< nothing was owed before it was opened
    Instant dark_since = kNever;  ///< it was opened then and nobody has rearmed since it is closed
  };
  std::map<NodeId, Contact> contacts_;
  std::vector<Violation> violations_;
  std::vector<ExcusedViolation> excused_;
  /// Since the last record, and whether it was excused; one sentence each is enough.
  std::set<std::tuple<SafetyRule, ElementId, ElementId, bool>> reported_;
  std::uint64_t count_ = 0;
  std::uint64_t excused_count_ = 0;
  std::uint64_t mixed_ = 0;
};

/// Of light from a transmitter at a receiver.
using LinkPredicate = std::function<bool(ElementId transmitter, ElementId receiver)>;

/// How ground truth differs from what the plan says, one sentence each; empty: it is as planned. Null: all dark. A plan whose
/// agents play timeslots may be anywhere in its cycle: then only light that no timeslot has is a difference.
/// `is_excused`: links that may be lit or dark as they like; empty: none.
std::vector<std::string> differences(const LightModel& light, const Plan* plan, const LinkPredicate& is_excused = {});

}  // namespace loom
