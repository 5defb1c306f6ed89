// SPDX-License-Identifier: Apache-2.0
// verify at its borders, in the power of fibres: the sum of all light at a fibre's beginning, whose it is, and whose limit.
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

/// Two lasers of 0 dBm, 3 dB coupler, 3 dB amplifier: 2 mW (3.01 dBm) into the WSS.
constexpr std::size_t kIntoWss = 3;

std::string two_milliwatts(const std::string& whose) {
  return "fibre_power: fibre 3 from amplifier to wss may carry 2.00 mW (3.01 dBm), limit 2.00 mW (3.01 dBm) by " + whose +
         ": circuit 1 of job 1 1.00 mW (0.00 dBm); circuit 2 of job 1 1.00 mW (0.00 dBm)";
}

}  // namespace

TEST_CASE("verify: all light of a fibre together stays within its limit, and who contributes is named") {
  const auto of_fibre = [](VerifyBench& bench, int centi) { bench.fabric.fibres[kIntoWss].power_limit = Dbm{centi}; };
  check_border(chain_of_two(), of_fibre, 302, 301, {two_milliwatts("this fibre's own")});
  const auto of_fabric = [](VerifyBench& bench, int centi) { bench.fabric.power_limit = Dbm{centi}; };
  check_border(chain_of_two(), of_fabric, 302, 301, {two_milliwatts("the fabric's")});
  const auto of_level = [](VerifyBench& bench, int centi) {
    bench.fabric.power_limit = Dbm{centi};
    bench.fabric.hazard_level = "1";
  };
  check_border(chain_of_two(), of_level, 302, 301, {two_milliwatts("hazard level 1")});
}

TEST_CASE("verify: a fibre's own limit goes before the fabric's, and without either it is hazard level 1M") {
  VerifyBench bench = chain_of_two();
  bench.fabric.power_limit = Dbm{0};
  for (Fibre& fibre : bench.fabric.fibres) {
    fibre.power_limit = Dbm{302};
  }
  CHECK(bench.verdict() == Texts{});
  const auto gain = [](VerifyBench& each, int centi) {  // 21.3 dBm: +3 dB of the chain, 18.29 more
    each.kind<Amplifier>("amplifier").gain = Db{300 + centi};
    each.kind<Receiver>("rx-1").overload = each.kind<Receiver>("rx-2").overload = Dbm{4'000};
    each.element("wss").insertion_loss = Db{500 + centi};
  };
  const auto named = [&](int centi) {
    VerifyBench each = chain_of_two();
    gain(each, centi);
    const Texts found = each.verdict();
    return std::any_of(found.begin(), found.end(), [](const std::string& text) {
      return text.starts_with("fibre_power: fibre 3") && text.find("hazard level 1M, as the fabric gives none") != text.npos;
    });
  };
  CHECK_FALSE(named(1'828));
  CHECK(named(1'830));
}

TEST_CASE("verify: the power of a fibre is that at its beginning") {
  const auto loss = [](VerifyBench& bench, int centi) {
    bench.fabric.fibres[0].loss = Db{300};  // tx-0 to the coupler: 0 dBm go in, -3 dBm come out
    bench.kind<Amplifier>("amplifier").gain = Db{600};
    bench.fabric.fibres[0].power_limit = Dbm{centi};
  };
  check_border(
      chain_to_ring(), loss, 0, -1,
      {"fibre_power: fibre 0 from tx-0 to coupler may carry 1.00 mW (0.00 dBm), limit 1.00 mW (-0.01 dBm) by this fibre's "
       "own: circuit 1 of job 1 1.00 mW (0.00 dBm)"});
}

TEST_CASE("verify: timeslots of one laser are one light, and those of two jobs may meet in a fibre") {
  const auto of_fibre = [](VerifyBench& bench, int centi) { bench.fabric.fibres[kIntoWss].power_limit = Dbm{centi}; };
  VerifyBench alone = chain_in_timeslots();
  of_fibre(alone, 0);  // never both of its wavelengths
  CHECK(alone.verdict() == Texts{});
  VerifyBench both = chain_in_timeslots();
  both.timeslot("laser-1", 2, Duration{}, milliseconds{31}, milliseconds{1});
  both.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(2), 0, 0, Db{0}});
  both.circuit(3, 2, "tx-1", "rx-5", 2);
  both.plan.certificate.physically_isolated = false;
  both.plan.certificate.shared_amplifiers = {both.element_id("amplifier")};
  both.declare();
  of_fibre(both, 302);
  CHECK(both.verdict() == Texts{});
  of_fibre(both, 301);
  const Texts found = both.verdict();
  REQUIRE(found.size() == 1);
  CHECK(found.front().starts_with("fibre_power: fibre 3 from amplifier to wss may carry 2.00 mW (3.01 dBm)"));
  CHECK(found.front().find("circuit 3 of job 2") != std::string::npos);
}

TEST_CASE("verify: light that is there although nobody planned it counts in a fibre, and so does light by hand") {
  VerifyBench bench = chain_to_ring();
  bench.fabric.fibres[kIntoWss].power_limit = Dbm{301};
  CHECK(bench.verdict() == Texts{});
  const DeviceId other = *bench.fabric.device_of_element[bench.element_id("tx-1").value];
  const std::vector<ObservedLight> lit{{other, TransmitterSetpoint{wavelength(3), Dbm{0}, true}}};
  const Verdict verdict = examine(bench.fabric, bench.plan, nullptr, bench.intent, lit);
  CHECK(std::any_of(verdict.violations.begin(), verdict.violations.end(), [](const PlanViolation& each) {
    return each.rule == rules::kFibrePower && each.evidence.find("tx-1, of no circuit 1.00 mW") != std::string::npos;
  }));
}

}  // namespace loom::testing
