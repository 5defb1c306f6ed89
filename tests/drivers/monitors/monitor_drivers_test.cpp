// SPDX-License-Identifier: Apache-2.0
// What monitors measure, what they say that they cannot, and that they never write.
#include <catch2/catch.hpp>

#include "drivers/monitor/photodiode_bank.hpp"
#include "drivers/monitor/scpi_meter.hpp"
#include "sim_backend/devices/monitor_model.hpp"
#include "tests/drivers/monitors/monitored_fabric.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

constexpr Frequency kHere{193'100'000};

/// A monitor of a model at the first node's receiver, or receivers, and the light that comes there.
struct Bench {
  Rig rig;
  std::vector<std::vector<ArrivingLight>> arriving;

  explicit Bench(const std::string& model, std::vector<DeviceSetting> profile = {}, std::string serial = {})
      : rig(fabric_with_monitor(model, std::move(profile), std::move(serial)), DeviceId{0}) {
    arriving.resize(rig.fabric.devices[0].elements.size());
    dynamic_cast<MonitorModel&>(*rig.model).look_through([this](PortRef input) {
      const auto& elements = rig.fabric.devices[0].elements;
      return arriving[static_cast<std::size_t>(std::find(elements.begin(), elements.end(), input.element) - elements.begin())];
    });
  }

  static Fabric fabric_with_monitor(const std::string& model, std::vector<DeviceSetting> profile, std::string serial) {
    Fabric fabric;
    fabric.nodes.push_back({NodeId{0}, "node", 0, {}, {}});
    fabric.buses.push_back({BusId{0}, "bus", NodeId{0}, "sim"});
    Device device{DeviceId{0}, "monitor", DeviceRole::monitor, NodeId{0}, BusId{0}, 1, {}, model, std::move(profile), serial};
    for (std::uint32_t i = 0; i < (model == "photodiode_bank" ? 4U : 1U); ++i) {
      fabric.elements.push_back({ElementId{i}, "rx-" + std::to_string(i), 1, 0, Db{0}, Receiver{}});
      device.elements.push_back(ElementId{i});
    }
    fabric.devices.push_back(std::move(device));
    build_index(fabric);
    REQUIRE(check_fabric(fabric).empty());
    return fabric;
  }

  const std::vector<LightReading>& read() {
    rig.poll();
    const Observation seen = rig.driver->observe();
    INFO(seen.fault);
    REQUIRE(seen.health == DeviceHealth::ready);
    lights_ = std::get<MonitorObservation>(seen.reading).lights;
    return lights_;
  }
  std::string fault() const { return rig.driver->observe().fault; }

 private:
  std::vector<LightReading> lights_;
};

bool is_near(Dbm a, Dbm b, std::int32_t centi) { return std::abs(a.centi - b.centi) <= centi; }

TEST_CASE("every_monitor_reads_what_comes_and_is_settled_by_a_fire_that_writes_nothing") {
  for (const std::string model : {"photodiode_bank", "power_meter", "osa"}) {
    INFO(model);
    Bench bench(model);
    bench.arriving[0] = {{kHere, Dbm{-500}}};
    bench.rig.fire(MonitorSetpoint{});
    CHECK(bench.rig.driver->activity() == DriverActivity::settled);
    CHECK(bench.rig.writes() == 0);
    REQUIRE_FALSE(bench.read().empty());  // a photodiode in the dark may read a count
    CHECK(bench.read()[0].channel == 0);
    CHECK(is_near(bench.read()[0].power, Dbm{-500}, 20));
    CHECK(bench.rig.driver->observe().proof == Proof::monitor);
    CHECK(bench.fault().empty());
    bench.arriving[0].clear();
    for (const LightReading& light : bench.read()) {
      CHECK(light.power < Receiver{}.sensitivity);
    }
    CHECK_FALSE(bench.rig.driver->check(CircuitSwitchSetpoint{}).has_value());
  }
}

TEST_CASE("a_photodiode_adds_up_all_light_names_what_is_saturated_and_what_is_not_connected") {
  Bench bench("photodiode_bank", {{"zero_counts", std::int64_t{40}}, {"register_base", std::int64_t{16}}});
  bench.arriving[1] = {{kHere, Dbm{-1'000}}, {kHere + FrequencyOffset{100'000}, Dbm{-1'000}}};
  bench.arriving[3] = {{kHere, Dbm{1'000}}};
  const auto lights = bench.read();
  REQUIRE(lights.size() >= 2);
  const auto second = std::find_if(lights.begin(), lights.end(), [](const LightReading& light) { return light.channel == 1; });
  REQUIRE(second != lights.end());
  CHECK(is_near(second->power, Dbm{-699}, 20));
  CHECK(lights.back().channel == 3);
  CHECK(lights.back().power > Receiver{}.overload);
  CHECK_THAT(bench.fault(), Catch::Contains("channel 3 reads 4095 counts of 4095: saturated"));
  CHECK(std::get<Registers>(bench.rig.transactions[0].order) == Registers{16, 4, {}, true});

  DeviceFault dead;
  dead.kind = DeviceFaultKind::fail;
  bench.rig.model->inject(bench.rig.now, dead);
  CHECK(bench.read().empty());
  CHECK_THAT(bench.fault(), Catch::Contains("channel 0 reads 0 counts, in the dark it reads 40"));
}

TEST_CASE("a_photodiode_bank_that_cannot_tell_light_from_darkness_is_refused") {
  const auto refusal = [](std::vector<DeviceSetting> profile) {
    const Fabric fabric = Bench::fabric_with_monitor("photodiode_bank", std::move(profile), {});
    return kPhotodiodeBank.model.refuse(fabric, fabric.devices[0]);
  };
  CHECK(refusal({}).empty());
  CHECK_THAT(refusal({{"full_scale_current", 1e-3}}), Catch::Contains("judged by -18.00 dBm to 2.00 dBm"));
  CHECK_THAT(refusal({{"full_scale_counts", std::int64_t{255}}, {"full_scale_current", 0.5}}), Catch::Contains("one count"));
  CHECK_THAT(refusal({{"zero_counts", std::int64_t{4'095}}}), Catch::Contains("zero_counts 4095 is not below"));
  CHECK_THAT(refusal({{"register_base", std::int64_t{65'533}}}), Catch::Contains("no room for 4 channels"));
}

TEST_CASE("a_power_meter_reads_watts_and_its_channels_by_their_slots") {
  for (const std::int64_t unit : {0, 1}) {
    Bench bench("power_meter", {{"unit", unit}, {"query", std::int64_t{3}}}, "S1234");
    bench.arriving[0] = {{kHere, Dbm{-1'234}}};
    REQUIRE(bench.read().size() == 1);
    CHECK(is_near(bench.read()[0].power, Dbm{-1'234}, 5));
    CHECK(bench.rig.driver->observe().identity.serial == "S1234");
    const auto& asked = std::get<Frame>(bench.rig.transactions[1].order).request;
    CHECK(std::string(asked.begin(), asked.end()) == ":READ1:POW?\n");
  }
}

TEST_CASE("both_dialects_of_a_spectrum_find_every_peak_where_it_is") {
  for (const std::int64_t answers : {0, 1}) {
    INFO("answers " << answers);
    Bench bench("osa", {{"answers", answers}});
    bench.arriving[0] = {{kHere, Dbm{-500}}, {kHere + FrequencyOffset{200'000}, Dbm{-1'500}}};
    const auto lights = bench.read();
    REQUIRE(lights.size() == 2);
    const std::int64_t off = answers == 0 ? 200 : 1'000;  // MHz: a wavemeter's noise; a trace with points 2.5 GHz apart
    CHECK(std::llabs(lights[0].frequency.mhz - kHere.mhz) <= off);
    CHECK(std::llabs(lights[1].frequency.mhz - kHere.mhz - 200'000) <= off);
    CHECK(is_near(lights[0].power, Dbm{-500}, 60));
    CHECK(is_near(lights[1].power, Dbm{-1'500}, 60));
  }
}

/// The driver's answers come from here instead of the model.
void answer(Bench& bench, std::map<std::string, std::string> replies) {
  bench.rig.wire = [replies = std::move(replies)](const Transaction& transaction) -> std::optional<BusReply> {
    const auto& request = std::get<Frame>(transaction.order).request;
    const auto found = replies.find(std::string(request.begin(), request.end() - 1));
    if (found == replies.end()) {
      return std::nullopt;
    }
    BusReply reply;
    const std::string text = found->second + "\n";
    reply.bytes.assign(text.begin(), text.end());
    return reply;
  };
}

TEST_CASE("what_a_meter_says_instead_of_a_power_is_named") {
  Bench above("power_meter");
  answer(above, {{"READ?", "9.9E37"}});
  REQUIRE(above.read().size() == 1);
  CHECK(above.read()[0].power == kAboveRange);
  CHECK_THAT(above.fault(), Catch::Contains("channel 0 is above its range: saturated"));

  Bench dark("power_meter");
  answer(dark, {{"READ?", "-9.9E+37"}});
  CHECK(dark.read().empty());

  Bench unknown("power_meter");
  answer(unknown, {{"READ?", "9.91E37"}});
  unknown.rig.poll();
  CHECK(unknown.rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(unknown.fault(), Catch::Contains("channel 0 reads no number"));

  Bench deaf("power_meter");
  answer(deaf, {{"READ?", "what?"}, {":SYST:ERR?", "-113,\"Undefined header\""}});
  deaf.rig.poll();
  CHECK(deaf.rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(deaf.fault(), Catch::Contains("\"what?\" for an answer") && Catch::Contains("-113 \"Undefined header\""));
}

TEST_CASE("a_meter_of_another_serial_number_is_refused_and_lists_that_do_not_fit_are_no_reading") {
  Bench other("power_meter", {}, "S1");
  answer(other, {{"*IDN?", "Maker,PM,S2,1.0"}});
  other.rig.poll();
  CHECK(other.rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(other.fault(), Catch::Contains("says serial number \"S2\", the fabric says \"S1\""));

  Bench odd("osa");
  answer(odd, {{":READ:ARR:POW:FREQ?", "2,1.931E14,1.932E14"}, {":FETC:ARR:POW?", "1,-10"}});
  odd.rig.poll();
  CHECK(odd.rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(odd.fault(), Catch::Contains("tells 2 frequencies and 1 powers"));
}

TEST_CASE("a_monitor_that_lies_tells_for_ever_what_it_measured_once") {
  Bench bench("power_meter");
  bench.arriving[0] = {{kHere, Dbm{-500}}};
  REQUIRE(bench.read().size() == 1);
  DeviceFault lie;
  lie.kind = DeviceFaultKind::false_readback;
  bench.rig.model->inject(bench.rig.now, lie);
  bench.arriving[0].clear();
  REQUIRE(bench.read().size() == 1);
  CHECK(is_near(bench.read()[0].power, Dbm{-500}, 20));
}

TEST_CASE("a_silent_or_garbling_monitor_gives_up_with_its_cause") {
  for (const std::string model : {"photodiode_bank", "power_meter", "osa"}) {
    for (const DeviceFaultKind kind : {DeviceFaultKind::silence, DeviceFaultKind::garbage}) {
      INFO(model);
      Bench bench(model);
      DeviceFault fault;
      fault.kind = kind;
      fault.until = bench.rig.now + std::chrono::seconds{60};
      bench.rig.model->inject(bench.rig.now, fault);
      bench.rig.poll();
      const bool failed = bench.rig.driver->activity() == DriverActivity::failed;
      CHECK((failed || kind == DeviceFaultKind::garbage));  // a digit that is flipped is a number still
      CHECK((!failed || !bench.fault().empty()));
      bench.rig.now = fault.until;
      bench.rig.poll();
      CHECK(bench.rig.driver->activity() != DriverActivity::failed);
      CHECK(bench.fault().empty());
    }
  }
}

TEST_CASE("peaks_are_found_between_points_at_the_ends_and_above_the_floor_only") {
  CHECK_FALSE(scpi::find_peaks({1e-6}, {}, Dbm{-6'000}, Db{300}).has_value());
  CHECK_FALSE(scpi::find_peaks({2e-6, 1e-6}, {0, 0}, Dbm{-6'000}, Db{300}).has_value());
  CHECK_FALSE(scpi::find_peaks({1.0, 2.0}, {0, 0}, Dbm{-6'000}, Db{300}).has_value());
  const std::vector<double> wavelengths{1.55e-6, 1.551e-6, 1.552e-6, 1.553e-6, 1.554e-6};
  const auto two = scpi::find_peaks(wavelengths, {-10, -50, -12, -50, -70}, Dbm{-6'000}, Db{300});
  REQUIRE(two);
  REQUIRE(two->size() == 2);
  CHECK((*two)[1].power == Dbm{-1'000});
  CHECK((*two)[0].frequency.mhz == 193'165'244);  // c / 1552 nm
  const auto none = scpi::find_peaks(wavelengths, {-80, -75, -70, -75, -80}, Dbm{-6'000}, Db{300});
  REQUIRE(none);
  CHECK(none->empty());
}

}  // namespace
}  // namespace loom
