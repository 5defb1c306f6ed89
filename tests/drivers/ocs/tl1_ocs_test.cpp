// SPDX-License-Identifier: Apache-2.0
// TL1: its text against the exchanges that clients of real switches document, and its drivers against their models.
#include "drivers/ocs/tl1_ocs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/drivers/rig.hpp"

namespace loom {
namespace {

using Connects = std::vector<CrossConnect>;

Rig tl1_rig(const char* model, std::vector<DeviceSetting> profile = {}, SimDeviceOptions options = {}) {
  Fabric fabric = ocs_fabric();
  const DeviceId device = device_named(fabric, "ocs");
  fabric.devices[device.value].model = model;
  fabric.devices[device.value].profile = std::move(profile);
  return Rig(std::move(fabric), device, options);
}

CircuitSwitchObservation seen(const Rig& rig) { return std::get<CircuitSwitchObservation>(rig.driver->observe().reading); }

/// Without their ctags.
std::vector<std::string> lines(const Rig& rig, std::size_t from = 0) {
  std::vector<std::string> all;
  for (std::size_t i = from; i < rig.transactions.size(); ++i) {
    const auto& bytes = std::get<Frame>(rig.transactions[i].order).request;
    std::string line(bytes.begin(), bytes.end());
    std::size_t ctag = line.find(":1000");
    while (line.size() > ctag + 7 && line[ctag + 7] != ':') {
      ctag = line.find(":1000", ctag + 1);
    }
    all.push_back(line.erase(ctag + 1, 6));
  }
  return all;
}

/// A file of its own that goes with it.
struct Secret {
  std::string path = "/tmp/loom-tl1-" + std::to_string(getpid());
  explicit Secret(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  ~Secret() { ::unlink(path.c_str()); }
};

const CircuitSwitchSetpoint kTwo{{{0, 1}, {1, 0}}};

TEST_CASE("tl1_reads_the_reply_to_its_ctag_and_skips_what_is_for_nobody") {
  const std::string_view text =
      "\r\n   OCS 26-01-01 00:00:00\r\nA  7 REPT EVT EQPT\r\n   \"FAN;1\"\r\n;"
      "\r\n\n   OCS 26-01-01 00:00:00\r\n*C 8 REPT ALM EQPT\r\n;IP 123\r\n<\r\n"
      "   OCS 26-01-01 00:00:01\r\nM  122 COMPLD\r\n   \"9,9\"\r\n;"
      "   OCS 26-01-01 00:00:01\r\nM  123 COMPLD\r\n   \"1,17\"\r\n   \"2,18\"\r\n;\r\n";
  const auto reply = tl1::read_reply(text, "123");
  REQUIRE(reply.has_value());
  CHECK(reply->completed);
  CHECK(reply->rows == std::vector<std::string>{"1,17", "2,18"});
  CHECK_FALSE(tl1::read_reply(text, "12").has_value());
  const auto denied = tl1::read_reply("  X 1\nM 5 DENY\n   IITA\n   /* no such port */\n;", "5");
  REQUIRE(denied.has_value());
  CHECK(tl1::describe_denial(*denied) == "denies it: IITA, no such port");
}

TEST_CASE("tl1_refuses_a_reply_with_a_damaged_row") {
  for (const char* text :
       {"M  5 COMPLD\r\n   \"1,17\r\n;", "M  5 COMPLD\r\n   1,17\"\r\n;", "M  5 COMPLD\r\n   \"1,17\"\r\n", "M  5 PRTL\r\n;",
        "M  5 COMPLD\r\n   \"1,\x01"
        "7\"\r\n;",
        "M  5 COMPLD\r\n  IITA\r\n;", "M  6 COMPLD\r\n;", ""}) {
    INFO(text);
    CHECK_FALSE(tl1::read_reply(text, "5").has_value());
  }
}

TEST_CASE("tl1_reads_rows_and_nothing_else") {
  const SwitchSize size{16, 16};
  CHECK(tl1::read_patches({1, 17}, size, {"2,18", "17,1"}) == Connects{{0, 0}, {1, 1}});
  CHECK(tl1::read_patches({10'001, 20'001}, size, {"10001,20016"}) == Connects{{0, 15}});
  for (const char* row : {"", "1", "1,", "1,16", "1,33", "0,17", "1,17,", "1,17x", "a,17"}) {
    INFO(row);
    CHECK_FALSE(tl1::read_patches({1, 17}, size, {row}).has_value());
  }
  CHECK_FALSE(tl1::read_patches({1, 17}, size, {"1,17", "2,17"}).has_value());
  CHECK(tl1::value_of({"SYSTEM:SIZE=16x16"}, "SIZE") == "16x16");
  CHECK(tl1::value_of({"OCS:PN=1,SN=002414"}, "sn") == "002414");
  CHECK_FALSE(tl1::value_of({"OCS:SN="}, "SN").has_value());
  CHECK(tl1::read_power("-49.162") == Dbm{-4'916});
  CHECK_FALSE(tl1::read_power("NA").has_value());
  CHECK_FALSE(tl1::read_power("1e9").has_value());
  CHECK(tl1::read_fiber_connect("GGN:IPORTID=10001,IPORTNAME=,OPORTID=0,OPORTNAME=,CONNID=0,CONNSTATE=single,CONNCAUSE=none,"
                                "INPWR=-49.162,OUTPWR=0.000,PWRLOSS=0.000") ==
        tl1::FiberConnect{10'001, 0, Dbm{-4'916}, Dbm{0}});
  CHECK(tl1::write_patches({1, 17}, Connects{{10, 11}, {11, 12}}) == "11&12,28&29");
}

TEST_CASE("polatis_tl1_connects_what_lacks_by_its_own_numbers_and_reads_it_back") {
  Rig rig = tl1_rig("polatis_tl1");
  rig.fire(kTwo);
  CHECK(rig.driver->observe().fault.empty());
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(seen(rig) == CircuitSwitchObservation{kTwo.connects, true});
  CHECK(lines(rig) == std::vector<std::string>{"RTRV-NETYPE:::::;", "RTRV-INV::OCS:::;", "RTRV-EQPT::SYSTEM::::PARAMETER=SIZE;",
                                               "RTRV-PORT-SHUTTER::1&&4&5&&8:::;", "RTRV-PATCH:::::;", "ENT-PATCH::1&2,6&5:::;",
                                               "RTRV-PORT-SHUTTER::1&&4&5&&8:::;", "RTRV-PATCH:::::;"});
  const std::size_t before = rig.transactions.size();
  rig.fire(CircuitSwitchSetpoint{{{0, 1}}});
  CHECK(lines(rig, before)[2] == "DLT-PATCH::2:::;");
  CHECK(std::get<OcsLight>(rig.model->light(rig.now)).connects == Connects{{0, 1}});
}

TEST_CASE("calient_tl1_never_says_all_to_what_changes_something") {
  Rig rig = tl1_rig("calient_tl1");
  rig.fire(kTwo);
  rig.fire(CircuitSwitchSetpoint{{{0, 1}}});
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig) == std::vector<std::string>{"rtrv-system-info:::::;", "rtrv-crs-fiber::all:::;",
                                               "ent-crs-fiber::10001&10002,20002&20001:::;", "rtrv-crs-fiber::all:::;",
                                               "rtrv-crs-fiber::all:::;", "dlt-crs-fiber::10002,20001:::;",
                                               "rtrv-crs-fiber::all:::;"});
}

TEST_CASE("tl1_logs_in_once_a_connection_and_never_says_its_password_in_a_sentence") {
  const Secret secret("open-sesame\n");
  SimDeviceOptions options;
  options.ocs.user = "loom";
  options.ocs.password = "open-sesame";
  const std::vector<DeviceSetting> profile{{"user", std::string("loom")}, {"password_file", secret.path}};
  Rig rig = tl1_rig("polatis_tl1", profile, options);
  rig.fire(kTwo);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(lines(rig).front() == "ACT-USER::loom:::open-sesame;");
  const auto logins = [&] {
    const auto all = lines(rig);
    return std::count_if(all.begin(), all.end(), [](const std::string& line) { return line.starts_with("ACT-USER"); });
  };
  rig.poll();
  CHECK(logins() == 1);
  rig.connection = 2;  // it was lost and opened again: the session went with it
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(logins() == 2);
  options.ocs.password = "another";
  Rig refused = tl1_rig("polatis_tl1", profile, options);
  refused.fire(kTwo);
  CHECK(refused.driver->observe().fault == "ocs: ACT-USER loom: the switch denies it: PICC, Privilege, Illegal User Identity");
}

TEST_CASE("tl1_session_that_the_switch_ended_is_begun_anew") {
  const Secret secret("open-sesame\n");
  SimDeviceOptions options;
  options.ocs.user = "loom";
  options.ocs.password = "open-sesame";
  Rig rig = tl1_rig("polatis_tl1", {{"user", std::string("loom")}, {"password_file", secret.path}}, options);
  rig.fire(kTwo);
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::reboot, .until = rig.now});
  rig.poll();  // it lost its connections, too
  CHECK(rig.driver->activity() == DriverActivity::idle);
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::settled);
}

TEST_CASE("tl1_password_of_a_file_that_others_may_read_is_not_used_and_nothing_is_sent") {
  const Secret secret("open-sesame\n", 0644);
  Rig rig = tl1_rig("polatis_tl1", {{"user", std::string("loom")}, {"password_file", secret.path}});
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK(rig.driver->observe().fault ==
        "ocs: password_file " + secret.path + " has mode 644; expected a file that only its owner may read (chmod 600)");
  CHECK(rig.transactions.empty());
  CHECK(read_password("/nonexistent").error().code == ErrorCode::not_found);
}

TEST_CASE("tl1_messages_that_nobody_asked_for_are_skipped") {
  SimDeviceOptions options;
  options.ocs.announces = true;
  for (const char* model : {"polatis_tl1", "calient_tl1"}) {
    Rig rig = tl1_rig(model, {}, options);
    rig.fire(kTwo);
    CHECK(rig.driver->activity() == DriverActivity::settled);
  }
}

TEST_CASE("tl1_denial_of_a_write_is_told_with_what_reads_back") {
  Rig rig = tl1_rig("calient_tl1");
  rig.model->inject(rig.now, {.kind = DeviceFaultKind::fail});
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::failed);
  CHECK_THAT(rig.driver->observe().fault, Catch::StartsWith("ocs: input 0 reads nothing, wanted output 1, set 3 times; the "
                                                            "switch says \"denies it: SROF"));
}

TEST_CASE("tl1_powers_of_ports_of_ours_are_read_by_audits") {
  SimDeviceOptions options;
  options.ocs.lit = {{0, Dbm{-310}}, {1, Dbm{150}}};
  for (const char* model : {"polatis_tl1", "calient_tl1"}) {
    INFO(model);
    Rig rig = tl1_rig(model, {{"monitors_ports", std::int64_t{1}}}, options);
    rig.fire(kTwo);
    rig.now += std::chrono::seconds{1};
    rig.poll();
    const std::vector<PortPower> powers = seen(rig).powers;
    const auto at = [&](std::uint16_t port, bool is_input) {
      const auto found =
          std::ranges::find_if(powers, [&](const PortPower& p) { return p.port == port && p.is_input == is_input; });
      REQUIRE(found != powers.end());
      return found->power;
    };
    CHECK(at(0, true) == Dbm{-310});
    CHECK(at(1, true) == Dbm{150});
    CHECK(at(1, false) == Dbm{-410});
    CHECK(at(0, false) == Dbm{50});
    CHECK(rig.now - rig.driver->observe().read_at < std::chrono::milliseconds{50});
    CHECK(rig.driver->activity() == DriverActivity::settled);
  }
}

TEST_CASE("polatis_tl1_opens_a_shutter_that_a_connection_needs_and_names_one_that_stays_closed") {
  SimDeviceOptions options;
  options.ocs.shut = {1, 4 + 1, 3};
  Rig rig = tl1_rig("polatis_tl1", {}, options);
  rig.fire(kTwo);
  REQUIRE(rig.driver->activity() == DriverActivity::settled);
  CHECK(std::get<OcsLight>(rig.model->light(rig.now)).connects == kTwo.connects);
  const auto all = lines(rig);
  CHECK(std::ranges::find(all, "RLS-PORT-SHUTTER::2&6:::;") != all.end());  // and not that of port 4, which nobody needs
  options.ocs.shutters_stick = true;
  Rig stuck = tl1_rig("polatis_tl1", {}, options);
  stuck.fire(kTwo);
  CHECK(stuck.driver->activity() == DriverActivity::failed);
  CHECK(stuck.driver->observe().fault ==
        "ocs: the shutter of input 1 (port 2 of the switch) is closed after 3 orders to open, and a connection needs it");
}

TEST_CASE("polatis_tl1_audit_names_a_shutter_that_somebody_closed") {
  Rig rig = tl1_rig("polatis_tl1");
  rig.fire(kTwo);
  const std::string line = "OPR-PORT-SHUTTER::1:7:;";
  rig.model->execute(rig.now,
                     {rig.model->device(), 1, Frame{{line.begin(), line.end()}, 0, ";"}, std::chrono::milliseconds{500}});
  rig.now += std::chrono::milliseconds{100};
  rig.poll();
  CHECK(rig.driver->activity() == DriverActivity::idle);
  CHECK(rig.driver->observe().fault ==
        "ocs: the shutter of input 0 (port 1 of the switch) is closed, and a connection needs it");
  rig.fire(kTwo);
  CHECK(rig.driver->activity() == DriverActivity::settled);
  CHECK(rig.driver->observe().fault.empty());
}

TEST_CASE("tl1_profile_that_names_a_user_without_a_password_file_is_refused") {
  const Fabric fabric = ocs_fabric();
  Device device = fabric.device(device_named(fabric, "ocs"));
  device.model = "polatis_tl1";
  device.profile = {{"user", std::string("loom")}};
  CHECK_THAT(kPolatisTl1.model.refuse(fabric, device), Catch::Contains("one of user and password_file"));
  device.profile = {{"user", std::string("lo;om")}, {"password_file", std::string("/x")}};
  CHECK_THAT(kPolatisTl1.model.refuse(fabric, device), Catch::Contains("user: lo;om"));
}

}  // namespace
}  // namespace loom
