// SPDX-License-Identifier: Apache-2.0
// verify at its borders, for a job under grants: what its tables may say, that its times are no shorter than the devices', and
// that whatever its agents light, and whenever, nobody's light meets another's.
#include "core/limits.hpp"
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

const std::string kTable = "grant_table: ";

/// Times that the lasers of some_transmitter() keep exactly: 30.1 ms to another wavelength, dark 20.1 ms after the order.
GrantTimings exact_timings() {
  GrantTimings timings;
  timings.rate = gigabits(100);
  timings.control = milliseconds{1};
  timings.clock_error = Duration{0};
  timings.flight_error = Duration{0};
  timings.blank = microseconds{100};
  timings.trigger_late = milliseconds{20};
  timings.tune = microseconds{30'100};
  timings.lock = microseconds{1};
  return timings;
}

/// Three nodes of one laser and one receiver each around one WSS, all under grants of job 1: each may light the next one on
/// wavelength 0. Node c also has a second laser that is in no table.
VerifyBench make_granted() {
  VerifyBench bench;
  for (const char* name : {"tx-0", "tx-1", "tx-2", "tx-3"}) {
    bench.add(name, 0, 1, some_transmitter());
  }
  for (const char* name : {"rx-0", "rx-1", "rx-2"}) {
    bench.add(name, 1, 0, some_receiver());
  }
  bench.add("wss", 4, 3, WavelengthSelectiveSwitch{Db{3'500}, {6'250}, milliseconds{100}, Db{50}});
  for (PortNumber port = 0; port < 4; ++port) {
    bench.join("tx-" + std::to_string(port), 0, "wss", port);
  }
  for (PortNumber port = 0; port < 3; ++port) {
    bench.join("wss", port, "rx-" + std::to_string(port), 0);
  }
  bench.node("a", {"tx-0"}, {"rx-0"});
  bench.node("b", {"tx-1"}, {"rx-1"});
  bench.node("c", {"tx-2", "tx-3"}, {"rx-2"});
  for (std::uint32_t i = 0; i < 4; ++i) {
    bench.device("laser-" + std::to_string(i), DeviceRole::transmitter, std::min(i, 2U), {"tx-" + std::to_string(i)});
  }
  bench.device("wss", DeviceRole::wavelength_switch, 0, {"wss"});
  bench.finish("granted");
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {
      {wavelength(0), 0, 1, Db{0}}, {wavelength(0), 1, 2, Db{0}}, {wavelength(0), 2, 0, Db{0}}};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const NodeId next{(i + 1) % 3};
    const std::string laser = "laser-" + std::to_string(i);
    bench.timeslot(laser, 0, Duration{}, microseconds{30'101}, milliseconds{1});
    bench.circuit(i + 1, 1, "tx-" + std::to_string(i), "rx-" + std::to_string(next.value), 0);
    GrantMap map;
    map.job = JobId{1};
    map.routed_by = Revision{1};
    map.timings = exact_timings();
    map.quantum = milliseconds{10};
    map.wavelengths = {{next, bench.device_plan(laser).device, wavelength(0)}};
    map.sources = {NodeId{(i + 2) % 3}};
    map.sends = {{0, NodeId{i}, next, Bytes{1'000}}};
    bench.plan.nodes.edit(i).grants = map;
  }
  bench.declare();
  return bench;
}

GrantMap& map_of(VerifyBench& bench, std::size_t node) { return *bench.plan.nodes.edit(node).grants; }

/// All three tables at once, since their times must agree.
template <class Change>
void each_map(VerifyBench& bench, Change change) {
  for (NodePlan& slice : bench.plan.nodes.edit_all()) {
    change(*slice.grants);
  }
}

TEST_CASE("verify: the granted bench is lawful as it stands") { CHECK(make_granted().verdict() == Texts{}); }

// --- times --------------------------------------------------------------------------------------------------------------

TEST_CASE("verify: a quantum is above nothing, and leaves a quarter of the longest window for slack") {
  const auto with = [](VerifyBench& bench, Duration quantum) {
    each_map(bench, [&](GrantMap& map) { map.quantum = quantum; });
  };
  const Duration longest = Duration{750'000'000} - exact_timings().lock - exact_timings().trigger_late;
  REQUIRE(longest.count() == 729'999'000);
  const auto refusal = [](std::int64_t quantum) {
    Texts texts;
    for (const char* node : {"a", "b", "c"}) {
      texts.push_back(kTable + node + ": a quantum of " + std::to_string(quantum) + " ns, allowed 1 to 729999000 ns");
    }
    return texts;
  };
  check_border(make_granted(), with, longest, longest + Duration{1}, refusal(729'999'001));
  check_border(make_granted(), with, Duration{1}, Duration{0}, refusal(0));
}

TEST_CASE("verify: the machines' times are no shorter than what the lasers need, to the nanosecond") {
  const auto with = [](auto change) {
    VerifyBench bench = make_granted();
    each_map(bench, change);
    Texts found = bench.verdict();
    REQUIRE(found.size() <= 3);
    return found.empty() ? std::string{} : found[0];
  };
  const auto refusal = [](std::int64_t tuned, std::int64_t dark) {
    return kTable + "laser-0: tuned within " + std::to_string(tuned) + " ns, needs 30100000 ns; dark within " +
           std::to_string(dark) + " ns, needs 20100000 ns";
  };
  CHECK(with([](GrantMap& map) { map.timings.tune -= Duration{1}; }) == refusal(30'099'999, 20'100'000));
  CHECK(with([](GrantMap& map) { map.timings.blank -= Duration{1}; }) == refusal(30'100'000, 20'099'999));
  CHECK(with([](GrantMap& map) {  // dark in time, but triggers later than the bus may be
          map.timings.trigger_late -= Duration{1};
          map.timings.blank += Duration{1};
        }) == refusal(30'100'000, 20'100'000));
  CHECK(with([](GrantMap& map) { map.timings.rate.bits_per_second += 1; }) == refusal(30'100'000, 20'100'000));
  CHECK(with([](GrantMap& map) { map.timings.rate.bits_per_second -= 1; }).empty());
  CHECK(with([](GrantMap& map) {
          map.timings.tune += Duration{1};
          map.timings.blank += Duration{1};
        }).empty());
  for (auto part : {&Transmitter::retune_max, &Transmitter::blank_max, &Transmitter::control_max}) {
    VerifyBench slower = make_granted();
    slower.kind<Transmitter>("tx-0").*part += Duration{1};
    const Texts found = slower.verdict();
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].starts_with("guard_time: laser-0"));
    CHECK(found[1].starts_with(kTable + "laser-0: tuned within 30100000 ns, needs 30100001 ns"));
  }
}

TEST_CASE("verify: a table names lasers") {
  VerifyBench bench = make_granted();
  map_of(bench, 0).wavelengths[0].laser = bench.device_plan("wss").device;
  CHECK(bench.verdict()[0] == kTable + "a: its table names device 4, which is no laser");
  for (const std::uint32_t beyond : {5U, 4'000'000'000U}) {
    map_of(bench, 0).wavelengths[0].laser = DeviceId{beyond};
    CHECK(bench.verdict()[0] == kTable + "a: its table names device " + std::to_string(beyond) + ", which is no laser");
  }
}

// --- wavelengths, sets of them, streams
// -------------------------------------------------------------------------------------------

TEST_CASE("verify: a table allows only what is a circuit of its job, and each circuit of the job is in its table") {
  const auto with = [](auto change) {
    VerifyBench bench = make_granted();
    change(bench, map_of(bench, 0));
    return bench.verdict();
  };
  const auto no_circuit = [](int node) {
    return kTable + "a: its table allows 193.10000 THz to node " + std::to_string(node) + ", which is no circuit of job 1";
  };
  const std::string in_none = kTable + "circuit 1 of job 1 is in no table of a";
  const std::string leads_nowhere = kTable + "a: it is to send from node 0 to node 1, where its table leads no light";
  CHECK(with([](auto&, GrantMap& map) { map.wavelengths[0].destination = NodeId{2}; }) ==
        Texts{no_circuit(2), leads_nowhere, in_none});
  CHECK(with([](auto&, GrantMap& map) { map.wavelengths.clear(); }) == Texts{leads_nowhere, in_none});
  CHECK(with([](auto&, GrantMap& map) { map.wavelengths.push_back(map.wavelengths[0]); }) ==
        Texts{kTable + "a: its table has 2 wavelengths of device 0, the wavelength set 1 others"});
  CHECK(with([](auto&, GrantMap& map) { map.wavelengths[0].slot = wavelength(1); }) ==
        Texts{kTable + "a: its table allows 193.20000 THz to node 1, which is no circuit of job 1",
              kTable + "a: its table has 1 wavelengths of device 0, the wavelength set 1 others", in_none});
  CHECK(with([](VerifyBench& bench, GrantMap& map) { map.wavelengths[0].laser = bench.device_plan("laser-1").device; }) ==
        Texts{no_circuit(1), in_none});
}

TEST_CASE("verify: a table allows no other node's circuit, and none of another job") {
  VerifyBench borrowed = make_granted();
  map_of(borrowed, 0).wavelengths.push_back(map_of(borrowed, 1).wavelengths[0]);  // of laser-1, to c: b's circuit
  const Texts found = borrowed.verdict();
  REQUIRE_FALSE(found.empty());
  CHECK(found[0] == kTable + "a: its table allows 193.10000 THz to node 2, which is no circuit of job 1");
  VerifyBench other_job = make_granted();
  other_job.plan.circuits[0].job = JobId{2};
  other_job.declare();
  const Texts other = other_job.verdict();
  REQUIRE_FALSE(other.empty());
  CHECK(other[0] == kTable + "a: its table allows 193.10000 THz to node 1, which is no circuit of job 1");
}

TEST_CASE("verify: a circuit of a job under grants whose transmitter nobody drives is in no table") {
  VerifyBench bench = make_granted();
  bench.add("tx-4", 0, 1, some_transmitter());
  bench.fabric.nodes[2].transmitters.push_back(bench.element_id("tx-4"));
  build_index(bench.fabric);
  bench.circuit(4, 1, "tx-4", "rx-0", 0);
  bench.declare();
  const Texts found = bench.verdict();
  CHECK(std::find(found.begin(), found.end(), kTable + "circuit 4 of job 1 is in no table of c") != found.end());
}

TEST_CASE("verify: a palette emits nothing that the table does not have") {
  VerifyBench bench = make_granted();
  bench.timeslot("laser-0", 1, milliseconds{40}, microseconds{30'101}, milliseconds{1});
  const Texts found = bench.verdict();
  REQUIRE_FALSE(found.empty());
  CHECK(found[0] == kTable + "a: its table has 1 wavelengths of device 0, the wavelength set 2 others");
  VerifyBench dark = make_granted();
  auto& timeline = dark.timeline("laser-0");
  timeline.insert(timeline.begin(), {Duration{}, {}, Duration{}, TransmitterSetpoint{wavelength(1), Dbm{0}, false}});
  CHECK(dark.verdict() == Texts{});  // a dark entry is no wavelength of a palette
}

TEST_CASE("verify: all lasers of a node reach the same nodes, since any of them may be lit under a grant") {
  VerifyBench bench = make_granted();
  // tx-3 of node c leads to rx-1, where tx-2 leads to rx-0.
  bench.timeslot("laser-3", 0, Duration{}, microseconds{30'101}, milliseconds{1});
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(0), 3, 1, Db{0}});
  bench.circuit(4, 1, "tx-3", "rx-1", 0);
  map_of(bench, 2).wavelengths.push_back({NodeId{1}, bench.device_plan("laser-3").device, wavelength(0)});
  map_of(bench, 1).sources.push_back(NodeId{2});
  bench.declare();
  const Texts found = bench.verdict();
  REQUIRE_FALSE(found.empty());
  CHECK(found[0] == kTable + "c: its lasers do not reach the same nodes; a grant may be lit by any of them");
}

TEST_CASE("verify: a stream leaves its own node for one that the table leads to") {
  const auto with = [](OfferedStream stream) {
    VerifyBench bench = make_granted();
    map_of(bench, 0).sends = {stream};
    return bench.verdict();
  };
  const auto refusal = [](int from, int to) {
    return Texts{kTable + "a: it is to send from node " + std::to_string(from) + " to node " + std::to_string(to) +
                 ", where its table leads no light"};
  };
  CHECK(with({0, NodeId{0}, NodeId{1}, Bytes{1}}) == Texts{});
  CHECK(with({0, NodeId{0}, NodeId{2}, Bytes{1}}) == refusal(0, 2));
  CHECK(with({0, NodeId{1}, NodeId{1}, Bytes{1}}) == refusal(1, 1));
}

// --- arbiters -----------------------------------------------------------------------------------------------------------

TEST_CASE("verify: the arbiter at a circuit's end knows its source, its job and the same times") {
  const auto with = [](auto change) {
    VerifyBench bench = make_granted();
    change(bench.plan.nodes.edit(1));
    return bench.verdict();
  };
  const std::string unknown = kTable + "b has no arbiter that knows a of job 1 with the same times";
  CHECK(with([](NodePlan& end) { end.grants->sources = {}; }) == Texts{unknown});
  CHECK(with([](NodePlan& end) { end.grants->sources = {NodeId{2}}; }) == Texts{unknown});
  const std::string other_times = kTable + "c has no arbiter that knows b of job 1 with the same times";
  CHECK(with([](NodePlan& end) { end.grants->timings.flight += Duration{1}; }) == Texts{unknown, other_times});
  CHECK(with([](NodePlan& end) { end.grants->quantum -= Duration{1}; }) == Texts{unknown, other_times});
  const Texts routed_by = with([](NodePlan& end) { end.grants->routed_by = Revision{0}; });
  CHECK(std::find(routed_by.begin(), routed_by.end(), unknown) != routed_by.end());
  const Texts job = with([](NodePlan& end) { end.grants->job = JobId{2}; });
  CHECK(std::find(job.begin(), job.end(), unknown) != job.end());
  const Texts gone = with([](NodePlan& end) { end.grants.reset(); });
  CHECK(gone == Texts{unknown, kTable + "circuit 2 of job 1 is in no table of b"});
}

TEST_CASE("verify: a receiver under grants receives one job") {
  VerifyBench bench = make_granted();
  bench.light("laser-3", 1);
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(1), 3, 1, Db{0}});
  bench.circuit(4, 2, "tx-3", "rx-1", 1);
  bench.declare();
  const Texts found = bench.verdict();
  CHECK(std::find(found.begin(), found.end(), "job_isolation: rx-1 receives job 1 and job 2, one of them under grants") !=
        found.end());
}

// --- light that was laid ------------------------------------------------------------------------------------------------

TEST_CASE("verify: all light of a job was laid by one revision, and none by a later one") {
  const auto refusal = [](const std::string& node, int routed_by, int others) {
    return kTable + node + ": its light of job 1 is of revision " + std::to_string(routed_by) + ", others' of " +
           std::to_string(others);
  };
  VerifyBench one = make_granted();
  map_of(one, 2).routed_by = Revision{0};
  const Texts found = one.verdict();
  CHECK(std::find(found.begin(), found.end(), refusal("c", 0, 1)) != found.end());
  VerifyBench later = make_granted();
  each_map(later, [](GrantMap& map) { map.routed_by = Revision{2}; });
  const Texts all = later.verdict();
  CHECK(std::find(all.begin(), all.end(), refusal("a", 2, 2)) != all.end());
}

TEST_CASE("verify: light is routed anew in the dark, and light that stays as it was routed stays lit") {
  VerifyBench fresh = make_granted();
  fresh.device_plan("laser-1").touched = false;
  const Texts stays = fresh.verdict();
  CHECK(std::find(stays.begin(), stays.end(), kTable + "laser-1 stays lit although the light of job 1 is routed anew") !=
        stays.end());
  VerifyBench bench = make_granted();
  bench.confirm();
  CHECK(bench.verdict() == Texts{});
  bench.device_plan("laser-1").touched = true;
  bench.plan.changed = {NodeId{1}};
  const Texts dark = bench.verdict();
  CHECK(std::find(dark.begin(), dark.end(), kTable + "laser-1 goes dark although the light of job 1 stays as it was routed") !=
        dark.end());
}

// --- what may be lit ----------------------------------------------------------------------------------------------------

Texts too_much_at(const Texts& receivers, const std::string& much) {
  Texts texts;
  for (const std::string& each : receivers) {
    texts.push_back("crosstalk: " + each + ": in-band crosstalk of " + much + " dB, limit -20.00 dB");
  }
  return texts;
}

TEST_CASE("verify: under grants all light of a job may be lit at once, whatever its palette's order") {
  const auto isolate = [](VerifyBench& bench, int centi) {
    bench.kind<WavelengthSelectiveSwitch>("wss").isolation = Db{centi};
  };
  check_border(make_granted(), isolate, 2'302, 2'301, too_much_at({"rx-1", "rx-2", "rx-0"}, "-19.99"));
}

TEST_CASE("verify: light of another job counts beside light under grants, and the other way round") {
  VerifyBench bench = make_granted();
  // Node c leaves the job; its laser, on the same wavelength, is job 2's and stays lit.
  bench.plan.nodes.edit(2).grants.reset();
  bench.plan.nodes.edit(2).cycle = Duration{};
  bench.light("laser-2", 0);
  bench.timeline("laser-2") = {{{}, {}, kForever, bench.timeline("laser-2")[0].setpoint}};
  map_of(bench, 1).wavelengths.clear();
  map_of(bench, 1).sends.clear();
  bench.timeline("laser-1") = {{{}, {}, kForever, bench.dark_setpoint(bench.fabric.devices[1])}};
  bench.plan.nodes.edit(1).cycle = Duration{};
  bench.set<WavelengthSwitchSetpoint>("wss").routes.erase(bench.set<WavelengthSwitchSetpoint>("wss").routes.begin() + 1);
  bench.plan.circuits.erase(bench.plan.circuits.begin() + 1);
  bench.plan.circuits[1].job = JobId{2};
  map_of(bench, 0).sources.clear();
  bench.declare();
  const auto isolate = [](VerifyBench& one, int centi) { one.kind<WavelengthSelectiveSwitch>("wss").isolation = Db{centi}; };
  check_border(bench, isolate, 2'001, 1'999, too_much_at({"rx-1", "rx-0"}, "-19.99"));
}

}  // namespace
}  // namespace loom::testing
