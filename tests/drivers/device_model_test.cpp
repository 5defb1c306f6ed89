// SPDX-License-Identifier: Apache-2.0
// Device models by themselves: light follows commands late, faults show in light, and equal seeds give equal bytes.
#include "core/digest.hpp"
#include "drivers/transceiver/itla_frame.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using itla::Register;

struct Bare {
  Fabric fabric = ocs_fabric();
  std::unique_ptr<SimulatedDevice> model;
  Instant now = instant_from_ns(1'000'000);

  explicit Bare(const char* device, SimDeviceOptions options = {})
      : model(make_simulated_device(fabric, device_named(fabric, device), options)) {}

  ModelReply send(decltype(Transaction::order) order, Duration deadline = std::chrono::milliseconds{500}) {
    const ModelReply answer = model->execute(now, {model->device(), 1, std::move(order), deadline});
    now += answer.service_time;
    return answer;
  }
  itla::Response itla(bool write, Register reg, std::uint16_t data = 0) {
    const auto bytes = encode(itla::Request{write, reg, data});
    const auto answer = send(Frame{{bytes.begin(), bytes.end()}, 4, {}});
    return itla::decode_response(answer.reply.bytes).value();
  }
  std::string line(const std::string& text, const char* terminator = "\r\n") {
    const auto answer = send(Frame{{text.begin(), text.end()}, 0, terminator});
    return {answer.reply.bytes.begin(), answer.reply.bytes.end()};
  }
  void wait(Duration span) { now += span; }
};

TEST_CASE("laser_model_powers_up_dark") {
  Bare bare("laser-0");
  CHECK(std::get<LaserLight>(bare.model->light(Instant{})) == LaserLight{});
  CHECK(static_cast<std::int16_t>(bare.itla(false, Register::oop).data) == -5'000);
}

TEST_CASE("laser_model_tuned_while_lit_shines_at_wrong_frequencies") {
  Bare bare("laser-0");
  bare.itla(true, Register::grid, 1'000);
  bare.itla(true, Register::enable, 8);
  bare.wait(std::chrono::milliseconds{5});
  bare.model->take_changes();
  CHECK(bare.itla(true, Register::channel, 4).status == itla::Status::pending);
  const auto changes = bare.model->take_changes();
  REQUIRE(changes.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto light = std::get<LaserLight>(changes[i].state);
    CHECK(light.emitting);
    CHECK(light.frequency > Frequency{191'400'000});
    CHECK(light.frequency < Frequency{191'700'000});
  }
  CHECK(std::get<LaserLight>(changes[4].state).frequency == Frequency{191'700'000});
  CHECK((bare.itla(false, Register::nop).data & itla::kNopPending) != 0);
  CHECK((bare.itla(false, Register::status_fatal).data & itla::kStatusFrequency) != 0);
  bare.wait(std::chrono::milliseconds{20});
  CHECK((bare.itla(false, Register::nop).data & itla::kNopPending) == 0);
}

TEST_CASE("laser_model_acknowledges_before_it_is_dark") {
  Bare bare("laser-0");
  bare.itla(true, Register::enable, 8);
  bare.wait(std::chrono::milliseconds{5});
  bare.model->take_changes();
  bare.itla(true, Register::enable, 0);
  const auto changes = bare.model->take_changes();
  REQUIRE(changes.size() == 1);
  CHECK_FALSE(std::get<LaserLight>(changes[0].state).emitting);
  CHECK(changes[0].at > bare.now - std::chrono::microseconds{347});  // after the request's last byte
}

TEST_CASE("laser_model_refuses_what_a_module_refuses") {
  Bare bare("laser-0");
  const auto error = [&] { return static_cast<itla::NopError>(bare.itla(false, Register::nop).data & itla::kNopError); };
  CHECK(bare.itla(true, Register::channel, 0).status == itla::Status::execution_error);
  CHECK(error() == itla::NopError::out_of_range);
  CHECK(error() == itla::NopError::none);  // reading clears it
  bare.itla(true, Register::enable, 8);
  CHECK(bare.itla(true, Register::fcf2, 4'500).status == itla::Status::execution_error);
  CHECK(error() == itla::NopError::output_enabled);
  bare.itla(true, Register::channel, 3);
  CHECK(bare.itla(true, Register::channel, 4).status == itla::Status::execution_error);
  CHECK(error() == itla::NopError::pending);
  CHECK(bare.itla(true, Register::power, 5'000).status == itla::Status::execution_error);
  CHECK(bare.itla(true, Register::oop, 5'000).status == itla::Status::execution_error);
}

TEST_CASE("laser_model_says_that_it_could_not_read_a_damaged_request") {
  Bare bare("laser-0");
  const auto answer = bare.send(Frame{{0x81, 0x32, 0x00, 0x09}, 4, {}});
  CHECK(itla::decode_response(answer.reply.bytes)->communication_error);
  CHECK_FALSE(std::get<LaserLight>(bare.model->light(bare.now + std::chrono::seconds{1})).emitting);
}

TEST_CASE("wire_time_follows_the_baud_rate") {
  SimDeviceOptions slow;
  slow.serial_baud = 9'600;
  Bare bare("laser-0", slow);
  const Instant began = bare.now;
  bare.itla(false, Register::nop);
  CHECK(bare.now - began >= std::chrono::microseconds{8'333});
  CHECK(Bare("laser-0", slow).send(Frame{{0, 0, 0, 0}, 4, {}}, std::chrono::milliseconds{5}).reply.status ==
        BusStatus::timeout);
}

TEST_CASE("heater_model_moves_its_resonance_by_v_squared_over_r") {
  Bare bare("heater-0");
  const Frequency cold = std::get<RingLight>(bare.model->light(Instant{})).resonances[0];
  bare.send(Registers{0, 0, {5'000}});
  const auto changes = bare.model->take_changes();
  REQUIRE(changes.size() == 7);
  Frequency previous = cold;
  for (const OpticalChange& change : changes) {
    const Frequency resonance = std::get<RingLight>(change.state).resonances[0];
    CHECK(resonance < previous);
    previous = resonance;
  }
  CHECK(previous == cold - FrequencyOffset{925'000});  // 25 mW at 37 GHz/mW
}

TEST_CASE("heater_model_answers_with_modbus_exceptions") {
  Bare bare("heater-0");
  CHECK(bare.send(Registers{1, 1, {}}).reply == bus_reply(BusStatus::exception, 2));
  CHECK(bare.send(Registers{0, 0, {10'001}}).reply == bus_reply(BusStatus::exception, 3));
  bare.model->inject(bare.now, {.kind = DeviceFaultKind::nack});
  CHECK(bare.send(Registers{0, 1, {}}).reply == bus_reply(BusStatus::nack, 6));
}

TEST_CASE("wss_model_refuses_in_its_own_words") {
  Bare bare("wss-out-0");
  for (const char* line : {"HELLO\r\n", "SET?\r\n", "UCA?\r\n", "DCC?x\r\n"}) {
    INFO(line);
    CHECK(bare.line(line) == "CER\r\n");
  }
  CHECK(bare.line("DCC 1=20:5\r\n") == "RER\r\n");
  CHECK(bare.line("DCC 1=5:20;2=20:30\r\n") == "RER\r\n");
  CHECK(bare.line("DCC nonsense\r\n") == "AER\r\n");
  CHECK(bare.line("DCC 1=773:773\r\n") == "RER\r\n");
  CHECK(bare.line("DCC?\r\n") == "OK\r\n");
  CHECK(bare.line("DCC 1=5:20;\r\n") == "OK\r\n");
  CHECK(bare.line("DCC?\r\n") == "1=5:20\r\nOK\r\n");
  CHECK(bare.line("UCA 2,1,0.0\r\n") == "RER\r\n");
  CHECK(bare.line("URA 1,3,0.0\r\n") == "RER\r\n");
  CHECK(bare.line("UCA 1,1,20.0\r\n") == "VER\r\n");
  CHECK(bare.line("RRA?\r\n") == "1,99,99.9\r\nOK\r\n");
  CHECK(bare.line("RSW\r\n") == "AER\r\n");  // nothing was prepared
}

TEST_CASE("wss_model_shows_a_prepared_pattern_when_it_is_told_to_and_reads_back_what_was_commanded") {
  Bare bare("wss-out-0");
  REQUIRE(bare.line("DCC 1=5:20;2=21:36\r\n") == "OK\r\n");
  REQUIRE(bare.line("UCA 2,2,0.0\r\n") == "OK\r\n");
  CHECK(bare.line("URA 1,1,3.0\r\n") == "OK\r\n");
  CHECK(bare.line("RRA?\r\n") == "1,99,99.9;2,2,0.0\r\nOK\r\n");  // unseen
  CHECK(bare.line("RSW\r\n") == "OK\r\n");
  CHECK(bare.line("RRA?\r\n") == "1,1,3.0;2,99,99.9\r\nOK\r\n");  // at once, though light moves; a pattern is of all channels
  CHECK_FALSE(std::get<WssLight>(bare.model->light(bare.now)).moving.empty());
  CHECK(bare.line("RSW\r\n") == "AER\r\n");
  REQUIRE(bare.line("URA 1,2,0.0;2,2,0.0\r\n") == "OK\r\n");
  REQUIRE(bare.line("DCC 1=5:36\r\n") == "OK\r\n");
  CHECK(bare.line("RSW\r\n") == "AER\r\n");  // it was for another grid
  CHECK(bare.line("OSS?\r\n") == "0x0000\r\nOK\r\n");
  CHECK(bare.line("^OSS?$FECC\r\n") == "^0x0000$FE98\r\n^OK$FF66\r\n");  // in the form of the question
}

TEST_CASE("wss_model_of_wide_slices_counts_386") {
  SimDeviceOptions options;
  options.wss_slices = 386;
  Bare bare("wss-out-0", options);
  CHECK(bare.line("DCC 1=387:387\r\n") == "RER\r\n");
  CHECK(bare.line("DCC 1=3:10;2=386:386\r\n") == "OK\r\n");
  CHECK(bare.line("UCA 1,1,0.0\r\n") == "OK\r\n");
  bare.wait(std::chrono::milliseconds{150});
  CHECK(std::get<WssLight>(bare.model->light(bare.now)).routes == std::vector<WssRoute>{{{-272, 8}, 0, 0, Db{0}}});
}

TEST_CASE("ocs_model_succeeds_in_silence_and_queues_its_errors") {
  Bare bare("ocs");
  const auto line = [&](const std::string& text) { return bare.line(text + "\n", "\n"); };
  CHECK(bare.send(Frame{{'*', 'c', 'l', 's', '\n'}, 0, "\n"}).reply.status == BusStatus::timeout);
  CHECK(line("*idn?").starts_with("Polatis,I-OST-4x4-"));
  CHECK(line(":oxc:swit:size?") == "4,4\n");
  CHECK(line(":OXC:SWITCH:CONNECT:STATE?") == "(@),(@)\n");
  CHECK(line(":oxc:swit:conn:add (@1,2),(@6,5);*opc?") == "1\n");
  CHECK(line(":oxc:swit:conn:stat?") == "(@),(@)\n");  // under way
  bare.wait(std::chrono::milliseconds{25});
  CHECK(line(":oxc:swit:conn:stat?") == "(@1,2),(@6,5)\n");
  CHECK(line(":oxc:swit:conn:port? 2;:oxc:swit:conn:port? 6;:oxc:swit:conn:port? 3") == "\"5\";\"1\";\"\"\n");
  CHECK(line(":syst:err:all?") == "0,\"No error\"\n");
  CHECK(line(":oxc:swit:conn:add (@3,1),(@7,8);*opc?") == "1\n");  // 1 is taken: none of the batch is done
  CHECK(line(":oxc:swit:conn:add (@3),(@9);*opc?") == "1\n");
  CHECK(line(":oxc:swit:conn:sub (@4),(@8);*opc?") == "1\n");
  CHECK(line(":oxc:swit:conn:add (@3,4),(@8);*opc?") == "1\n");
  CHECK(line(":oxc:swit:conn:tie (@3),(@7);*opc?") == "1\n");
  CHECK(line(":oxc:swit:conn:stat?") == "(@1,2),(@6,5)\n");
  CHECK(line(":syst:err?") == "-221,\"Settings conflict\"\n");
  CHECK(line(":syst:err:all?") ==
        "-222,\"Data out of range\",-221,\"Settings conflict\",-220,\"Parameter error\",-113,\"Undefined header\"\n");
  CHECK(line(":oxc:swit:conn:sub (@1),(@);*opc?") == "1\n");
  bare.wait(std::chrono::milliseconds{25});
  CHECK(line(":oxc:swit:conn:stat?") == "(@2),(@5)\n");
  CHECK(line(":oxc:swit:conn:only (@4,3),(@7,8);*opc?") == "1\n");
  bare.wait(std::chrono::milliseconds{25});
  CHECK(line(":oxc:swit:conn:stat?") == "(@3,4),(@8,7)\n");
  CHECK(line("*RST;*opc?") == "1\n");
  bare.wait(std::chrono::milliseconds{25});
  CHECK(line(":oxc:swit:conn:stat?") == "(@),(@)\n");
}

TEST_CASE("faults_begin_and_end_in_light") {
  Bare bare("laser-0");
  bare.itla(true, Register::enable, 8);
  bare.wait(std::chrono::milliseconds{5});
  bare.model->take_changes();
  const Instant end = bare.now + std::chrono::milliseconds{100};
  bare.model->inject(bare.now, {.kind = DeviceFaultKind::drift, .until = end, .offset = FrequencyOffset{16'000}});
  const auto drift = bare.model->take_changes();
  REQUIRE(drift.size() == 16);  // fifteen steps up, and back
  CHECK(std::get<LaserLight>(drift[14].state).frequency == Frequency{191'415'000});
  CHECK(drift[15].at == end);
  CHECK(std::get<LaserLight>(drift[15].state).frequency == Frequency{191'400'000});
  bare.wait(std::chrono::milliseconds{200});
  bare.model->inject(bare.now, {.kind = DeviceFaultKind::fail, .until = bare.now + std::chrono::milliseconds{1}});
  CHECK(bare.model->take_changes().size() == 2);
}

TEST_CASE("hidden_detuning_is_in_the_light_and_not_in_the_registers") {
  Bare bare("laser-0");
  bare.itla(true, Register::enable, 8);
  bare.wait(std::chrono::milliseconds{5});
  bare.model->inject(bare.now, {.kind = DeviceFaultKind::detune, .offset = FrequencyOffset{50'000}, .hidden = true});
  CHECK(std::get<LaserLight>(bare.model->light(bare.now)).frequency == Frequency{191'450'000});
  CHECK(bare.itla(false, Register::lf2).data == 4'000);
}

TEST_CASE("a_change_that_was_overtaken_is_replaced_under_a_higher_generation") {
  Bare bare("laser-0");
  bare.itla(true, Register::enable, 8);
  const auto coming = bare.model->take_changes();
  REQUIRE(coming.size() == 1);
  CHECK(coming[0].at > bare.now);
  bare.itla(true, Register::enable, 0);  // before the light ever came on
  const auto overtaken = bare.model->take_changes();
  CHECK(bare.model->light(bare.now + std::chrono::seconds{1}) == OpticalState{LaserLight{}});
  REQUIRE(overtaken.size() == 1);
  CHECK(overtaken[0].generation > coming[0].generation);
  CHECK(overtaken[0].state == OpticalState{LaserLight{}});
}

TEST_CASE("equal_seeds_give_equal_light_and_other_seeds_other_light") {
  const auto digest_of = [](std::uint64_t seed) {
    SimDeviceOptions options;
    options.seed = seed;
    Rig rig(small_fabric(), DeviceId{0}, options);
    rig.fire(TransmitterSetpoint{{-256, 8}, Dbm{0}, true});
    rig.fire(TransmitterSetpoint{{-240, 8}, Dbm{0}, true});
    Digest digest;
    for (const OpticalChange& change : rig.light.changes()) {
      digest.add(static_cast<std::uint64_t>(ns_of(change.at)));
    }
    return digest.value();
  };
  CHECK(digest_of(7) == digest_of(7));
  CHECK(digest_of(7) != digest_of(8));
}

}  // namespace
}  // namespace loom
