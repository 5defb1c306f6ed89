// SPDX-License-Identifier: Apache-2.0
// Devices that answer late, wrongly or never, and devices that lose their power, before all drivers: every fire ends, as a
// success that light bears out or as a named fault, and the device is brought back when it has come to its senses.
#include "drivers/retry_state.hpp"
#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Settled in truth, or failed by name.
void check_verdict(const Rig& rig, const Subject& subject, const Setpoint& setpoint) {
  if (rig.driver->activity() == DriverActivity::settled) {
    CHECK(is_true(rig, setpoint));
    return;
  }
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().health == DeviceHealth::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::StartsWith(std::string(subject.device) + ": "));
}

struct Manners {
  const char* name;
  DeviceFaultKind kind;
  Duration limit;  ///< of a fire, with exchanges of 500 ms
};

/// What a driver that waits longer for each answer may take more: two rounds of tries.
Duration longer_answers(const Rig& rig) {
  return 2 * RetryState::kTries * std::max<Duration>(rig.transactions.front().deadline - milliseconds{500}, Duration{});
}

// Never: four tries of at most 500 ms and their pauses. Late: an answer is taken for that of a later question, four seconds are
// lost so at most, and what is understood meanwhile takes nearly its deadline. Wrongly: each answer that can be read lets the
// procedure go on.
const Manners kManners[] = {{"never", DeviceFaultKind::silence, milliseconds{2'040}},
                            {"late", DeviceFaultKind::late, seconds{8}},
                            {"wrongly", DeviceFaultKind::garbage, seconds{5}},
                            {"not now", DeviceFaultKind::nack, milliseconds{100}},
                            {"yes and does nothing", DeviceFaultKind::stick, seconds{5}}};

TEST_CASE("a_device_that_answers_late_wrongly_or_never_ends_as_a_named_fault_in_time_and_recovers") {
  for (const Subject& subject : subjects()) {
    for (const Manners& manners : kManners) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        INFO(subject.model << " answers " << manners.name << ", seed " << seed);
        Rig rig = rig_of(subject, seed);
        rig.fire(subject.setpoints[0]);
        REQUIRE(rig.driver->activity() == DriverActivity::settled);
        const Instant began = rig.now;
        const Duration delay = rig.transactions.back().deadline + seed * milliseconds{70};
        rig.model->inject(began, {.kind = manners.kind, .until = began + seconds{20}, .delay = delay});
        rig.fire(subject.setpoints[1]);
        CHECK(rig.now - began <= manners.limit + longer_answers(rig));
        check_verdict(rig, subject, subject.setpoints[1]);
        rig.now = began + seconds{21};
        rig.poll();
        rig.fire(subject.setpoints[1]);
        CHECK(rig.driver->observe().fault.empty());
        REQUIRE(rig.driver->activity() == DriverActivity::settled);
        CHECK(is_true(rig, subject.setpoints[1]));
      }
    }
  }
}

void cut_power(Rig& rig, Duration boot) {
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now + boot});
}

TEST_CASE("a_power_cycle_between_fires_is_seen_by_an_audit_and_repaired_by_the_next_fire") {
  for (const Subject& subject : subjects()) {
    for (const Duration boot : {Duration{0}, Duration{milliseconds{20}}, Duration{seconds{3}}}) {
      INFO(subject.model << ", boots in " << boot.count() << " ns");
      Rig rig = rig_of(subject);
      rig.fire(subject.setpoints[1]);
      REQUIRE(rig.driver->activity() == DriverActivity::settled);
      const std::size_t writes = rig.writes();
      cut_power(rig, boot);
      rig.poll();
      CHECK(rig.driver->activity() != DriverActivity::settled);
      CHECK(rig.writes() == writes);  // an audit only reads
      rig.now += boot;
      rig.poll();
      CHECK(rig.driver->activity() != DriverActivity::settled);
      CHECK(rig.driver->observe().health == DeviceHealth::ready);
      const std::size_t before = rig.transactions.size();
      rig.fire(subject.setpoints[1]);
      REQUIRE(rig.driver->activity() == DriverActivity::settled);
      CHECK(is_true(rig, subject.setpoints[1]));
      CHECK(rig.transactions.size() > before);
    }
  }
}

TEST_CASE("a_power_cycle_that_nobody_saw_is_not_taken_for_the_setpoint_that_it_took_away") {
  for (const Subject& subject : subjects()) {
    for (const std::size_t next : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
      INFO(subject.model << ", next setpoint " << next);
      Rig rig = rig_of(subject);
      rig.fire(subject.setpoints[0]);
      REQUIRE(rig.driver->activity() == DriverActivity::settled);
      cut_power(rig, Duration{0});
      rig.now += milliseconds{1};
      rig.fire(subject.setpoints[next]);
      check_verdict(rig, subject, subject.setpoints[next]);
      rig.fire(subject.setpoints[next]);
      REQUIRE(rig.driver->activity() == DriverActivity::settled);
      CHECK(is_true(rig, subject.setpoints[next]));
    }
  }
}

TEST_CASE("a_power_cycle_at_any_exchange_of_a_fire_ends_in_truth_or_by_name") {
  for (const Subject& subject : subjects()) {
    for (const Duration boot : {Duration{0}, Duration{milliseconds{10}}, Duration{seconds{3}}}) {
      for (std::size_t place = 1; place <= 30; ++place) {
        INFO(subject.model << ", power cut after exchange " << place << ", boots in " << boot.count() << " ns");
        Rig rig = rig_of(subject);
        rig.fire(subject.setpoints[0]);
        rig.driver->stage(subject.setpoints[1]);
        rig.driver->fire();
        const std::size_t before = rig.transactions.size();
        rig.run([&] { return rig.transactions.size() == before + place; });
        const bool in_the_middle = rig.transactions.size() == before + place && rig.handed_out.has_value();
        if (in_the_middle) {
          cut_power(rig, boot);
          rig.run();
          check_verdict(rig, subject, subject.setpoints[1]);
        }
        rig.now += boot;
        rig.fire(subject.setpoints[1]);
        rig.fire(subject.setpoints[1]);
        REQUIRE(rig.driver->activity() == DriverActivity::settled);
        CHECK(is_true(rig, subject.setpoints[1]));
      }
    }
  }
}

TEST_CASE("a_device_that_is_late_within_the_deadline_is_only_slow") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    rig.model->inject(rig.now, {.kind = DeviceFaultKind::late, .delay = milliseconds{5}});
    const Instant begin = rig.now;
    rig.fire(subject.setpoints[1]);
    REQUIRE(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.now - begin >= milliseconds{5} * static_cast<int>(rig.transactions.size()));
    CHECK(is_true(rig, subject.setpoints[1]));
  }
}

TEST_CASE("device_models_lose_everything_with_their_power") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    const OpticalState at_power_up = rig.model->light(rig.now);
    rig.fire(subject.setpoints[0]);
    CHECK(rig.model->light(rig.now) != at_power_up);
    rig.model->take_changes();
    cut_power(rig, milliseconds{5});
    CHECK(rig.model->light(rig.now + milliseconds{1}) == at_power_up);  // a ring has cooled down by then
    CHECK(rig.model->has_changes());
  }
}

}  // namespace
}  // namespace loom
