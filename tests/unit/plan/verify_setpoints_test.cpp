// SPDX-License-Identifier: Apache-2.0
// verify at its borders, without light: slices, devices, lasers, heaters, times. One step inside passes, one step outside is
// refused with the rule, the value and the limit.
#include "core/limits.hpp"
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

const char* const kWhole = "node_plan_complete: ";

TEST_CASE("verify: the benches are lawful as they stand") {
  CHECK(make_chain().verdict() == Texts{});
  CHECK(chain_to_ring().verdict() == Texts{});
  CHECK(chain_of_two().verdict() == Texts{});
  CHECK(chain_in_timeslots().verdict() == Texts{});
}

TEST_CASE("verify: a plan has as many slices as the fabric has nodes") {
  VerifyBench bench = chain_to_ring();
  bench.plan.nodes.push_back(bench.plan.nodes.back());
  CHECK(bench.verdict() == Texts{"node_plan_complete: the plan has 5 node plans, the fabric 4 nodes"});
  bench.plan.nodes.resize(3);
  CHECK(bench.verdict() == Texts{"node_plan_complete: the plan has 3 node plans, the fabric 4 nodes"});
}

TEST_CASE("verify: a slice is of its node, of the plan's revision and on the plan's base") {
  const auto with = [](auto change) {
    VerifyBench bench = chain_to_ring();
    change(bench.plan.nodes.edit(2));
    return bench.verdict();
  };
  const std::string rest = "; the plan is revision 1 on base 0";
  CHECK(with([](NodePlan& slice) { slice.node.value = 1; }) ==
        Texts{kWhole + std::string("c: its slice is of node 1, revision 1 on base 0") + rest});
  CHECK(with([](NodePlan& slice) { slice.revision.value = 2; }) ==
        Texts{kWhole + std::string("c: its slice is of node 2, revision 2 on base 0") + rest});
  CHECK(with([](NodePlan& slice) { slice.base.value = 1; }) ==
        Texts{kWhole + std::string("c: its slice is of node 2, revision 1 on base 1") + rest});
}

TEST_CASE("verify: a slice has every device of its agent, in order, and no other") {
  const auto with = [](auto change) {
    VerifyBench bench = chain_to_ring();
    change(bench.plan.nodes.edit(0).devices);
    return bench.verdict();
  };
  const auto refusal = [](int count) {
    return Texts{kWhole + std::string("a: its slice has ") + std::to_string(count) +
                 " devices, which are not its agent's 3 in ascending order"};
  };
  CHECK(with([](auto& devices) { devices.pop_back(); }) == refusal(2));
  CHECK(with([](auto& devices) { devices.push_back(devices.back()); }) == refusal(4));
  CHECK(with([](auto& devices) { std::swap(devices[1], devices[2]); }) == refusal(3));
  CHECK(with([](auto& devices) { devices[0].device.value = 1; }) == refusal(3));
}

TEST_CASE("verify: a timeline has an entry, and no more than the limit") {
  const auto with = [](VerifyBench& bench, std::size_t entries) {
    auto& timeline = bench.timeline("laser-1");
    const Setpoint dark = timeline[0].setpoint;
    timeline.clear();
    for (std::size_t i = 0; i < entries; ++i) {
      timeline.push_back({Duration{static_cast<std::int64_t>(i)}, {}, Duration{1}, dark});
    }
    bench.plan.nodes.edit(1).cycle = Duration{10'000};
    bench.declare();
  };
  check_border(chain_to_ring(), with, limits::kTimelineEntries, limits::kTimelineEntries + 1,
               {"node_plan_complete: laser-1: 4097 timeline entries, allowed 1 to 4096"});
  check_border(chain_to_ring(), with, std::size_t{1}, std::size_t{0},
               {"node_plan_complete: laser-1: 0 timeline entries, allowed 1 to 4096"});
}

TEST_CASE("verify: a setpoint is of its device's kind, in every entry") {
  for (const char* name : {"laser-0", "bank", "wss"}) {
    VerifyBench bench = chain_to_ring();
    bench.timeline(name)[0].setpoint = CircuitSwitchSetpoint{};
    CHECK(bench.verdict() == Texts{kWhole + std::string(name) + ": the setpoint is one of another kind of device"});
  }
  VerifyBench late = chain_in_timeslots();
  late.timeline("laser-0")[1].setpoint = FilterSetpoint{};
  CHECK(late.verdict() == Texts{"node_plan_complete: laser-0: the setpoint is one of another kind of device"});
}

TEST_CASE("verify: a timeline ends within its node's cycle, to the nanosecond") {
  check_border(chain_in_timeslots(), [](VerifyBench& bench, int less) { bench.plan.nodes.edit(0).cycle -= Duration{less}; }, 0,
               1, {"node_plan_complete: laser-0: its timeline is longer than the node's cycle of 62201999 ns"});
}

TEST_CASE("verify: a bank's rings are channels that it has, ascending") {
  const auto with = [](std::vector<RingResonance> rings) {
    VerifyBench bench = make_chain();
    bench.set<FilterSetpoint>("bank").rings = std::move(rings);
    bench.declare();
    return bench.verdict();
  };
  const Frequency warm{193'149'000};
  CHECK(with({{2, warm}, {3, warm}}) == Texts{});
  CHECK(with({{4, warm}}) == Texts{"node_plan_complete: bank: ring channel 4 is out of order or not below 4"});
  CHECK(with({{2, warm}, {2, warm}}) == Texts{"node_plan_complete: bank: ring channel 2 is out of order or not below 4"});
  CHECK(with({{3, warm}, {2, warm}}) == Texts{"node_plan_complete: bank: ring channel 2 is out of order or not below 4"});
}

TEST_CASE("verify: a WSS has no more routes than the limit") {
  const auto with = [](VerifyBench& bench, std::size_t count) {
    auto& routes = bench.set<WavelengthSwitchSetpoint>("wss").routes;
    for (std::size_t i = 0; i < count; ++i) {
      routes.push_back({{-8'000 + 8 * static_cast<std::int32_t>(i), 1}, 0, 0, Db{0}});
    }
    bench.declare();
  };
  check_border(make_chain(), with, limits::kWssRoutes, limits::kWssRoutes + 1,
               {"node_plan_complete: wss: 1025 routes, above limits::kWssRoutes 1024"});
}

TEST_CASE("verify: a route is between ports of its WSS, of a lawful width, and does not gain") {
  const auto with = [](WssRoute route) {
    VerifyBench bench = make_chain();
    bench.set<WavelengthSwitchSetpoint>("wss").routes = {route};
    bench.declare();
    return bench.verdict();
  };
  const auto refusal = [](int input, int output) {
    return Texts{kWhole + std::string("wss: route of 193.10000 THz from input ") + std::to_string(input) + " to output " +
                 std::to_string(output) + " is out of order or out of range"};
  };
  CHECK(with({{0, 1}, 0, 1, Db{0}}) == Texts{});
  CHECK(with({{0, 32}, 0, 1, Db{0}}) == Texts{});
  CHECK(with({{0, 8}, 1, 1, Db{0}}) == refusal(1, 1));
  CHECK(with({{0, 8}, 0, 2, Db{0}}) == refusal(0, 2));
  CHECK(with({{0, 0}, 0, 1, Db{0}}) == refusal(0, 1));
  CHECK(with({{0, 33}, 0, 1, Db{0}}) == refusal(0, 1));
  CHECK(with({{0, 8}, 0, 1, Db{-1}}) == refusal(0, 1));
}

TEST_CASE("verify: the routes of a WSS ascend") {
  const auto with = [](std::vector<WssRoute> routes) {
    VerifyBench bench = make_chain();
    bench.set<WavelengthSwitchSetpoint>("wss").routes = std::move(routes);
    bench.declare();
    return bench.verdict();
  };
  CHECK(with({{{0, 1}, 0, 0, Db{0}}, {{2, 1}, 0, 1, Db{0}}}) == Texts{});
  const std::string end = " from input 0 to output 1 is out of order or out of range";
  CHECK(with({{{0, 1}, 0, 0, Db{0}}, {{0, 1}, 0, 1, Db{0}}}) == Texts{"node_plan_complete: wss: route of 193.10000 THz" + end});
  CHECK(with({{{1, 1}, 0, 0, Db{0}}, {{0, 1}, 0, 1, Db{0}}}) == Texts{"node_plan_complete: wss: route of 193.10000 THz" + end});
}

TEST_CASE("verify: routes of one input share no spectrum, routes of two may") {
  const auto with = [](WssRoute second) {
    VerifyBench bench = make_chain();
    bench.element("wss").inputs = 2;
    build_index(bench.fabric);
    bench.set<WavelengthSwitchSetpoint>("wss").routes = {{{0, 8}, 0, 0, Db{0}}, second};
    bench.declare();
    return bench.verdict();
  };
  const auto refusal = [](const std::string& frequency) {
    return Texts{kWhole + std::string("wss: route of ") + frequency + " THz from input 0 overlaps another one of that input"};
  };
  CHECK(with({{16, 8}, 0, 1, Db{0}}) == Texts{});  // edge to edge
  CHECK(with({{15, 8}, 0, 1, Db{0}}) == refusal("193.19375"));
  CHECK(with({{16, 9}, 0, 1, Db{0}}) == refusal("193.20000"));
  CHECK(with({{0, 8}, 1, 1, Db{0}}) == Texts{});
}

TEST_CASE("verify: a circuit has an id above the one before and ends that its nodes own") {
  const auto with = [](auto change) {
    VerifyBench bench = chain_of_two();
    change(bench, bench.plan.circuits);
    return bench.verdict();
  };
  const auto refusal = [](int id, std::uint64_t source, std::uint64_t destination) {
    return Texts{kWhole + std::string("circuit ") + std::to_string(id) +
                 " is out of order, or its ends are not those of nodes " + std::to_string(source) + " and " +
                 std::to_string(destination)};
  };
  CHECK(with([](auto&, auto& circuits) { circuits[1].id.value = 1; }) == refusal(1, 1, 0));
  CHECK(with([](auto&, auto& circuits) { circuits[0].id.value = 3; }) == refusal(2, 1, 0));
  CHECK(with([](auto& b, auto& circuits) { circuits[0].transmitter = b.element_id("tx-1"); }) == refusal(1, 0, 1));
  CHECK(with([](auto& b, auto& circuits) { circuits[0].receiver = b.element_id("rx-0"); }) == refusal(1, 0, 1));
  CHECK(with([](auto& b, auto& circuits) { circuits[0].transmitter = b.element_id("rx-0"); }) == refusal(1, 0, 1));
  CHECK(with([](auto&, auto& circuits) { circuits[0].source.value = 4; }) == refusal(1, 4, 1));
  CHECK(with([](auto&, auto& circuits) { circuits[0].destination.value = 4; }) == refusal(1, 0, 4));
}

TEST_CASE("verify: a slice names the ends of the plan's circuits at its node") {
  const auto with = [](auto change) {
    VerifyBench bench = chain_of_two();
    change(bench.plan.nodes.edit(1).ends);
    return bench.verdict();
  };
  const auto refusal = [](int count) {
    return Texts{kWhole + std::string("b: its slice names ") + std::to_string(count) +
                 " circuit ends, which are not those of the plan's circuits"};
  };
  CHECK(with([](auto& ends) { ends.pop_back(); }) == refusal(1));
  CHECK(with([](auto& ends) { ends.push_back(ends.back()); }) == refusal(3));
  CHECK(with([](auto& ends) { ends[0].job.value = 2; }) == refusal(2));
  CHECK(with([](auto& ends) { ends[0].circuit.value = 9; }) == refusal(2));
  CHECK(with([](auto& ends) { ends[0].transmits = !ends[0].transmits; }) == refusal(2));
}

// --- lasers and heaters --------------------------------------------------------------------------------------------------

TEST_CASE("verify: a laser is on a channel of its comb, lit or dark") {
  const auto with = [](std::int32_t n, std::int32_t m) {
    VerifyBench bench = make_chain();
    bench.set<TransmitterSetpoint>("laser-0").slot = {n, m};
    bench.declare();
    return bench.verdict();
  };
  CHECK(with(0, 8) == Texts{});
  CHECK(with(16 * 7, 8) == Texts{});
  CHECK(with(-16, 8) == Texts{"laser_range: laser-0: 193.00000 THz is none of its 8 channels"});
  CHECK(with(16 * 8, 8) == Texts{"laser_range: laser-0: 193.90000 THz is none of its 8 channels"});
  CHECK(with(1, 8) == Texts{"laser_range: laser-0: 193.10625 THz is none of its 8 channels"});
  CHECK(with(0, 7) == Texts{"laser_range: laser-0: 193.10000 THz is none of its 8 channels"});
  CHECK(with(0, 9) == Texts{"laser_range: laser-0: 193.10000 THz is none of its 8 channels"});
}

TEST_CASE("verify: a laser's power is at most its launch power and at least 6 dB below it") {
  const auto with = [](VerifyBench& bench, int centi) {
    bench.set<TransmitterSetpoint>("laser-0").power = Dbm{centi};
    bench.declare();
  };
  VerifyBench bench = make_chain();
  bench.kind<Transmitter>("tx-0").launch_power = Dbm{150};
  check_border(bench, with, 150, 151, {"laser_range: laser-0: 1.51 dBm, allowed -4.50 dBm to 1.50 dBm"});
  check_border(bench, with, -450, -451, {"laser_range: laser-0: -4.51 dBm, allowed -4.50 dBm to 1.50 dBm"});
}

TEST_CASE("verify: every entry of a timeline is asked for its wavelength and its power") {
  VerifyBench bench = chain_in_timeslots();
  bench.set<TransmitterSetpoint>("laser-0", 1).power = Dbm{1};
  CHECK(bench.verdict() == Texts{"laser_range: laser-0: 0.01 dBm, allowed -6.00 dBm to 0.00 dBm"});
}

TEST_CASE("verify: nothing emits while lasers are ordered off, and what is dark may stay") {
  VerifyBench bench = chain_to_ring();
  bench.intent.lasers_off = true;
  CHECK(bench.verdict() == Texts{"lasers_off: laser-0 emits while lasers are ordered off"});
  VerifyBench dark = make_chain();
  dark.intent.lasers_off = true;
  CHECK(dark.verdict() == Texts{});
}

TEST_CASE("verify: of one rule four pieces of evidence are kept, each once") {
  VerifyBench bench = chain_in_timeslots();
  bench.intent.lasers_off = true;
  CHECK(bench.verdict() == Texts{"lasers_off: laser-0 emits while lasers are ordered off"});  // of two timeslots
  VerifyBench many = make_chain();
  std::vector<RingResonance> rings;
  for (std::uint16_t i = 0; i < 4; ++i) {
    rings.push_back({i, Frequency{193'150'001}});
  }
  many.set<FilterSetpoint>("bank").rings = rings;
  many.declare();
  CHECK(many.verdict().size() == 4);
  many.add("ring-4", 2, 2, some_ring());
  many.fabric.devices[4].elements.push_back(many.element_id("ring-4"));
  build_index(many.fabric);
  many.set<FilterSetpoint>("bank").rings.push_back({4, Frequency{193'150'001}});
  CHECK(many.verdict().size() == 4);
}

TEST_CASE("verify: a heater heats, and no more than its voltage can") {
  const auto with = [](VerifyBench& bench, std::int64_t mhz) {
    bench.set<FilterSetpoint>("bank").rings = {{1, Frequency{mhz}}};
    bench.declare();
  };
  // 37 GHz a milliwatt; 10 V on 1 kOhm are 100 mW.
  check_border(make_chain(), with, std::int64_t{193'150'000}, std::int64_t{193'150'001},
               {"heater_ceiling: bank ring 1: 193.15000 THz needs 0 mW, allowed 0 to 100 mW"});
  check_border(make_chain(), with, std::int64_t{193'150'000 - 3'700'000}, std::int64_t{193'150'000 - 3'700'001},
               {"heater_ceiling: bank ring 1: 189.44999 THz needs 100 mW, allowed 0 to 100 mW"});
}

TEST_CASE("verify: each ring is judged by its own voltage and resistance") {
  VerifyBench bench = make_chain();
  bench.kind<RingFilter>("ring-1").heater_volt_max = 5;
  bench.kind<RingFilter>("ring-2").heater_ohm = 4'000;
  bench.set<FilterSetpoint>("bank").rings = {
      {0, Frequency{190'000'000}}, {1, Frequency{190'000'000}}, {2, Frequency{190'000'000}}};
  bench.declare();
  CHECK(bench.verdict() == Texts{"heater_ceiling: bank ring 1: 190.00000 THz needs 85 mW, allowed 0 to 25 mW",
                                 "heater_ceiling: bank ring 2: 190.00000 THz needs 85 mW, allowed 0 to 25 mW"});
}

// --- rings at the ends of circuits -----------------------------------------------------------------------------------------

TEST_CASE("verify: the ring that drops a circuit stands within 5 GHz of its light, on both sides") {
  const auto with = [](VerifyBench& bench, int mhz) {
    bench.set<FilterSetpoint>("bank").rings[0].resonance = Frequency{193'100'000 + mhz};
  };
  const std::string end = ", circuit 1 comes at 193.10000 THz, tolerance 5000 MHz";
  check_border(chain_to_ring(), with, 5'000, 5'001, {"receiver_ring_tuned: ring-0 is at 193.10500 THz" + end});
  check_border(chain_to_ring(), with, -5'000, -5'001, {"receiver_ring_tuned: ring-0 is at 193.09499 THz" + end});
}

TEST_CASE("verify: a parked ring drops nothing, even where its cold resonance would") {
  VerifyBench bench = chain_to_ring();
  bench.kind<RingFilter>("ring-0").cold_resonance = centre_of(wavelength(0));
  bench.set<FilterSetpoint>("bank").rings.clear();
  bench.declare();
  CHECK(bench.verdict() ==
        Texts{"receiver_ring_tuned: ring-0 is parked, circuit 1 comes at 193.10000 THz, tolerance 5000 MHz"});
}

/// Circuit 1: tx-2, added by ring-2, to rx-4.
VerifyBench chain_that_adds() {
  VerifyBench bench = make_chain();
  bench.light("laser-2", 0);
  bench.set<FilterSetpoint>("bank").rings = {{2, centre_of(wavelength(0))}};
  bench.circuit(1, 1, "tx-2", "rx-4", 0);
  bench.declare();
  return bench;
}

TEST_CASE("verify: the ring that adds a circuit stands within 5 GHz of its light, on both sides") {
  const auto with = [](VerifyBench& bench, int mhz) {
    bench.set<FilterSetpoint>("bank").rings[0].resonance = Frequency{193'100'000 + mhz};
  };
  const std::string end = ", circuit 1 comes at 193.10000 THz, tolerance 5000 MHz";
  check_border(chain_that_adds(), with, 5'000, 5'001, {"receiver_ring_tuned: ring-2 is at 193.10500 THz" + end});
  check_border(chain_that_adds(), with, -5'000, -5'001, {"receiver_ring_tuned: ring-2 is at 193.09499 THz" + end});
}

TEST_CASE("verify: a ring that a circuit only passes need not be tuned to it") {
  VerifyBench bench = make_chain();
  bench.light("laser-3", 0);  // past ring-3, which is parked beside it
  bench.circuit(1, 1, "tx-3", "rx-6", 0);
  bench.light("laser-0", 0);  // past ring-0 and ring-1, by the through port into rx-5
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(0), 0, 0, Db{0}}};
  bench.circuit(2, 1, "tx-0", "rx-5", 0);
  bench.declare();
  CHECK(bench.verdict() == Texts{});
}

// --- ways back -------------------------------------------------------------------------------------------------------------

TEST_CASE("verify: over an optical return path each circuit has one back, of the same job") {
  VerifyBench bench = chain_of_two();
  bench.fabric.return_path = ReturnPath::optical;
  CHECK(bench.verdict() == Texts{});
  bench.plan.circuits[1].job = JobId{2};
  bench.plan.certificate.physically_isolated = false;
  bench.plan.certificate.shared_amplifiers = {bench.element_id("amplifier")};
  bench.declare();
  CHECK(bench.verdict() ==
        Texts{"return_path: job 1: 1 circuits from node 0 to node 1 have 0 back at the same time; chain returns over light",
              "return_path: job 2: 1 circuits from node 1 to node 0 have 0 back at the same time; chain returns over light"});
  bench.fabric.return_path = ReturnPath::electrical;
  CHECK(bench.verdict() == Texts{});
}

TEST_CASE("verify: a way back is lit at the same instants, to the nanosecond") {
  VerifyBench bench = chain_of_two();
  bench.fabric.return_path = ReturnPath::optical;
  const auto with = [](VerifyBench& one, int shift) {
    one.timeline("laser-0").clear();
    one.timeline("laser-1").clear();
    one.timeslot("laser-0", 0, Duration{}, milliseconds{31}, milliseconds{5});
    one.timeslot("laser-1", 1, Duration{shift}, milliseconds{31}, milliseconds{5} - Duration{shift});
    one.declare();
  };
  const auto lonely = [](int from, int to) {
    return "return_path: job 1: 1 circuits from node " + std::to_string(from) + " to node " + std::to_string(to) +
           " have 0 back at the same time; chain returns over light";
  };
  check_border(bench, with, 0, 1, {lonely(0, 1), lonely(1, 0)});
}

TEST_CASE("verify: two circuits one way want two back") {
  VerifyBench bench = chain_of_two();
  bench.fabric.return_path = ReturnPath::optical;
  bench.fabric.nodes[0].transmitters.push_back(bench.element_id("tx-3"));  // tx-3 and rx-6 are node a's and b's here
  bench.fabric.nodes[1].receivers.push_back(bench.element_id("rx-6"));
  build_index(bench.fabric);
  bench.light("laser-3", 2);
  Circuit& third = bench.circuit(3, 1, "tx-3", "rx-6", 2);
  third.source = NodeId{0};
  third.destination = NodeId{1};
  bench.declare();
  CHECK(bench.verdict() ==
        Texts{"return_path: job 1: 2 circuits from node 0 to node 1 have 1 back at the same time; chain returns over light"});
}

TEST_CASE("verify: a way back is counted where its circuit is lit, and not in its laser's other timeslots") {
  VerifyBench bench = chain_in_timeslots();  // a to b, then a to a, which is its own way back
  bench.fabric.return_path = ReturnPath::optical;
  bench.timeslot("laser-1", 2, Duration{}, microseconds{30'101}, milliseconds{1});  // b to a, in the first timeslot
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(2), 0, 0, Db{0}});
  bench.kind<RingFilter>("ring-1").cold_resonance = {193'350'000};
  bench.set<FilterSetpoint>("bank").rings.push_back({1, centre_of(wavelength(2))});
  bench.circuit(3, 1, "tx-1", "rx-1", 2);
  bench.declare();
  CHECK(bench.verdict() == Texts{});
}

// --- times -----------------------------------------------------------------------------------------------------------------

TEST_CASE("verify: a guard is as long as blanking, retuning, control and acquisition, to the nanosecond") {
  const auto with = [](VerifyBench& bench, int less) { bench.timeline("laser-0")[0].guard -= Duration{less}; };
  const auto refusal = [](std::int64_t guard, std::int64_t need) {
    return Texts{"guard_time: laser-0: guard of " + std::to_string(guard) + " ns in timeslot 0, needs " + std::to_string(need) +
                 " ns to blank, retune and be acquired"};
  };
  check_border(chain_in_timeslots(), with, 0, 1, refusal(30'100'999, 30'101'000));
  const auto needs_more = [&](auto change) {
    VerifyBench bench = chain_in_timeslots();
    change(bench);
    return bench.verdict();
  };
  // Each part counts: a nanosecond more of any of them, and both timeslots are short.
  const Texts both{
      "guard_time: laser-0: guard of 30101000 ns in timeslot 0, needs 30101001 ns to blank, retune and be acquired",
      "guard_time: laser-0: guard of 30101000 ns in timeslot 1, needs 30101001 ns to blank, retune and be acquired"};
  CHECK(needs_more([](auto& b) { b.template kind<Transmitter>("tx-0").blank_max += Duration{1}; }) == both);
  CHECK(needs_more([](auto& b) { b.template kind<Transmitter>("tx-0").retune_max += Duration{1}; }) == both);
  CHECK(needs_more([](auto& b) { b.template kind<Transmitter>("tx-0").control_max += Duration{1}; }) == both);
  // The slowest of the receivers that it serves counts, and no other's.
  CHECK(needs_more([](auto& b) { b.template kind<Receiver>("rx-0").acquisition_max += Duration{1}; }) == both);
  CHECK(needs_more([](auto& b) { b.template kind<Receiver>("rx-2").acquisition_max += Duration{1}; }) == both);
  CHECK(needs_more([](auto& b) { b.template kind<Receiver>("rx-2").acquisition_max -= Duration{1}; }) == Texts{});
  CHECK(needs_more([](auto& b) { b.template kind<Receiver>("rx-3").acquisition_max += milliseconds{9}; }) == Texts{});
}

TEST_CASE("verify: a dark timeslot needs no guard, nor does light that stays") {
  VerifyBench bench = chain_in_timeslots();
  auto& timeline = bench.timeline("laser-0");
  timeline.insert(timeline.begin(), {Duration{}, Duration{}, Duration{5}, TransmitterSetpoint{wavelength(0), Dbm{0}, false}});
  timeline[1].offset += Duration{5};
  timeline[2].offset += Duration{5};
  bench.plan.nodes.edit(0).cycle += Duration{5};
  CHECK(bench.verdict() == Texts{});
  VerifyBench still = chain_to_ring();
  still.timeline("laser-0")[0].guard = Duration{1};
  CHECK(still.verdict() == Texts{});
}

TEST_CASE("verify: a timeslot begins when the one before has ended") {
  const std::string head = "guard_time: laser-0: timeslot 1 begins at ";
  check_border(chain_in_timeslots(),
               [](VerifyBench& bench, int less) { bench.timeline("laser-0")[1].offset -= Duration{less}; }, 0, 1,
               {head + "31100999 ns, before the one before it ends at 31101000 ns"});
}

TEST_CASE("verify: guards and holds are not negative, and only the last hold may have no end") {
  const auto dark = [](Duration guard, Duration hold) {
    VerifyBench bench = chain_in_timeslots();
    auto& timeline = bench.timeline("laser-0");
    timeline.insert(timeline.begin(), {Duration{}, guard, hold, TransmitterSetpoint{wavelength(0), Dbm{0}, false}});
    return bench.verdict();
  };
  const Texts first{"guard_time: laser-0: timeslot 0 begins at 0 ns, before the one before it ends at 0 ns"};
  CHECK(dark(Duration{0}, Duration{0}) == Texts{});
  CHECK(dark(Duration{-1}, Duration{1}) == first);
  CHECK(dark(Duration{1}, Duration{-1}) == first);
  VerifyBench endless = chain_in_timeslots();
  endless.timeline("laser-0")[0].setpoint = TransmitterSetpoint{wavelength(0), Dbm{0}, false};
  endless.timeline("laser-0")[0].hold = kForever;
  const Texts found = endless.verdict();
  REQUIRE(found.size() >= 2);
  CHECK(found[0] == first[0]);
  CHECK(found[1].starts_with("guard_time: laser-0: timeslot 1 begins at 31101000 ns, before the one before it ends at "));
}

TEST_CASE("verify: only lasers move inside a stage") {
  VerifyBench bench = chain_in_timeslots();
  auto& timeline = bench.timeline("bank");
  timeline[0].hold = Duration{5};
  timeline.push_back({Duration{5}, {}, Duration{5}, timeline[0].setpoint});
  CHECK(bench.verdict() == Texts{"guard_time: bank moves inside a stage; only lasers may"});
}

}  // namespace
// --- what is measured ----------------------------------------------------------------------------------------------------

TEST_CASE("verify: a heater that a calibration drives is within its ceiling") {
  const auto with = [](VerifyBench& bench, std::int32_t millivolts) {
    bench.set<FilterSetpoint>("bank").rings = {{0, centre_of(wavelength(0)), millivolts}};
    bench.declare();
  };
  VerifyBench bench = chain_to_ring();
  check_border(bench, with, 10'000, 10'001, {"heater_ceiling: bank ring 0: 10001 mV, allowed 0 to 10000 mV"});
  check_border(bench, with, 0, -1, {"heater_ceiling: bank ring 0: -1 mV, allowed 0 to 10000 mV"});
}

TEST_CASE("verify: no light of a job comes to a ring that is being measured") {
  VerifyBench bench = chain_to_ring();
  bench.intent.drives = {{bench.element_id("ring-1"), 500}};  // behind its drop: none of its light comes there
  CHECK(bench.verdict() == Texts{});
  bench.intent.drives = {{bench.element_id("ring-0"), 500}};
  CHECK(bench.verdict() ==
        Texts{"measured_ring_is_nobodys: light of circuit 1 of job 1 comes to ring-0, which is being measured"});
}

TEST_CASE("verify: light that is sent to be measured belongs to no job and is lawful") {
  VerifyBench bench = chain_to_ring();
  bench.light("laser-3", 0);
  bench.declare();
  CHECK(bench.verdict() != Texts{});
  bench.intent.probes = {{bench.element_id("tx-3"), bench.element_id("rx-6"), wavelength(0), true}};
  CHECK(bench.verdict() == Texts{});
}

}  // namespace loom::testing
