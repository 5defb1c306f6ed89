// SPDX-License-Identifier: Apache-2.0
// Every laser that is tuned while it is dark, ahead of its light: no light comes of it, lit light is left alone, whatever goes
// wrong on the way is made good by the fire, and nobody hears of it.
#include <algorithm>
#include <set>
#include <string>

#include "drivers/transceiver/itla_frame.hpp"
#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

/// Of every model whose driver tunes ahead.
std::vector<Subject> tunes_ahead() {
  std::vector<Subject> lasers = subjects();
  std::erase_if(lasers, [](const Subject& subject) {
    const Rig rig = rig_of(subject);
    const bool is_laser = std::holds_alternative<TransmitterSetpoint>(subject.setpoints.front());
    return !is_laser || !rig.driver->can_prepare();
  });
  return lasers;
}

void ask_ahead(Rig& rig, const Setpoint& setpoint) {
  REQUIRE(rig.driver->check(setpoint).has_value());
  rig.driver->stage(setpoint);
  rig.driver->prepare();
}

void tune_ahead(Rig& rig, const Setpoint& setpoint) {
  ask_ahead(rig, setpoint);
  rig.run();
}

bool was_ever_lit(const Rig& rig, Instant until) {
  return std::ranges::any_of(rig.light.changes(), [&](const OpticalChange& change) {
    return change.at <= until && std::get<LaserLight>(change.state).emitting;
  });
}

/// Wherever there was light, it was at one of these.
bool is_lit_only_at(const Rig& rig, const std::set<std::int64_t>& places) {
  return std::ranges::all_of(rig.light.changes(), [&](const OpticalChange& change) {
    const auto& light = std::get<LaserLight>(change.state);
    return !light.emitting || places.contains(light.frequency.mhz);
  });
}

std::int64_t place_of(const Setpoint& setpoint) { return centre_of(std::get<TransmitterSetpoint>(setpoint).slot).mhz; }

TEST_CASE("a dark laser is tuned ahead without light, and its fire writes nothing but the light itself") {
  const auto lasers = tunes_ahead();
  REQUIRE(lasers.size() >= 3);
  for (const Subject& subject : lasers) {
    CAPTURE(subject.model);
    Rig late = rig_of(subject);
    late.fire(darkened(subject.setpoints[0]));
    Rig rig = rig_of(subject);
    rig.fire(darkened(subject.setpoints[0]));
    const Setpoint& next = subject.setpoints[1];
    const std::size_t before = rig.writes();
    tune_ahead(rig, next);
    CHECK(rig.driver->activity() == DriverActivity::settled);  // what was proven was darkness
    CHECK(rig.driver->observe().fault.empty());
    CHECK(rig.writes() > before);
    CHECK_FALSE(was_ever_lit(rig, rig.now));
    const std::size_t tuned = rig.writes();
    const std::size_t asked = rig.transactions.size();
    rig.fire(darkened(next));
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.writes() == tuned);
    const std::size_t exchanges_ahead = rig.transactions.size() - asked;
    const std::size_t asked_late = late.transactions.size();
    late.fire(darkened(next));
    CHECK(exchanges_ahead < late.transactions.size() - asked_late);
    rig.fire(next);
    CHECK(rig.driver->activity() == DriverActivity::settled);
    CHECK(rig.writes() == tuned + 1);
    CHECK(is_true(rig, next));
    CHECK(is_lit_only_at(rig, {place_of(next)}));
  }
}

TEST_CASE("a laser that nobody has told anything is tuned ahead, and one that somebody else lit is not touched") {
  for (const Subject& subject : tunes_ahead()) {
    CAPTURE(subject.model);
    Rig dark = rig_of(subject);
    dark.driver->poll();
    dark.run();
    tune_ahead(dark, subject.setpoints[1]);
    CHECK(dark.driver->activity() == DriverActivity::idle);  // nothing was ever fired
    CHECK_FALSE(was_ever_lit(dark, dark.now));
    dark.fire(subject.setpoints[1]);
    CHECK(is_true(dark, subject.setpoints[1]));

    Rig lit = rig_of(subject);
    lit.fire(subject.setpoints[0]);
    lit.driver = make_driver(lit.fabric, device_named(lit.fabric, subject.device));  // another process
    const std::size_t before = lit.writes();
    tune_ahead(lit, subject.setpoints[1]);
    CHECK(lit.writes() == before);
    CHECK(is_true(lit, subject.setpoints[0]));
    lit.fire(subject.setpoints[1]);
    CHECK(is_true(lit, subject.setpoints[1]));
  }
}

TEST_CASE("a laser that was told to emit is not tuned ahead, whether it does or not") {
  for (const Subject& subject : tunes_ahead()) {
    CAPTURE(subject.model);
    Rig rig = rig_of(subject);
    rig.fire(subject.setpoints[0]);
    for (const bool is_dark : {false, true}) {
      if (is_dark) {
        rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
        rig.poll();
        rig.poll();
      }
      const std::size_t before = rig.writes();
      tune_ahead(rig, subject.setpoints[1]);
      CHECK(rig.writes() == before);
    }
    CHECK(rig.driver->activity() != DriverActivity::settled);  // its light is gone, and that is still seen
    rig.fire(subject.setpoints[1]);
    CHECK(is_true(rig, subject.setpoints[1]));
  }
}

TEST_CASE("whatever fails while a laser is tuned ahead is nobody's news, and its fire makes it good") {
  for (const Subject& subject : tunes_ahead()) {
    for (const BusStatus status : {BusStatus::timeout, BusStatus::nack, BusStatus::malformed, BusStatus::lost}) {
      for (std::size_t fails_at = 1; fails_at < 64; ++fails_at) {
        CAPTURE(subject.model, static_cast<int>(status), fails_at);
        Rig rig = rig_of(subject);
        rig.fire(darkened(subject.setpoints[0]));
        const std::size_t before = rig.transactions.size();
        rig.wire = [&](const Transaction&) {
          return rig.transactions.size() == before + fails_at ? std::optional(bus_reply(status)) : std::nullopt;
        };
        tune_ahead(rig, subject.setpoints[1]);
        const bool came_so_far = rig.transactions.size() >= before + fails_at;
        CHECK(rig.driver->activity() == DriverActivity::settled);
        CHECK(rig.driver->observe().fault.empty());
        CHECK_FALSE(was_ever_lit(rig, rig.now));
        rig.wire = {};
        rig.fire(subject.setpoints[1]);
        CHECK(rig.driver->activity() == DriverActivity::settled);
        CHECK(is_true(rig, subject.setpoints[1]));
        CHECK(is_lit_only_at(rig, {place_of(subject.setpoints[1])}));
        if (!came_so_far) {
          break;
        }
      }
    }
  }
}

TEST_CASE("a module that starts again while it is tuned ahead, or after, is lit nowhere but where it shall be") {
  for (const Subject& subject : tunes_ahead()) {
    for (std::size_t restarts_at = 1; restarts_at < 64; ++restarts_at) {
      CAPTURE(subject.model, restarts_at);
      Rig rig = rig_of(subject);
      rig.fire(darkened(subject.setpoints[0]));
      const std::size_t before = rig.transactions.size();
      ask_ahead(rig, subject.setpoints[1]);
      rig.run([&] { return rig.transactions.size() == before + restarts_at; });
      rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
      rig.run();
      const bool came_so_far = rig.transactions.size() >= before + restarts_at;
      rig.fire(darkened(subject.setpoints[1]));
      rig.fire(subject.setpoints[1]);
      CHECK(rig.driver->activity() == DriverActivity::settled);
      CHECK(is_true(rig, subject.setpoints[1]));
      if (subject.model != "cmis" && subject.model != "sff8690") {  // these power up lit, where their maker tuned them
        CHECK(is_lit_only_at(rig, {place_of(subject.setpoints[1])}));
      }
      if (!came_so_far) {
        break;
      }
    }
  }
}

TEST_CASE("what was tuned ahead for nothing stays dark and sound, and goes back when it is told") {
  for (const Subject& subject : tunes_ahead()) {
    CAPTURE(subject.model);
    Rig rig = rig_of(subject);
    rig.fire(darkened(subject.setpoints[0]));
    tune_ahead(rig, subject.setpoints[1]);
    rig.driver->withdraw();
    rig.run();
    for (int i = 0; i < 20; ++i) {  // every register comes once
      rig.poll();
      CHECK(rig.driver->activity() == DriverActivity::settled);
      CHECK(rig.driver->observe().fault.empty());
    }
    CHECK_FALSE(was_ever_lit(rig, rig.now));
    rig.fire(subject.setpoints[0]);
    CHECK(is_true(rig, subject.setpoints[0]));
    CHECK(is_lit_only_at(rig, {place_of(subject.setpoints[0])}));
  }
}

TEST_CASE("a fire that comes while a laser is tuned ahead goes on with what is known, wherever it comes") {
  for (const Subject& subject : tunes_ahead()) {
    for (std::size_t at = 1; at < 64; ++at) {
      CAPTURE(subject.model, at);
      Rig rig = rig_of(subject);
      rig.fire(darkened(subject.setpoints[0]));
      const std::size_t before = rig.transactions.size();
      ask_ahead(rig, subject.setpoints[1]);
      rig.run([&] { return rig.transactions.size() == before + at; });
      const bool came_so_far = rig.transactions.size() >= before + at;
      rig.fire(subject.setpoints[3]);  // somewhere else altogether
      CHECK(rig.driver->activity() == DriverActivity::settled);
      CHECK(is_true(rig, subject.setpoints[3]));
      CHECK(is_lit_only_at(rig, {place_of(subject.setpoints[3])}));
      if (!came_so_far) {
        break;
      }
    }
  }
}

TEST_CASE("a laser that sends light unasked is not tuned ahead") {
  Subject itla = subject_of(DeviceRole::transmitter);
  itla.model = "itla_laser";
  Rig rig = rig_of(itla);
  rig.fire(darkened(itla.setpoints[0]));
  rig.mangle = [&](BusReply& reply) {  // its power meter says 0 dBm, though its output is off
    const auto answer = itla::decode_response(reply.bytes);
    if (answer && answer->reg == itla::Register::oop) {
      const itla::FrameBytes bytes = itla::encode(itla::Response{itla::Status::ok, false, itla::Register::oop, 0});
      reply.bytes.assign(bytes.begin(), bytes.end());
    }
  };
  const std::size_t before = rig.writes();
  tune_ahead(rig, itla.setpoints[1]);
  CHECK(rig.writes() == before);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

}  // namespace
}  // namespace loom
