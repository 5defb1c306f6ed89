// SPDX-License-Identifier: Apache-2.0
// Margins: how much room the light of a plan has, and what is left of it for circuits that stay lit while a WSS on their way
// reloads its hologram for others. Not modelled: amplifier transients, and light that a hologram in motion sends astray.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/fabric/channel_grid.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

constexpr double kNoCrosstalk = 1e-12;  ///< -120 dB stands for none

Db to_db(double ratio) { return {static_cast<std::int32_t>(std::lround(1000 * std::log10(std::max(ratio, kNoCrosstalk))))}; }

struct Dip {
  Db depth{};
  Duration time{};
  std::optional<ElementId> redefines;  ///< a WSS that gets a new channel grid: every channel of it is blocked meanwhile
};

class Margins {
 public:
  Margins(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings, Verdict& verdict,
          Faults& faults)
      : fabric_(fabric),
        plan_(plan),
        walk_(fabric, settings),
        verdict_(verdict),
        faults_(faults),
        reloads_(fabric.elements.size()),
        redefines_(fabric.elements.size()) {
    const std::vector<FrequencySlot> comb = comb_of(fabric);
    for (const NodeId node : scope.nodes) {
      for (const DevicePlan& device : plan.nodes[node.value].devices) {
        if (device.touched && fabric.device(device.device).role == DeviceRole::wavelength_switch) {
          const ElementId element = fabric.device(device.device).elements[0];
          reloads_[element.value] = true;
          redefines_[element.value] = gets_new_grid(comb, device);
          any_reloads_ = true;
        }
      }
    }
  }

  void run(const std::vector<Reception>& receptions) {
    LightMargins& light = verdict_.light;
    light.link_margin = light.crosstalk_margin = light.dip_margin = Db{std::numeric_limits<std::int32_t>::max()};
    light.crosstalk = to_db(kNoCrosstalk);
    for (std::size_t i = 0; i < receptions.size(); ++i) {
      if (receptions[i].signal_mw > 0) {
        add(plan_.circuits[i], receptions[i]);
      }
    }
    if (light.circuits == 0) {
      light = {};
    } else if (light.dipped == 0) {
      light.dip_margin = {};
    }
    std::sort(verdict_.disturbed.begin(), verdict_.disturbed.end());
    const LightMargins& claimed = plan_.certificate.light;
    if (claimed.circuits != 0 && claimed != light) {
      faults_.add(rules::kCertificateLight, [&] {
        return format_text(
            "the certificate claims {} circuits with a link margin of {} and crosstalk of {}; the light says {}, {}, {}",
            claimed.circuits, to_string(claimed.link_margin), to_string(claimed.crosstalk), light.circuits,
            to_string(light.link_margin), to_string(light.crosstalk));
      });
    }
  }

 private:
  static bool gets_new_grid(const std::vector<FrequencySlot>& comb, const DevicePlan& device) {
    const auto* target = std::get_if<WavelengthSwitchSetpoint>(&device.timeline.front().setpoint);
    return target != nullptr && std::ranges::any_of(device.may_hold, [&](const Setpoint& setpoint) {
             const auto* before = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
             return before != nullptr && needs_new_grid(comb, before->routes, target->routes);
           });
  }

  void add(const Circuit& circuit, const Reception& reception) {
    LightMargins& light = verdict_.light;
    ++light.circuits;
    const auto& receiver = std::get<Receiver>(fabric_.element(circuit.receiver).kind);
    if (reception.signal_mw != known_mw_) {  // many get the same
      known_mw_ = reception.signal_mw;
      known_ = to_dbm(Milliwatt{known_mw_});
    }
    const Dbm power = known_;
    const Db above = power - receiver.sensitivity;
    if (const Db margin = std::min(above, receiver.overload - power); margin < light.link_margin) {
      light.link_margin = margin;
      light.weakest = circuit.receiver;
    }
    const Db crosstalk = reception.crosstalk <= kNoCrosstalk ? none_ : to_db(reception.crosstalk);
    const Db room = limit_ - crosstalk;
    if (room < light.crosstalk_margin) {
      light.crosstalk = crosstalk;
      light.crosstalk_margin = room;
      light.noisiest = circuit.receiver;
    }
    if (any_reloads_ && !std::binary_search(plan_.touched.begin(), plan_.touched.end(), circuit.id)) {
      add_dip(circuit, std::min(above, room));
    }
  }

  /// While the signal dips, the light beside it need not: both margins shrink by the dip.
  void add_dip(const Circuit& circuit, Db margin) {
    const Dip dip = dip_of(circuit);
    if (dip.redefines) {
      verdict_.disturbed.push_back(circuit.transmitter);
      faults_.add(rules::kReloadDip, [&] {
        return format_text("circuit {} stays lit while {} on its way gets a new channel grid, which blocks every channel",
                           circuit.id.value, fabric_.element(*dip.redefines).name);
      });
      return;
    }
    if (dip.depth == Db{0}) {
      return;
    }
    LightMargins& light = verdict_.light;
    ++light.dipped;
    light.dip = std::max(light.dip, dip.depth);
    light.dip_time = std::max(light.dip_time, dip.time);
    light.dip_margin = std::min(light.dip_margin, margin - dip.depth);
    if (margin < dip.depth) {
      verdict_.disturbed.push_back(circuit.transmitter);
      faults_.add(rules::kReloadDip, [&] {
        return format_text("circuit {} stays lit with a margin of {}, and dips by {} while WSS on its way reload",
                           circuit.id.value, to_string(margin), to_string(dip.depth));
      });
    }
  }

  /// Of every WSS on the circuit's way that reloads, at once.
  Dip dip_of(const Circuit& circuit) {
    Dip dip;
    for (const ElementId id : walk_.elements(circuit.transmitter, circuit.slot)) {
      if (reloads_[id.value]) {
        const auto& wss = std::get<WavelengthSelectiveSwitch>(fabric_.element(id).kind);
        dip.depth = dip.depth + wss.reload_dip;
        dip.time = std::max(dip.time, wss.settle_max);
        dip.redefines = redefines_[id.value] ? std::optional(id) : dip.redefines;
      }
    }
    return dip;
  }

  const Fabric& fabric_;
  const Plan& plan_;
  Walk walk_;
  Verdict& verdict_;
  Faults& faults_;
  std::vector<bool> reloads_;    ///< by element: a WSS that moves for this revision
  std::vector<bool> redefines_;  ///< and that gets a new channel grid for it
  bool any_reloads_ = false;
  double known_mw_ = 0;
  Dbm known_{};  ///< the same
  const Db none_ = to_db(kNoCrosstalk);
  const Db limit_ = to_db(kCrosstalkLimit);
};

}  // namespace

void check_margins(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings,
                   const std::vector<Reception>& receptions, Verdict& verdict, Faults& faults) {
  Margins(fabric, plan, scope, settings, verdict, faults).run(receptions);
}

}  // namespace loom::verifying
