// SPDX-License-Identifier: Apache-2.0
// The WaveShaper driver against the WaveShaper model.
#include "drivers/wss/waveshaper.hpp"

#include "core/text/http_text.hpp"
#include "sim_backend/devices/wss/waveshaper_model.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using Asked = std::vector<std::string>;
using waveshaper::Pass;

constexpr FrequencySlot kSlots[] = {{-272, 8}, {-256, 8}, {-240, 8}, {-224, 8}};
const WavelengthSwitchSetpoint kTwoRoutes{{{kSlots[0], 0, 1, Db{0}}, {kSlots[2], 0, 0, Db{125}}}};
const WavelengthSwitchSetpoint kOther{{{kSlots[0], 0, 1, Db{0}}, {kSlots[1], 0, 1, Db{0}}}};  // neighbours at one port

Rig waveshaper_rig(const char* name = "wss-out-0", const std::function<void(Device&)>& change = {}) {
  Fabric fabric = small_fabric();
  const DeviceId device = device_named(fabric, name);
  fabric.devices[device.value].model = "waveshaper";
  if (change) {
    change(fabric.devices[device.value]);
  }
  return Rig(std::move(fabric), device);
}

WavelengthSwitchObservation seen(const Rig& rig) {
  return std::get<WavelengthSwitchObservation>(rig.driver->observe().reading);
}
WssLight light(const Rig& rig, Instant at) { return std::get<WssLight>(rig.model->light(at)); }

HttpRequest request_of(const Transaction& transaction) {
  const auto request = read_http_request(std::get<Frame>(transaction.order).request);
  REQUIRE(request.has_value());
  return *request;
}

Asked asked(const Rig& rig, std::size_t from = 0) {
  Asked all;
  for (std::size_t i = from; i < rig.transactions.size(); ++i) {
    const HttpRequest request = request_of(rig.transactions[i]);
    all.push_back(std::string(request.method) + " " + std::string(request.path.substr(request.path.rfind('/') + 1)));
  }
  return all;
}

/// Somebody else at the device's web server.
std::string say(Rig& rig, std::string_view method, std::string_view path, std::string_view body = {}) {
  const ModelReply answer =
      rig.model->execute(rig.now, {rig.model->device(), 1, http_order({method, path, body}), std::chrono::seconds{5}});
  rig.now += answer.service_time;
  const auto reply = read_http_reply(answer.reply.bytes);
  REQUIRE(reply.has_value());
  return std::string(reply->body);
}

BusReply http(int status, std::string_view reason, std::string_view body) {
  BusReply reply;
  reply.bytes = http_reply_bytes({status, reason, body});
  return reply;
}

}  // namespace

TEST_CASE("waveshaper_reads_loads_one_profile_settles_and_reads_it_back") {
  Rig rig = waveshaper_rig();
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(asked(rig) == Asked{"GET devinfo", "GET getprofile", "POST loadprofile", "GET getprofile"});
  CHECK(seen(rig).routes == kTwoRoutes.routes);
  CHECK(seen(rig).settled);
  CHECK(rig.driver->observe().proof == Proof::assumed);  // nothing looked at the light
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
  CHECK(light(rig, rig.now).moving.empty());
  const std::size_t before = rig.transactions.size();
  const Instant fired = rig.now;
  rig.fire(kOther);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(asked(rig, before) == Asked{"GET getprofile", "POST loadprofile", "GET getprofile"});
  CHECK(rig.now - fired >= std::chrono::milliseconds{100});  // the worst settling time: nothing tells a better one
  CHECK(seen(rig).routes == kOther.routes);
  CHECK(light(rig, rig.now).routes == kOther.routes);
}

TEST_CASE("waveshaper_uploads_the_whole_band_in_the_form_of_its_clients") {
  Rig rig = waveshaper_rig();
  rig.fire(kTwoRoutes);
  const HttpRequest load = request_of(rig.transactions[2]);
  CHECK(load.body.size() > 150'000);
  CHECK(load.body.size() < 170'000);
  CHECK(load.body.starts_with(R"({"type":"wsp","wsp":"191.2500\t50.0000\t0.0000\t0\n191.2510\t)"));
  // 193.1 - 272 x 6.25 GHz = 191.400 THz, 100 GHz wide
  CHECK(load.body.find(R"(191.3490\t50.0000\t0.0000\t0\n191.3500\t0.0000\t0.0000\t2\n)") != std::string::npos);
  CHECK(load.body.find(R"(191.4490\t0.0000\t0.0000\t2\n191.4500\t50.0000\t0.0000\t0\n)") != std::string::npos);
  CHECK(rig.transactions[2].deadline == std::chrono::seconds{2});
}

TEST_CASE("waveshaper_second_fire_of_the_same_setpoint_loads_nothing") {
  Rig rig = waveshaper_rig();
  rig.fire(kTwoRoutes);
  const std::size_t before = rig.transactions.size();
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(asked(rig, before) == Asked{"GET getprofile"});
}

TEST_CASE("waveshaper_cannot_hold_a_pattern_ready") {
  Rig rig = waveshaper_rig();
  CHECK_FALSE(rig.driver->can_prepare());
  rig.driver->stage(kTwoRoutes);
  rig.driver->prepare();
  rig.run();
  CHECK(rig.transactions.empty());
}

TEST_CASE("waveshaper_turned_around_maps_ports_to_inputs") {
  Rig rig = waveshaper_rig("wss-in-0");
  const WavelengthSwitchSetpoint routes{{{kSlots[0], 1, 0, Db{0}}, {kSlots[1], 0, 0, Db{100}}}};
  rig.fire(routes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig, rig.now).routes == routes.routes);
  CHECK(seen(rig).routes == routes.routes);
}

TEST_CASE("waveshaper_audit_says_who_it_is_and_finds_what_somebody_else_loaded") {
  Rig rig = waveshaper_rig();
  rig.fire(kTwoRoutes);
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().identity.serial == "SN000004");
  CHECK(rig.driver->observe().identity.description ==
        "WaveShaper simulated, release 1.0, 2 ports, 191.25000 THz to 196.27500 THz");
  say(rig, "POST", waveshaper::kLoadPath, R"({"type":"bandpass","port":1,"center":193.15,"bandwidth":0.1,"attn":2})");
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK(seen(rig).routes == std::vector<WssRoute>{{{8, 8}, 0, 0, Db{200}}});
  const std::size_t before = rig.transactions.size();
  rig.fire(kTwoRoutes);  // what it held is gone, and light may enter it
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(asked(rig, before) == Asked{"GET getprofile", "POST loadprofile", "GET getprofile"});
}

TEST_CASE("waveshaper_that_lost_what_it_keeps_says_so_and_moves_nothing") {
  Rig rig = waveshaper_rig();
  rig.fire(kTwoRoutes);
  say(rig, "POST", waveshaper::kLoadPath, R"({"type":"blockall"})");
  const std::size_t before = rig.transactions.size();
  rig.fire(kOther);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault ==
        "wss-out-0: has lost slot n=-272 m=8 to port 2 (did its power go?); nothing was moved: light may enter it still");
  CHECK(asked(rig, before) == Asked{"GET getprofile"});
  CHECK(seen(rig).routes.empty());
  rig.fire(kOther);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("waveshaper_is_not_proven_by_a_profile_that_somebody_changed_meanwhile") {
  Rig rig = waveshaper_rig();
  bool has_meddled = false;
  rig.wire = [&](const Transaction& transaction) -> std::optional<BusReply> {
    if (rig.transactions.size() == 4 && !std::exchange(has_meddled, true)) {
      CHECK(request_of(transaction).path == waveshaper::kProfilePath);
      say(rig, "POST", waveshaper::kLoadPath, R"({"type":"transmit"})");
    }
    return std::nullopt;
  };
  rig.fire(kTwoRoutes);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(has_meddled);
  CHECK(asked(rig, 3) == Asked{"GET getprofile", "POST loadprofile", "GET getprofile"});
  CHECK(light(rig, rig.now).routes == kTwoRoutes.routes);
}

TEST_CASE("waveshaper_refusals_are_told_with_their_words") {
  const auto fault_with = [](const std::function<std::optional<BusReply>(const HttpRequest&)>& answer) {
    Rig rig = waveshaper_rig();
    rig.wire = [&](const Transaction& transaction) { return answer(request_of(transaction)); };
    rig.fire(kTwoRoutes);
    CHECK(rig.driver->activity() == DriverActivity::failed);
    return rig.driver->observe().fault;
  };
  const auto to = [](std::string_view path, const BusReply& reply) {
    return [path, reply](const HttpRequest& request) { return request.path == path ? std::optional(reply) : std::nullopt; };
  };
  CHECK(fault_with(to(waveshaper::kLoadPath, http(200, "OK", R"({"rc":-5,"rctext":"invalid port","sno":"SN1"})"))) ==
        "wss-out-0: POST /waveshaper/loadprofile: refused with rc -5 (invalid port)");
  CHECK(fault_with(to(waveshaper::kInfoPath, http(404, "Not Found", ""))) ==
        "wss-out-0: GET /waveshaper/devinfo: refused with HTTP 404 Not Found");
  CHECK(fault_with(to(waveshaper::kProfilePath, http(503, "Service Unavailable", ""))) ==
        "wss-out-0: GET /waveshaper/getprofile: HTTP 503 Service Unavailable in 4 tries");
  CHECK(fault_with(to(waveshaper::kInfoPath, http(200, "OK", "<html>"))) ==
        "wss-out-0: GET /waveshaper/devinfo: an answer that is none: no JSON object in 4 tries");
  CHECK(fault_with(to(waveshaper::kProfilePath, http(200, "OK", "<html>"))) ==
        "wss-out-0: GET /waveshaper/getprofile: an answer that is none: line 1: found '<html>'; expected frequency, "
        "attenuation, phase and port in 4 tries");
  CHECK(fault_with(to(waveshaper::kInfoPath,
                      http(200, "OK", R"({"startfreq":193,"stopfreq":196,"portcount":4,"model":"WaveShaper 4000A"})"))) ==
        "wss-out-0: slot n=-272 m=8 to port 2 lies outside its band of 193.00000 THz to 196.00000 THz");
  CHECK(fault_with(to(waveshaper::kInfoPath,
                      http(200, "OK", R"({"startfreq":191,"stopfreq":196.5,"portcount":1,"model":"WaveShaper 1000A"})"))) ==
        "wss-out-0: has 1 port (WaveShaper 1000A), the fabric gives it 2");
}

TEST_CASE("waveshaper_of_another_serial_number_is_refused_with_both") {
  Rig rig = waveshaper_rig("wss-out-0", [](Device& device) { device.serial = "SN42"; });
  rig.mangle = [](BusReply& reply) {
    std::string text(reply.bytes.begin(), reply.bytes.end());
    if (const auto at = text.find("SN42"); at != std::string::npos) {
      text.replace(at, 4, "SN43");
      reply.bytes.assign(text.begin(), text.end());
    }
  };
  rig.poll();
  CHECK(rig.driver->observe().fault == "wss-out-0: its serial number is 'SN43'; the inventory expects 'SN42'");
  CHECK_FALSE(rig.driver->check(kTwoRoutes).has_value());
  rig.mangle = nullptr;
  rig.poll();
  rig.fire(kTwoRoutes);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("waveshaper_that_ignores_a_load_or_whose_optics_are_dead_is_given_up_by_name") {
  Rig stuck = waveshaper_rig();
  stuck.model->inject(stuck.now, {.kind = DeviceFaultKind::stick});
  stuck.fire(kTwoRoutes);
  CHECK(stuck.driver->observe().fault ==
        "wss-out-0: its profile does not read back as loaded, 3 times: slot n=-272 m=8 to port 2 is missing");
  Rig dead = waveshaper_rig();
  dead.model->inject(dead.now, {.kind = DeviceFaultKind::fail});
  dead.fire(kTwoRoutes);
  CHECK(dead.driver->observe().fault == "wss-out-0: POST /waveshaper/loadprofile: refused with rc -100 (optics do not answer)");
}

TEST_CASE("waveshaper_setpoints_beyond_the_device_are_refused") {
  Rig rig = waveshaper_rig();
  const auto refusal = [&](const WssRoute& route) {
    const auto checked = rig.driver->check(WavelengthSwitchSetpoint{{route}});
    return checked ? std::string("lawful") : checked.error().message;
  };
  CHECK(refusal({kSlots[0], 0, 2, Db{0}}) == "wss-out-0 slot n=-272 m=8: input 0 to output 2, limit 1 inputs, 2 outputs");
  CHECK(refusal({{-300, 8}, 0, 0, Db{0}}) == "lawful");  // it has not said its band yet
  rig.poll();
  CHECK(refusal({{-300, 8}, 0, 0, Db{0}}) == "wss-out-0 slot n=-300 m=8: outside the band of 191.25000 THz to 196.27500 THz");
  CHECK(refusal({{0, 0}, 0, 0, Db{0}}) == "wss-out-0 slot n=0 m=0: no slot of the grid");
  CHECK(refusal({{2'000'000'000, 8}, 0, 0, Db{0}}) == "wss-out-0 slot n=2000000000 m=8: no slot of the grid");
  CHECK(refusal({kSlots[0], 0, 0, Db{3'010}}) == "wss-out-0 slot n=-272 m=8: attenuation 30.1 dB, limit 30.0 dB");
  CHECK(refusal({kSlots[0], 0, 0, Db{3'000}}) == "lawful");
  CHECK_FALSE(rig.driver->check(TransmitterSetpoint{}).has_value());
  const WavelengthSwitchSetpoint both{{{{0, 8}, 0, 0, Db{0}}, {{4, 8}, 0, 1, Db{0}}}};
  CHECK(rig.driver->check(both).error().code == ErrorCode::conflict);
}

TEST_CASE("waveshaper_that_is_fired_again_while_it_loads_ends_at_the_newer_setpoint") {
  Rig rig = waveshaper_rig();
  rig.driver->stage(kTwoRoutes);
  rig.driver->fire();
  rig.wire = [&](const Transaction& transaction) -> std::optional<BusReply> {
    if (request_of(transaction).path == waveshaper::kLoadPath && rig.transactions.size() == 3) {
      rig.driver->stage(kOther);
      rig.driver->fire();
    }
    return std::nullopt;
  };
  rig.run();
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(light(rig, rig.now).routes == kOther.routes);
  CHECK(seen(rig).routes == kOther.routes);
  CHECK(asked(rig) ==
        Asked{"GET devinfo", "GET getprofile", "POST loadprofile", "GET getprofile", "POST loadprofile", "GET getprofile"});
}

TEST_CASE("waveshaper_untouched_routes_dip_while_the_hologram_reloads") {
  Rig rig = waveshaper_rig();
  rig.fire(kTwoRoutes);
  rig.driver->stage(kOther);
  rig.driver->fire();
  const std::size_t before = rig.transactions.size();
  rig.run([&] { return rig.transactions.size() == before + 2; });  // the load was answered
  const WssLight moving = light(rig, rig.now);
  REQUIRE(moving.routes.size() == 1);
  CHECK(moving.routes[0].slot == kSlots[0]);
  CHECK(moving.moving.size() == 2);
  rig.run();
  CHECK(light(rig, rig.now).routes == kOther.routes);
}

TEST_CASE("the_simulated_waveshaper_answers_what_it_does_not_know_as_a_web_server_does") {
  Rig rig = waveshaper_rig();
  const auto status = [&](std::string_view method, std::string_view path) {
    const ModelReply answer =
        rig.model->execute(rig.now, {rig.model->device(), 1, http_order({method, path}), std::chrono::seconds{5}});
    return read_http_reply(answer.reply.bytes)->status;
  };
  CHECK(status("GET", "/") == 404);
  CHECK(status("GET", waveshaper::kLoadPath) == 405);
  CHECK(status("POST", waveshaper::kInfoPath) == 405);
  CHECK(status("GET", waveshaper::kInfoPath) == 200);
}

}  // namespace loom
