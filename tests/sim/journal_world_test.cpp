// SPDX-License-Identifier: Apache-2.0
// Journals in the whole system: a controller that starts again from an older copy of its disk under living agents, one that
// starts from a snapshot, and one whose disk is full.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "core/journal/journal_state.hpp"
#include "proto/codec.hpp"
#include "sim_backend/experiments/drift_experiment.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

JobSubmission job(const std::string& name, std::uint32_t nodes, Duration at) {
  JobSubmission submission;
  submission.name = name;
  submission.workload = "vgg19";
  submission.nodes = nodes;
  submission.at = at;
  return submission;
}

/// 16 nodes with a job on 8 of them; two more come at 6 s and 8 s.
Scenario three_jobs() {
  Scenario scenario = drift_scenario();
  scenario.jobs.push_back(job("second", 4, seconds{6}));
  scenario.jobs.push_back(job("third", 4, seconds{8}));
  return scenario;
}

/// One row that says what these say.
std::string snapshot_of(const std::vector<std::string>& rows) {
  SnapshotRecord state;
  for (const std::string& row : rows) {
    apply(state, *decode_record(row));
  }
  return encode(Record{state});
}

struct Rig {
  Scenario scenario = three_jobs();
  World world;

  explicit Rig(const WorldOptions& options = {}) : world(scenario, *script_of(scenario), options) { REQUIRE(world.start()); }
  void run_to(Duration at) { world.run_until(Instant{at}); }
  const Plan& plan() const { return world.controller().confirmed_plan()->plan; }
  std::set<std::uint64_t> revisions() const {
    std::set<std::uint64_t> numbers;
    for (const CommitReport& report : world.controller().history()) {
      numbers.insert(report.revision.value);
    }
    return numbers;
  }
  /// Links that were usable at `from` and not all the way to `to`.
  std::size_t interrupted(Instant from, Instant to) const {
    const LightTimeline light = world.light().timeline();
    return static_cast<std::size_t>(std::count_if(light.begin(), light.end(), [&](const LitWindow& window) {
      return window.begin < from && window.end >= from && window.end < to;
    }));
  }
};

}  // namespace

TEST_CASE("a_controller_restored_from_an_older_copy_gives_no_number_twice_and_keeps_light_that_nobody_changed") {
  Rig rig;
  rig.run_to(seconds{5});
  const DiskImage copy = rig.world.disk(controller_peer()).image();
  const std::size_t links = rig.world.light().reached().size();
  const std::shared_ptr<const PlanResult> first = rig.world.controller().confirmed_plan();
  const Plan* kept = &first->plan;
  REQUIRE(links > 0);
  rig.run_to(seconds{12});
  const std::shared_ptr<const PlanResult> last = rig.world.controller().confirmed_plan();
  const Plan* all = &last->plan;
  const std::set<std::uint64_t> before = rig.revisions();
  REQUIRE(before.size() >= 3);
  REQUIRE(rig.world.light().reached().size() > links);  // the light of two more jobs, of which the copy knows nothing
  rig.world.crash(controller_peer(), milliseconds{100});
  rig.world.disk(controller_peer()).replace(copy);
  rig.run_to(seconds{60});
  REQUIRE(rig.world.is_up(controller_peer()));
  for (const std::uint64_t number : rig.revisions()) {
    CHECK(number > *before.rbegin());
  }
  CHECK(rig.world.controller().intent().jobs.size() == 1);
  CHECK(rig.world.controller().is_idle());
  CHECK(rig.world.controller().drift().counts() == DriftCounts{});
  CHECK(differences(rig.world.light(), &rig.plan()).empty());
  CHECK(rig.world.light().reached().size() == links);
  // Of the first job not a link went dark, of the others each once.
  CHECK(rig.interrupted(Instant{seconds{5}}, Instant{seconds{60}}) == 0);
  // What the copy does not know is foreign from the first confirmation of the next incarnation until it is repaired, and
  // nothing else.
  std::set<ElementId> forgotten;
  for (const Circuit& circuit : all->circuits) {
    if (std::none_of(kept->circuits.begin(), kept->circuits.end(),
                     [&](const Circuit& each) { return each.transmitter == circuit.transmitter; })) {
      forgotten.insert(circuit.transmitter);
    }
  }
  REQUIRE_FALSE(forgotten.empty());
  for (const Violation& violation : rig.world.checker().violations()) {
    INFO(violation.evidence);
    CHECK(violation.rule == SafetyRule::stray);
    CHECK(violation.at < Instant{seconds{13}});
    CHECK(std::any_of(forgotten.begin(), forgotten.end(), [&](ElementId transmitter) {
      return violation.evidence.starts_with(rig.world.light().fabric().element(transmitter).name + " ");
    }));
  }
  CHECK(std::any_of(rig.world.alarms().begin(), rig.world.alarms().end(), [](const Alarm& alarm) {
    return alarm.evidence.find("of which this journal knows nothing") != std::string::npos;
  }));
}

TEST_CASE("a_controller_without_its_journal_goes_on_above_what_its_agents_have_seen") {
  Rig rig;
  rig.run_to(seconds{12});
  const std::set<std::uint64_t> before = rig.revisions();
  rig.world.crash(controller_peer(), milliseconds{100});
  rig.world.disk(controller_peer()).replace({});
  rig.run_to(seconds{15});
  for (const std::uint64_t number : rig.revisions()) {
    CHECK(number > *before.rbegin());
  }
}

TEST_CASE("a_controller_that_starts_from_a_snapshot_changes_no_light") {
  Rig rig;
  rig.run_to(seconds{12});
  SimDisk& disk = rig.world.disk(controller_peer());
  const std::uint64_t rows = disk.image().rows.size();
  const std::size_t links = rig.world.light().reached().size();
  rig.world.crash(controller_peer(), milliseconds{100});
  disk.replace(DiskImage{rows - 1, {snapshot_of(disk.image().rows)}});
  rig.run_to(seconds{30});
  CHECK(rig.world.controller().intent().jobs.size() == 3);
  CHECK(rig.world.light().reached().size() == links);
  CHECK(rig.interrupted(Instant{seconds{11}}, Instant{seconds{30}}) == 0);
  CHECK(differences(rig.world.light(), &rig.plan()).empty());
  CHECK(rig.world.controller().drift().counts() == DriftCounts{});
}

TEST_CASE("machines_that_take_snapshots_all_the_time_lose_nothing_to_crashes_at_any_effect") {
  WorldOptions options;
  options.journal_tail = {2, 1};
  for (std::uint64_t point = 0; point < 240; point += 16) {
    INFO("kill point " << point);
    Rig rig(options);
    rig.run_to(milliseconds{5'900});
    rig.world.crash_at(controller_peer(), point, milliseconds{100});
    rig.run_to(milliseconds{7'900});
    rig.world.crash_at(controller_peer(), 240 - point, milliseconds{100});
    rig.run_to(seconds{25});
    CHECK(rig.world.crashes() == 2);
    CHECK(rig.world.disk(controller_peer()).image().base > 10);
    CHECK(rig.world.disk(controller_peer()).image().rows.size() < 12);
    CHECK(rig.world.unsettled().empty());
    CHECK(rig.world.controller().intent().jobs.size() == 3);
    CHECK(rig.world.checker().violations().empty());
  }
}

TEST_CASE("a_full_disk_keeps_the_light_and_the_next_start_goes_on") {
  Rig rig;
  rig.run_to(seconds{5});
  const std::size_t links = rig.world.light().reached().size();
  rig.world.disk(controller_peer()).fail_appends("no space left on device");
  rig.run_to(seconds{12});  // two jobs are submitted into a full journal
  CHECK(rig.world.light().reached().size() == links);
  CHECK(rig.interrupted(Instant{seconds{5}}, Instant{seconds{12}}) == 0);
  for (const OperatorScript::Entry& entry : rig.world.script().entries()) {
    if (entry.scripted.submission.name != rig.scenario.jobs.front().name) {
      CHECK(entry.state == OperatorScript::State::refused);
      CHECK(entry.reason.find("no space left on device") != std::string::npos);
    }
  }
  rig.world.disk(controller_peer()).fail_appends({});
  rig.world.crash(controller_peer(), milliseconds{100});
  rig.run_to(seconds{20});
  CHECK(rig.world.controller().is_idle());
  CHECK(rig.interrupted(Instant{seconds{5}}, Instant{seconds{20}}) == 0);
}
