// SPDX-License-Identifier: Apache-2.0
// What every driver owes whatever the wire does: bounded retries, one transaction at a time, writes that are not repeated when
// only their answer was lost, a sentence when it gives up, and no claim that ground truth does not bear out.
#include <random>
#include <set>

#include "drivers/transceiver/itla_frame.hpp"
#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

/// Light was only ever at frequencies that a setpoint named.
void check_never_emitted_elsewhere(const Rig& rig) {
  for (const OpticalChange& change : rig.light.changes()) {
    const auto* light = std::get_if<LaserLight>(&change.state);
    const bool named = light == nullptr || !light->emitting || (light->frequency - centre_of(slot_of(0))).mhz % 100'000 == 0;
    CHECK(named);
  }
}

enum class Damage { nack, timeout, malformed, lost, wrong };
constexpr Damage kDamages[] = {Damage::nack, Damage::timeout, Damage::malformed, Damage::lost, Damage::wrong};

BusReply damaged(Damage damage) {
  switch (damage) {
    case Damage::nack:
      return bus_reply(BusStatus::nack);
    case Damage::timeout:
      return bus_reply(BusStatus::timeout);
    case Damage::malformed:
      return bus_reply(BusStatus::malformed);
    case Damage::lost:
      return bus_reply(BusStatus::lost);
    case Damage::wrong: {  // sound, and the answer to something else
      const auto bytes = itla::encode(itla::Response{itla::Status::ok, false, itla::Register::opsl, 7});
      return {BusStatus::ok, 0, {1, 2, 3, 4, 5, 6, 7}, {bytes.begin(), bytes.end()}};
    }
  }
  return {};
}

TEST_CASE("one_failed_exchange_anywhere_changes_nothing_in_the_end") {
  for (const Subject& subject : subjects()) {
    for (const Damage damage : kDamages) {
      for (const bool received : {false, true}) {
        for (std::size_t place = 0; place < 40; ++place) {
          INFO(subject.model << ", damage " << static_cast<int>(damage) << " at exchange " << place
                             << (received ? ", heard" : ", unheard"));
          Rig rig = rig_of(subject);
          if (received) {
            rig.mangle = [&](BusReply& reply) { reply = rig.transactions.size() == place + 1 ? damaged(damage) : reply; };
          } else {
            rig.wire = [&](const Transaction&) {
              return rig.transactions.size() == place + 1 ? std::optional(damaged(damage)) : std::nullopt;
            };
          }
          rig.fire(subject.setpoints[0]);
          rig.fire(subject.setpoints[1]);
          REQUIRE(rig.driver->activity() == DriverActivity::settled);
          REQUIRE(is_true(rig, subject.setpoints[1]));
          check_never_emitted_elsewhere(rig);
        }
      }
    }
  }
}

TEST_CASE("a_write_whose_answer_was_lost_is_not_written_again") {
  for (const Subject& subject : subjects()) {
    Rig reference = rig_of(subject);
    reference.fire(subject.setpoints[0]);
    reference.fire(subject.setpoints[1]);
    for (std::size_t place = 0; place < reference.transactions.size(); ++place) {
      INFO(subject.model << ", answer lost at exchange " << place);
      Rig rig = rig_of(subject);
      rig.mangle = [&](BusReply& reply) {
        reply = rig.transactions.size() == place + 1 ? bus_reply(BusStatus::timeout) : reply;
      };
      rig.fire(subject.setpoints[0]);
      rig.fire(subject.setpoints[1]);
      REQUIRE(rig.driver->activity() == DriverActivity::settled);
      CHECK(rig.writes() == reference.writes());
    }
  }
}

TEST_CASE("a_wire_that_stays_bad_is_given_up_aloud_and_tried_again_when_fired") {
  for (const Subject& subject : subjects()) {
    for (const Damage damage : kDamages) {
      for (std::size_t place = 0; place < 12; ++place) {
        INFO(subject.model << ", damage " << static_cast<int>(damage) << " from exchange " << place);
        Rig rig = rig_of(subject);
        rig.wire = [&](const Transaction&) {
          return rig.transactions.size() > place ? std::optional(damaged(damage)) : std::nullopt;
        };
        rig.fire(subject.setpoints[0]);
        if (rig.transactions.size() <= place) {
          continue;  // it was done before the wire went bad
        }
        REQUIRE(rig.driver->activity() == DriverActivity::failed);
        CHECK(rig.driver->observe().health == DeviceHealth::failed);
        CHECK_THAT(rig.driver->observe().fault, Catch::StartsWith(std::string(subject.device) + ": "));
        CHECK_THAT(rig.driver->observe().fault, Catch::Contains("in 4 tries") || Catch::Contains("in 8 tries"));
        CHECK(rig.transactions.size() <= place + 8);
        rig.wire = nullptr;
        rig.poll();
        CHECK(rig.driver->activity() == DriverActivity::failed);  // an audit does not make a failed setpoint good
        rig.fire(subject.setpoints[0]);
        CHECK(rig.driver->activity() == DriverActivity::settled);
        CHECK(rig.driver->observe().fault.empty());
        CHECK(is_true(rig, subject.setpoints[0]));
      }
    }
  }
}

TEST_CASE("a_driver_that_goes_on_trying_says_why_before_it_gives_up") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    std::vector<std::string> faults;
    rig.wire = [&](const Transaction&) -> std::optional<BusReply> {
      faults.push_back(rig.driver->observe().fault);
      BusReply reply = bus_reply(BusStatus::lost);
      reply.cause = "/dev/ttyUSB0: Permission denied (errno 13)";
      return reply;
    };
    rig.fire(subject.setpoints[0]);
    REQUIRE(faults.size() >= 3);
    CHECK(faults[0].empty());
    CHECK_THAT(faults[1], Catch::StartsWith(std::string(subject.device) + ": ") &&
                              Catch::Contains("the bus is gone: /dev/ttyUSB0: Permission denied (errno 13), try 1 of 4"));
    CHECK_THAT(faults[2], Catch::Contains("try 2 of 4"));
    CHECK_THAT(rig.driver->observe().fault, Catch::Contains("Permission denied (errno 13) in 4 tries"));
    rig.wire = nullptr;
    rig.fire(subject.setpoints[0]);
    CHECK(rig.driver->observe().fault.empty());
  }
}

TEST_CASE("one_failed_exchange_leaves_no_fault_behind") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    rig.wire = [&](const Transaction&) {
      return rig.transactions.size() == 1 ? std::optional(bus_reply(BusStatus::timeout)) : std::nullopt;
    };
    rig.poll();
    CHECK(rig.driver->observe().fault.empty());
    rig.fire(subject.setpoints[0]);
    CHECK(rig.driver->observe().fault.empty());
  }
}

TEST_CASE("a_damaged_frame_and_another_registers_answer_are_told_apart") {
  const auto fault_with = [](std::vector<std::uint8_t> bytes) { return itla::fault_of(bytes, itla::Register::lf1); };
  auto bytes = itla::encode(itla::Response{itla::Status::ok, false, itla::Register::opsl, 7});
  CHECK(fault_with({bytes.begin(), bytes.end()}) == "an answer about OPSL (0x50) where LF1 (0x40) was asked");
  bytes[3] ^= 1;
  CHECK(fault_with({bytes.begin(), bytes.end()}) == "a damaged answer: wrong checksum");
  CHECK(fault_with({1, 2}) == "2 bytes where a frame has 4");
  bytes = itla::encode(itla::Response{itla::Status::ok, true, itla::Register::lf1, 7});
  CHECK(fault_with({bytes.begin(), bytes.end()}) == "the module found a wrong checksum in the request");
}

TEST_CASE("a_failed_audit_recovers_with_the_next_one") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    rig.wire = [](const Transaction&) { return bus_reply(BusStatus::lost); };
    rig.poll();
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK_THAT(rig.driver->observe().fault, Catch::Contains("the bus is gone in 4 tries"));
    rig.wire = nullptr;
    rig.poll();
    CHECK(rig.driver->activity() == DriverActivity::idle);
    CHECK(rig.driver->observe().health == DeviceHealth::ready);
    CHECK(rig.driver->observe().fault.empty());
    CHECK(rig.writes() == 0);
  }
}

TEST_CASE("an_exception_is_a_failure_with_its_code") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    rig.wire = [](const Transaction&) { return bus_reply(BusStatus::exception, 4); };
    rig.fire(subject.setpoints[0]);
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK_THAT(rig.driver->observe().fault, Catch::Contains("exception 4 (device failure)"));
  }
}

TEST_CASE("replies_to_nothing_are_ignored") {
  for (const Subject& subject : subjects()) {
    INFO(subject.model);
    Rig rig = rig_of(subject);
    const BusReply stray = damaged(Damage::wrong);
    const Step step = rig.driver->step(rig.now, &stray);
    CHECK_FALSE(step.transaction.has_value());
    CHECK(rig.driver->activity() == DriverActivity::idle);
    CHECK(rig.driver->observe().health == DeviceHealth::unknown);
  }
}

TEST_CASE("devices_that_answer_late_refuse_or_garble_for_a_while_are_outlived_or_named") {
  for (const Subject& subject : subjects()) {
    for (const DeviceFaultKind kind :
         {DeviceFaultKind::late, DeviceFaultKind::nack, DeviceFaultKind::garbage, DeviceFaultKind::silence}) {
      for (const Duration span : {Duration{std::chrono::milliseconds{15}}, Duration{std::chrono::seconds{30}}}) {
        INFO(subject.model << ", fault " << static_cast<int>(kind) << " for " << span.count() << " ns");
        Rig rig = rig_of(subject);
        rig.fire(subject.setpoints[0]);
        const Duration delay = rig.transactions.back().deadline + std::chrono::milliseconds{40};
        rig.model->inject(rig.now, {.kind = kind, .until = rig.now + span, .delay = delay});
        rig.fire(subject.setpoints[1]);
        if (rig.driver->activity() == DriverActivity::settled) {
          CHECK(is_true(rig, subject.setpoints[1]));
        } else {
          CHECK(rig.driver->activity() == DriverActivity::failed);
          CHECK_FALSE(rig.driver->observe().fault.empty());
        }
        rig.now = std::max(rig.now, instant_from_ns(0) + std::chrono::minutes{2});
        rig.fire(subject.setpoints[1]);
        CHECK(rig.driver->activity() == DriverActivity::settled);
        CHECK(is_true(rig, subject.setpoints[1]));
        check_never_emitted_elsewhere(rig);
      }
    }
  }
}

TEST_CASE("settled_is_true_whatever_the_wire_does") {
  std::size_t settled = 0;
  std::size_t failed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const Subject& subject : subjects()) {
      INFO(subject.model << ", seed " << seed);
      std::mt19937_64 chance(seed);
      Rig rig = rig_of(subject, seed);
      const std::uint64_t percent = chance() % 40;
      rig.wire = [&](const Transaction&) -> std::optional<BusReply> {
        return chance() % 100 < percent ? std::optional(damaged(kDamages[chance() % 5])) : std::nullopt;
      };
      rig.mangle = [&](BusReply& reply) { reply = chance() % 100 < percent ? damaged(kDamages[chance() % 5]) : reply; };
      for (int fires = 0; fires < 6; ++fires) {
        const Setpoint& setpoint = subject.setpoints[chance() % subject.setpoints.size()];
        if (chance() % 3 == 0) {
          rig.poll();
        }
        rig.fire(setpoint);
        const bool is_settled = rig.driver->activity() == DriverActivity::settled;
        REQUIRE((is_settled || rig.driver->activity() == DriverActivity::failed));
        REQUIRE((!is_settled || is_true(rig, setpoint)));
        (is_settled ? settled : failed) += 1;
      }
      check_never_emitted_elsewhere(rig);
    }
  }
  CHECK(settled > 500);  // both ways are really taken
  CHECK(failed > 100);
}

TEST_CASE("a_driver_that_gives_up_names_its_trouble_and_it_is_the_faults") {
  struct Expected {
    DeviceFaultKind kind;
    std::set<Trouble> troubles;  ///< what it may come to
  };
  const Expected kExpected[] = {
      {DeviceFaultKind::silence, {Trouble::silent}},
      {DeviceFaultKind::nack, {Trouble::refusing}},
      // A line of text that was damaged may be another text, and a device that says so another device.
      {DeviceFaultKind::garbage, {Trouble::garbage, Trouble::bad_check, Trouble::misfit, Trouble::refusing}},
      {DeviceFaultKind::stick, {Trouble::unheeded, Trouble::unlocked, Trouble::unsettled}},
      {DeviceFaultKind::stuck_pending, {Trouble::unsettled, Trouble::unlocked, Trouble::unheeded, Trouble::refusing}},
  };
  std::size_t given_up = 0;
  for (const Subject& subject : subjects()) {
    for (const Expected& expected : kExpected) {
      Rig rig = rig_of(subject);
      rig.fire(subject.setpoints[0]);
      rig.model->inject(rig.now, {.kind = expected.kind, .until = kNever});
      rig.fire(subject.setpoints[1]);
      const Observation seen = rig.driver->observe();
      INFO(subject.model << ", fault " << static_cast<int>(expected.kind) << ": " << seen.fault << " ("
                         << to_string(seen.trouble) << ")");
      if (rig.driver->activity() == DriverActivity::settled) {
        CHECK(seen.trouble == Trouble::none);
        continue;
      }
      CHECK(expected.troubles.contains(seen.trouble));
      ++given_up;
    }
  }
  CHECK(given_up > 3 * subjects().size());
}

TEST_CASE("a_wrong_checksum_is_told_from_other_damage") {
  Rig rig = rig_of(subject_of(DeviceRole::transmitter));
  rig.fire(subject_of(DeviceRole::transmitter).setpoints[0]);
  rig.mangle = [](BusReply& reply) {
    if (!reply.bytes.empty()) {
      reply.bytes.back() ^= 1;
    }
  };
  rig.fire(subject_of(DeviceRole::transmitter).setpoints[1]);
  CHECK(rig.driver->observe().trouble == Trouble::bad_check);
  CHECK_THAT(rig.driver->observe().fault, Catch::Contains("wrong checksum"));
  Subject bank = subject_of(DeviceRole::filter);
  Rig heaters = rig_of(bank);
  heaters.fire(bank.setpoints[0]);
  heaters.wire = [](const Transaction&) { return bus_reply(BusStatus::bad_check); };
  heaters.fire(bank.setpoints[1]);
  CHECK(heaters.driver->observe().trouble == Trouble::bad_check);
  CHECK_THAT(heaters.driver->observe().fault, Catch::Contains("wrong checksum"));
}

}  // namespace
}  // namespace loom
