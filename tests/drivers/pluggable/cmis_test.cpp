// SPDX-License-Identifier: Apache-2.0
// CMIS: pages against the bytes of a real 400ZR, the driver against a module that refuses, and each module that is refused.
#include "drivers/pluggable/cmis.hpp"

#include "sim_backend/devices/pluggable/cmis_model.hpp"
#include "tests/drivers/subjects.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

void put(std::vector<std::uint8_t>& page, unsigned byte, int value) {
  page[byte - 128] = static_cast<std::uint8_t>(value >> 8 & 0xFF);
  page[byte - 127] = static_cast<std::uint8_t>(value & 0xFF);
}

/// Page 04h of a QSFP-DD 400ZR as public dumps have it: bytes 128 and 129, ranges of 50, 75 and 100 GHz, fine tuning, powers
/// and checksum are the module's; the finer grids follow from the same band.
std::vector<std::uint8_t> page_of_a_400zr() {
  std::vector<std::uint8_t> page(128);
  page[0] = 0xFF;
  page[1] = 0x80;
  const int lowest[] = {-576, -288, -144, -72, -36, -18, -54, -72};
  const int highest[] = {960, 480, 240, 120, 60, 30, 90, 120};
  for (unsigned i = 0; i < 8; ++i) {
    put(page, 130 + 4 * i, lowest[i]);
    put(page, 132 + 4 * i, highest[i]);
  }
  put(page, 190, 10);
  put(page, 192, -6'000);
  put(page, 194, 6'000);
  page[196 - 128] = 0x80;
  put(page, 198, -1'400);
  put(page, 200, -1'000);
  page[127] = 0xDF;
  return page;
}

struct ModuleRig {
  Rig rig;
  CmisModel* model;

  /// The fabric promises what subjects.hpp has; the module is what `change` makes of it.
  explicit ModuleRig(const std::function<void(CmisModule&)>& change = {}, const std::string& serial = {})
      : rig(fabric(serial), DeviceId{0}), model(nullptr) {
    const auto& transmitter = std::get<Transmitter>(rig.fabric.element(rig.fabric.device(DeviceId{0}).elements.front()).kind);
    CmisModule module = module_for(transmitter);
    if (change) {
      change(module);
    }
    SimDeviceOptions options;
    options.keep_actuations = true;
    auto made = std::make_unique<CmisModel>(rig.fabric.device(DeviceId{0}), transmitter, module, options);
    model = made.get();
    rig.model = std::move(made);
  }

  static Fabric fabric(const std::string& serial) {
    Fabric fabric = small_fabric();
    fabric.devices[0].model = "cmis";
    fabric.devices[0].serial = serial;
    suit(std::get<Transmitter>(fabric.elements[fabric.devices[0].elements.front().value].kind), "cmis");
    return fabric;
  }
  void expect_refusal(const std::string& words) {
    rig.fire(lit(1));
    CHECK(rig.driver->activity() == DriverActivity::failed);
    CHECK_THAT(rig.driver->observe().fault, Catch::StartsWith("laser-0: ") && Catch::Contains(words));
    CHECK(std::get<LaserLight>(model->light(rig.now + std::chrono::minutes{10})) == LaserLight{});
    CHECK_FALSE(rig.driver->check(lit(1)).has_value());  // it is known now
    CHECK_THAT(rig.driver->check(lit(1)).error().message, Catch::Contains(words));
  }
  static TransmitterSetpoint lit(std::int32_t channel) { return {slot_of(channel), Dbm{0}, true}; }
  static TransmitterSetpoint dark(std::int32_t channel) { return {slot_of(channel), Dbm{0}, false}; }
  std::vector<std::uint32_t> written() const {
    std::vector<std::uint32_t> offsets;
    for (const Actuation& each : rig.model->actuations()) {
      offsets.push_back(each.address);
    }
    return offsets;
  }
};

constexpr std::uint32_t kDisable = cmis::at(cmis::Page::control, cmis::kOutputDisable);
constexpr std::uint32_t kDeinit = cmis::at(cmis::Page::control, cmis::kDeinit);
constexpr std::uint32_t kApply = cmis::at(cmis::Page::control, cmis::kApplyInit);
constexpr std::uint32_t kGrid = cmis::at(cmis::Page::tuning, cmis::kGridByte);
constexpr std::uint32_t kChannel = cmis::at(cmis::Page::tuning, cmis::kChannel);
constexpr std::uint32_t kPower = cmis::at(cmis::Page::tuning, cmis::kTargetPower);

}  // namespace

TEST_CASE("page_04h_of_a_real_400zr_reads_as_its_limits") {
  std::vector<std::uint8_t> page = page_of_a_400zr();
  CHECK(cmis::checksum_of(page) == 0xDF);
  const auto limits = cmis::read_limits(page);
  REQUIRE(limits.has_value());
  CHECK(limits->channels[static_cast<std::size_t>(cmis::Grid::ghz50)] == cmis::Range16{-36, 60});
  CHECK(limits->channels[static_cast<std::size_t>(cmis::Grid::ghz75)] == cmis::Range16{-72, 120});
  CHECK_FALSE(limits->channels[static_cast<std::size_t>(cmis::Grid::ghz150)].has_value());
  CHECK(limits->has_fine);
  CHECK(limits->fine_step == 10);
  CHECK(limits->fine == cmis::Range16{-6'000, 6'000});
  CHECK(limits->power == cmis::Range16{-1'400, -1'000});
  page[30] ^= 1;
  CHECK_FALSE(cmis::read_limits(page).has_value());
}

TEST_CASE("page_12h_of_a_real_400zr_reads_as_196_1_thz") {
  std::vector<std::uint8_t> page(96);
  page[0] = 0x50;
  put(page, 136, 30);
  put(page, 168, 0x0BB0);
  put(page, 170, 0x3FA0);  // 196,100,000
  put(page, 200, -1'000);
  const auto tuning = cmis::read_tuning(page, 0);
  REQUIRE(tuning.has_value());
  CHECK(tuning->current == Frequency{196'100'000});
  CHECK(cmis::frequency_of(cmis::Grid::ghz100, tuning->channel) == tuning->current);
  CHECK(tuning->grid() == static_cast<unsigned>(cmis::Grid::ghz100));
  CHECK(tuning->power == -1'000);
}

TEST_CASE("durations_of_a_real_400zr_are_minutes") {
  std::vector<std::uint8_t> page(128);
  page[144 - 128] = 0x5A;
  page[167 - 128] = 0x57;
  page[168 - 128] = 0x59;
  const auto told = cmis::read_advertised(page);
  REQUIRE(told.has_value());
  CHECK(told->deinit == milliseconds{500});
  CHECK(told->init == std::chrono::minutes{5});
  CHECK(told->power_up == std::chrono::seconds{5});
  CHECK(told->turn_off == milliseconds{500});
  CHECK(told->turn_on == std::chrono::minutes{1});
  CHECK(cmis::longest(0xD) == kForever);
}

TEST_CASE("channel_numbers_are_those_of_the_standard") {
  using cmis::Grid;
  CHECK(cmis::frequency_of(Grid::ghz50, -36) == Frequency{191'300'000});
  CHECK(cmis::frequency_of(Grid::ghz75, 120) == Frequency{196'100'000});
  CHECK_FALSE(cmis::frequency_of(Grid::ghz75, 1).has_value());
  CHECK(cmis::frequency_of(Grid::ghz150, 6) == Frequency{193'325'000});
  CHECK(cmis::frequency_of(Grid::ghz300, 24) == Frequency{193'287'500});
  CHECK(cmis::frequency_of(Grid::ghz33, 3) == Frequency{193'200'000});
  for (unsigned i = 0; i < cmis::kGrids; ++i) {
    for (int channel = -500; channel <= 500; ++channel) {
      if (const auto there = cmis::frequency_of(static_cast<Grid>(i), channel)) {
        CHECK(cmis::channel_of(static_cast<Grid>(i), *there) == channel);
      }
    }
  }
}

TEST_CASE("a_frequency_between_channels_is_reached_by_fine_tuning_or_not_at_all") {
  cmis::Limits limits;
  limits.channels[static_cast<std::size_t>(cmis::Grid::ghz50)] = cmis::Range16{-36, 60};
  CHECK_FALSE(cmis::choose(limits, Frequency{193'106'000}, FrequencyOffset{50'000}).has_value());
  limits.has_fine = true;
  limits.fine_step = 10;
  limits.fine = {-6'000, 6'000};
  CHECK(cmis::choose(limits, Frequency{193'106'000}, FrequencyOffset{50'000}) == cmis::Choice{cmis::Grid::ghz50, 0, 6'000});
  CHECK_FALSE(cmis::choose(limits, Frequency{193'106'010}, FrequencyOffset{50'000}).has_value());
  CHECK_FALSE(cmis::choose(limits, Frequency{193'102'005}, FrequencyOffset{50'000}).has_value());  // between its steps
}

TEST_CASE("a_cmis_module_is_darkened_deinitialised_tuned_provisioned_and_lit_in_this_order") {
  ModuleRig module;
  module.rig.fire(ModuleRig::lit(1));
  INFO(module.rig.driver->observe().fault);
  REQUIRE(module.rig.driver->activity() == DriverActivity::settled);
  CHECK(module.written() ==
        std::vector<std::uint32_t>{kDisable, kDeinit, cmis::kGlobalControl, kChannel, kPower, kApply, kDeinit, kDisable});
  const auto reading = std::get<TransmitterObservation>(module.rig.driver->observe().reading);
  CHECK(reading.frequency == centre_of(slot_of(1)));
  CHECK(reading.locked);
  CHECK(reading.emitting);
  CHECK_FALSE(reading.received.has_value());
  CHECK(module.rig.driver->observe().identity.serial == "SIM0001");
}

TEST_CASE("a_lit_cmis_module_changes_its_channel_within_its_lead_and_is_dark_meanwhile") {
  ModuleRig module;
  module.rig.fire(ModuleRig::lit(1));
  const std::size_t before = module.rig.writes();
  const std::size_t lights = module.rig.light.changes().size();
  const Instant began = module.rig.now;
  module.rig.fire(ModuleRig::lit(3));
  REQUIRE(module.rig.driver->activity() == DriverActivity::settled);
  CHECK(module.rig.now - began <= module.rig.driver->lead(ModuleRig::lit(3)));
  const auto written = module.written();
  CHECK(std::vector<std::uint32_t>(written.begin() + static_cast<std::ptrdiff_t>(before), written.end()) ==
        std::vector<std::uint32_t>{kDisable, kDeinit, kChannel, kDeinit, kDisable});
  REQUIRE(module.rig.light.changes().size() > lights);
  CHECK(std::get<LaserLight>(module.rig.light.changes()[lights].state) == LaserLight{});
}

TEST_CASE("a_cmis_module_is_blanked_by_one_write_after_nothing_else") {
  ModuleRig module;
  module.rig.fire(ModuleRig::lit(1));
  const std::size_t before = module.rig.transactions.size();
  const std::size_t writes = module.rig.writes();
  module.rig.fire(ModuleRig::dark(1));
  REQUIRE(module.rig.driver->activity() == DriverActivity::settled);
  CHECK(module.rig.writes() == writes + 1);
  CHECK(std::get<BytesAt>(module.rig.transactions[before].order) == BytesAt{kDisable, 0, {0x01}});
}

TEST_CASE("a_setpoint_that_a_cmis_module_has_already_writes_nothing") {
  ModuleRig module;
  module.rig.fire(ModuleRig::lit(1));
  const std::size_t writes = module.rig.writes();
  module.rig.fire(ModuleRig::lit(1));
  CHECK(module.rig.driver->activity() == DriverActivity::settled);
  CHECK(module.rig.writes() == writes);
}

TEST_CASE("a_cmis_module_that_lights_itself_at_power_up_is_cut_before_it_is_tuned") {
  ModuleRig module([](CmisModule& made) { made.starts_low = false; });
  module.rig.now = instant_from_ns(0) + std::chrono::seconds{10};
  REQUIRE(std::get<LaserLight>(module.model->light(module.rig.now)).emitting);  // its defaults do that
  module.rig.fire(ModuleRig::lit(2));
  REQUIRE(module.rig.driver->activity() == DriverActivity::settled);
  CHECK(module.written().front() == kDisable);
  CHECK(std::get<LaserLight>(module.model->light(module.rig.now)).frequency == centre_of(slot_of(2)));
}

TEST_CASE("cmis_modules_that_cannot_do_it_are_refused_dark_and_by_name") {
  SECTION("flat") {
    ModuleRig([](CmisModule& made) { made.is_flat = true; }).expect_refusal("has flat memory (byte 2.7)");
  }
  SECTION("fixed") {
    ModuleRig([](CmisModule& made) { made.is_tunable = false; }).expect_refusal("not tunable (01h:155.6");
  }
  SECTION("slow to tune") {
    ModuleRig([](CmisModule& made) {
      made.init = 0xA;
    }).expect_refusal("300000.000 ms for DPInit (01h:144), and the fabric has retune_max 60.000 ms");
  }
  SECTION("without an end") {
    ModuleRig([](CmisModule& made) { made.init = 0xD; }).expect_refusal("50 minutes or more for DPInit");
  }
  SECTION("slow to light") {
    ModuleRig([](CmisModule& made) { made.turn_on = 5; }).expect_refusal("500.000 ms for DPTxTurnOn (01h:168), and the fabric");
  }
  SECTION("slow to go dark") {
    ModuleRig([](CmisModule& made) { made.turn_off = 4; }).expect_refusal("blank_max 5.000 ms");
  }
  SECTION("another one") {
    ModuleRig other({}, "ZR4711");
    other.rig.poll();
    other.rig.poll();
    CHECK(other.rig.driver->activity() == DriverActivity::failed);
    CHECK_THAT(other.rig.driver->observe().fault, Catch::Contains("serial number") && Catch::Contains("'ZR4711'"));
    CHECK_FALSE(other.rig.driver->check(other.lit(1)).has_value());
    CHECK(std::get<LaserLight>(other.model->light(other.rig.now)) == LaserLight{});
  }
  SECTION("no such channel") {
    ModuleRig([](CmisModule& made) {
      made.limits.channels.fill(std::nullopt);
      made.limits.channels[5] = cmis::Range16{0, 30};
    }).expect_refusal("none that the module reaches: 100 GHz from 193.10000 THz to 196.10000 THz (page 04h)");
  }
  SECTION("too weak") {
    ModuleRig([](CmisModule& made) {
      made.limits.power = {-1'400, -1'000};
    }).expect_refusal("power 0.00 dBm is outside what the module has, -14.00 dBm to -10.00 dBm");
  }
}

TEST_CASE("a_cmis_module_beside_its_channel_is_told_by_an_audit_and_not_settled") {
  ModuleRig module;
  module.rig.fire(ModuleRig::lit(1));
  module.rig.model->inject(module.rig.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{20'000}});
  module.rig.poll();
  CHECK(module.rig.driver->activity() == DriverActivity::idle);
  CHECK_THAT(module.rig.driver->observe().fault,
             Catch::Contains("emits at 191.52000 THz, 20.000 GHz off 191.50000 THz, and is unlocked"));
}

TEST_CASE("the_receiver_of_a_cmis_module_tells_what_arrives") {
  ModuleRig module([](CmisModule& made) { made.received = Dbm{-1'000}; });
  module.rig.poll();
  const auto reading = std::get<TransmitterObservation>(module.rig.driver->observe().reading);
  CHECK(reading.received == Dbm{-1'000});
}

TEST_CASE("the_cmis_model_refuses_as_the_standard_has_it") {
  ModuleRig module;
  module.rig.fire(ModuleRig::lit(1));
  Instant now = module.rig.now + milliseconds{100};
  const auto send = [&](BytesAt order) {
    now += milliseconds{20};  // beyond any hold-off
    return module.model->execute(now, {DeviceId{0}, kModuleAddress, std::move(order), milliseconds{500}}).reply;
  };
  const auto flags = [&] { return send({cmis::at(cmis::Page::tuning, cmis::kTuningFlags), 1, {}}).bytes.front(); };
  flags();
  CHECK(send({kChannel, 0, {0, 1}}).status == BusStatus::ok);
  CHECK(module.model->execute(now + milliseconds{1}, {DeviceId{0}, kModuleAddress, BytesAt{0, 1, {}}, milliseconds{500}})
            .reply.status != BusStatus::timeout);
  CHECK((flags() & cmis::kFlagNotAccepted) != 0);
  CHECK(flags() == 0);  // cleared by reading it
  CHECK(send({kPower, 0, {0x7F, 0xFF}}).status == BusStatus::ok);
  CHECK((flags() & cmis::kFlagPower) != 0);
  CHECK(std::get<LaserLight>(module.model->light(now)).frequency == centre_of(slot_of(1)));
  CHECK(send({0, 0, std::vector<std::uint8_t>(9)}).status == BusStatus::nack);
  const BusReply absent = send({offset_of(PageLayout::one_address, {false, 0x30, 128}), 128, {}});
  CHECK(absent.bytes == send({128, 128, {}}).bytes);  // a page that is not there reads as page 00h
}

TEST_CASE("a_module_in_its_hold_off_does_not_acknowledge") {
  ModuleRig module;
  Instant now = module.rig.now;
  unsigned refused = 0;
  for (int i = 0; i < 20; ++i) {
    const auto answer =
        module.model->execute(now, {DeviceId{0}, kModuleAddress, BytesAt{kDisable, 0, {0x01}}, milliseconds{500}});
    refused += answer.reply.status == BusStatus::nack ? 1U : 0U;
    now += answer.service_time + milliseconds{2};
  }
  CHECK(refused > 3);
  CHECK(refused < 20);
}

TEST_CASE("what_a_modules_receiver_makes_of_its_light_is_told_where_it_has_the_pages") {
  ModuleRig bench([](CmisModule& module) {
    module.received = Dbm{-900};
    module.osnr = Db{2'510};
    module.pre_fec_ber = 1.25e-3;
  });
  bench.rig.poll();
  const auto seen = std::get<TransmitterObservation>(bench.rig.driver->observe().reading);
  REQUIRE(seen.osnr);
  CHECK(*seen.osnr == Db{2'510});
  REQUIRE(seen.pre_fec_errors);
  CHECK(std::abs(static_cast<double>(*seen.pre_fec_errors) - 1.25e12) < 1e9);

  ModuleRig plain;
  plain.rig.poll();
  const auto without = std::get<TransmitterObservation>(plain.rig.driver->observe().reading);
  CHECK_FALSE(without.osnr);
  CHECK_FALSE(without.pre_fec_errors);
  for (const Transaction& each : plain.rig.transactions) {  // a module without such pages answers with another one
    const auto& order = std::get<BytesAt>(each.order);
    CHECK((order.offset < cmis::at(cmis::Page::observables, 128) || order.offset > cmis::at(cmis::Page::vdm, 255)));
  }
}

TEST_CASE("a_float_of_sixteen_bits_has_a_decimal_exponent") {
  CHECK(cmis::float16_of(24U << 11U | 7U) == Approx(7.0));
  CHECK(cmis::float16_of(0) == 0.0);
  for (const double ratio : {0.0, 1e-24, 4.5e-12, 1.99e-3, 0.5}) {
    CHECK(cmis::float16_of(cmis::to_float16(ratio)) == Approx(ratio).epsilon(0.003));
  }
}

TEST_CASE("an_observable_is_found_by_its_type_and_lane") {
  std::vector<std::uint8_t> observables(128);
  std::vector<std::uint8_t> samples(128);
  observables[10] = 0x31;  // threshold set 3, lane 2
  observables[11] = cmis::kOsnr;
  samples[10] = 0x01;
  samples[11] = 0x02;
  CHECK(cmis::sample_of(observables, samples, cmis::kOsnr, 1) == std::uint16_t{0x0102});
  CHECK_FALSE(cmis::sample_of(observables, samples, cmis::kOsnr, 0));
  CHECK_FALSE(cmis::sample_of(observables, samples, cmis::kPreFecBer, 1));
}

}  // namespace loom
