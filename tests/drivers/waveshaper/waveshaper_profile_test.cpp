// SPDX-License-Identifier: Apache-2.0
// WSP profiles and the JSON around them: what is written, what is read back, what is refused.
#include "drivers/wss/waveshaper_profile.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "drivers/wss/waveshaper_json.hpp"
#include "sim_backend/devices/wss/waveshaper_order.hpp"

namespace loom::waveshaper {
namespace {

constexpr Band kNarrow{Frequency{193'100'000}, Frequency{193'130'000}};

std::string fault_of(std::string_view text) {
  const auto read = read_profile(text);
  return read ? "none" : read.error().message;
}

std::size_t lines_of(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

TEST_CASE("a_profile_has_a_line_a_ghz_as_clients_of_the_real_device_write_them") {
  const std::vector<Pass> passes{pass_of({2, 2}, 3, Db{125})};  // 193.1000 to 193.1250
  const std::string text = write_profile(points_of(kNarrow, passes));
  CHECK(lines_of(text) == 31);
  CHECK(text.starts_with("193.1000\t1.2500\t0.0000\t3\n193.1010\t1.2500\t0.0000\t3\n"));
  CHECK(text.find("193.1240\t1.2500\t0.0000\t3\n193.1250\t50.0000\t0.0000\t0\n") != std::string::npos);
  CHECK(text.ends_with("193.1300\t50.0000\t0.0000\t0\n"));
  const std::string whole = write_profile(points_of({}, {}));
  CHECK(lines_of(whole) == 5026);
  CHECK(whole.size() > 130'000);
  CHECK(whole.size() < 140'000);
}

TEST_CASE("slots_on_edges_of_6_25_GHz_come_back_from_points_of_1_GHz") {
  std::mt19937 chance(63);
  for (int round = 0; round < 300; ++round) {
    std::vector<Pass> passes;
    for (std::int32_t lower = -280; lower < 480;) {
      const auto width = static_cast<std::int32_t>(1 + chance() % 6) * 2;
      if (chance() % 3 != 0 && lower + width <= 500) {
        passes.push_back({lower, lower + width, static_cast<std::uint16_t>(1 + chance() % 3),
                          static_cast<std::int32_t>(chance() % 4 * 250)});
      }
      lower += width + static_cast<std::int32_t>(chance() % 3);
    }
    const auto points = read_profile(write_profile(points_of({}, passes)));
    REQUIRE(points.has_value());
    const Spectrum spectrum = spectrum_of(*points);
    REQUIRE(spectrum.passes == passes);
    REQUIRE(spectrum.foreign.empty());
  }
}

TEST_CASE("neighbours_of_one_port_are_told_apart_and_known_for_the_same_light") {
  const std::vector<Pass> two{{0, 8, 1, 0}, {8, 16, 1, 0}, {16, 24, 1, 0}};
  const std::string text = write_profile(points_of({}, two));
  CHECK(text.find("193.1490\t0.0000\t0.0000\t1\n193.1500\t0.0001\t0.0000\t1\n") != std::string::npos);
  CHECK(spectrum_of(*read_profile(text)).passes == two);
  CHECK(joined(two) == std::vector<Pass>{{0, 24, 1, 0}});
  CHECK(joined(std::vector<Pass>{{0, 8, 1, 0}, {8, 16, 2, 0}}).size() == 2);
}

TEST_CASE("what_fits_no_slot_is_foreign_and_stands_as_the_narrowest_slot_around_it") {
  const auto spectrum = [](std::string_view text) { return spectrum_of(*read_profile(text)); };
  const Spectrum odd = spectrum("193.1010\t0\t0\t2\n193.1020\t0\t0\t2\n193.1030\t50\t0\t0\n");
  CHECK(odd.passes.empty());
  CHECK(odd.foreign == std::vector<Pass>{{0, 2, 2, 0}});
  const Spectrum narrow = spectrum(
      "193.0990 50 0 0\n193.1000 0 0 1\n193.1010 0 0 1\n193.1020 0 0 1\n193.1030 0 0 1\n"
      "193.1040 0 0 1\n193.1050 0 0 1\n193.1060 0 0 1\n193.1070 50 0 0\n");  // 6.25 GHz
  CHECK(narrow.foreign == std::vector<Pass>{{0, 2, 1, 0}});
  const Spectrum coarse = spectrum("193.1 0 0 1\n193.2 0 0 1\n193.3 50 0 0\n");  // its edges are anywhere
  CHECK(coarse.passes.empty());
  CHECK(coarse.foreign == std::vector<Pass>{{0, 32, 1, 0}});
  CHECK(all_of({{{0, 4, 1, 0}}, {{3, 5, 2, 0}, {8, 10, 2, 0}}}) == std::vector<Pass>{{0, 4, 1, 0}, {8, 10, 2, 0}});
}

TEST_CASE("blocked_is_port_0_or_more_than_40_dB_and_less_than_0_dB_is_0") {
  const auto points = read_profile("193.1\t40\t0\t1\r\n193.2\t40.0001\t0\t1\r\n193.3\t-3\t6.28\t0\r\n193.4\t-3\t-1\t2");
  REQUIRE(points.has_value());
  REQUIRE(points->size() == 4);
  CHECK(passes((*points)[0]));
  CHECK_FALSE(passes((*points)[1]));
  CHECK_FALSE(passes((*points)[2]));
  CHECK((*points)[3] == Point{Frequency{193'400'000}, 0, 2});
}

TEST_CASE("a_line_that_is_none_is_named") {
  CHECK(fault_of("") == "none");
  CHECK(fault_of("\n") == "none");
  CHECK(fault_of("193.1\t0\t0\t1\nhello\n") == "line 2: found 'hello'; expected frequency, attenuation, phase and port");
  CHECK_THAT(fault_of("\n193.1\t0\t0\t1\n"), Catch::StartsWith("line 1: "));
  CHECK_THAT(fault_of("193.1\t0\t0\n"), Catch::StartsWith("line 1: found"));
  CHECK_THAT(fault_of("193.1\t0\t0\t1\t1\n"), Catch::StartsWith("line 1: found"));
  CHECK_THAT(fault_of("nan\t0\t0\t1\n"), Catch::StartsWith("line 1: found"));
  CHECK_THAT(fault_of("193.1\t0\tinf\t1\n"), Catch::StartsWith("line 1: found"));
  CHECK_THAT(fault_of("193.1\t0\t0\t-1\n"), Catch::StartsWith("line 1: found"));
  CHECK_THAT(fault_of("193.1\t0\t0\t70000\n"), Catch::StartsWith("line 1: found"));
  CHECK_THAT(fault_of("-193.1\t0\t0\t1\n"), Catch::StartsWith("line 1: no frequency in THz"));
  CHECK(fault_of("193.2\t0\t0\t1\n193.1\t0\t0\t1\n") == "line 2: frequencies must ascend");
  CHECK(fault_of("193.1\t0\t0\t1\n193.1\t0\t0\t1\n") == "line 2: frequencies must ascend");
  std::string endless;
  for (std::size_t i = 0; i <= kPointsMax; ++i) {
    endless += std::to_string(100'000 + i) + "e-3 0 0 1\n";
  }
  CHECK(fault_of(endless) == "line 65537: more than 65536 points");
}

TEST_CASE("a_device_says_who_it_is_in_numbers_or_in_texts") {
  const auto info = read_info(
      R"({"model":"WaveShaper 4000A","sno":"SN1","ver":"2.0","startfreq":191.25,"stopfreq":"196.275","portcount":"4","rctext":""})");
  REQUIRE(info.has_value());
  CHECK(info->model == "WaveShaper 4000A");
  CHECK(info->band == Band{});
  CHECK(info->ports == 4);
  CHECK(read_info(write_info(*info)) == *info);
  const auto fault = [](std::string_view text) { return read_info(text).error().message; };
  CHECK(fault("[]") == "no JSON object");
  CHECK(fault("{") == "no JSON object");
  CHECK(fault(R"({"rc":-7,"rctext":"no optics"})") == "refused with rc -7 (no optics)");
  CHECK(fault(R"({"startfreq":196,"stopfreq":191,"portcount":4})") == "no startfreq and stopfreq in THz");
  CHECK(fault(R"({"startfreq":1e999,"stopfreq":191,"portcount":4})") == "no JSON object");
  CHECK(fault(R"({"startfreq":191,"stopfreq":196,"portcount":4.5})") == "no portcount of 1..1024");
  CHECK(fault(R"({"startfreq":1,"stopfreq":900,"portcount":4})") == "a band of more than 65536 points of 1 GHz");
  CHECK(read_verdict(R"({"rc":0,"rctext":"","sno":"SN1"})") == Verdict{});
  CHECK(read_verdict(R"({"rctext":""})").error().message == "no rc");
  CHECK(read_verdict(R"({"rc":"-3","rctext":"a\u0000b"})") == Verdict{-3, "a?b"});
}

TEST_CASE("every_type_of_a_loadprofile_becomes_points_and_a_wrong_one_says_why") {
  Info device;
  device.ports = 4;
  const auto loaded = [&](std::string_view order) {
    const auto result = points_of_order(device, order);
    const auto* points = std::get_if<std::vector<Point>>(&result);
    return points != nullptr ? spectrum_of(*points) : Spectrum{};
  };
  const auto refusal = [&](std::string_view order) {
    const auto result = points_of_order(device, order);
    const auto* verdict = std::get_if<Verdict>(&result);
    return verdict != nullptr ? std::to_string(verdict->code) + " " + verdict->text : "none";
  };
  const Spectrum band = loaded(R"({"type":"bandpass","port":2,"center":193.15,"bandwidth":0.1,"attn":3})");
  CHECK(joined(band.passes) == std::vector<Pass>{{0, 16, 2, 300}});
  const Spectrum stop = loaded(R"({"type":"bandstop","port":1,"center":193.15,"bandwidth":0.0999})");
  CHECK(stop.passes.size() + stop.foreign.size() == 2);
  CHECK(loaded(R"({"type":"gaussian","port":1,"center":193.15,"bandwidth":0.05})").foreign.size() > 50);
  CHECK(loaded(R"({"type":"blockall"})") == Spectrum{});
  CHECK(refusal(R"({"type":"blockall"})") == "none");
  CHECK(loaded(R"({"type":"transmit","port":4})").passes.size() + loaded(R"({"type":"transmit"})").foreign.size() == 1);
  CHECK(refusal("hello") == "-1 no JSON object");
  CHECK_THAT(refusal(R"({"type":"notch"})"), Catch::StartsWith("-2 type: expected wsp"));
  CHECK_THAT(refusal(R"({"wsp":""})"), Catch::StartsWith("-2 "));
  CHECK_THAT(refusal(R"({"type":"wsp"})"), Catch::StartsWith("-6 "));
  CHECK(refusal(R"({"type":"wsp","wsp":"193.2\t0\t0\t1\n193.1\t0\t0\t1\n"})") == "-3 line 2: frequencies must ascend");
  CHECK_THAT(refusal(R"({"type":"wsp","wsp":""})"), Catch::StartsWith("-3 "));
  CHECK_THAT(refusal(R"({"type":"wsp","wsp":"180.1\t0\t0\t1\n"})"), Catch::StartsWith("-4 a frequency outside"));
  CHECK(refusal(R"({"type":"wsp","wsp":"193.1\t0\t0\t5\n"})") == "-5 port: expected 1 to 4");
  CHECK(refusal(R"({"type":"transmit","port":0})") == "-5 port: expected 1 to 4");
  CHECK_THAT(refusal(R"({"type":"bandpass","port":1,"center":193.1})"), Catch::StartsWith("-6 "));
  CHECK_THAT(refusal(R"({"type":"bandpass","port":1,"center":180,"bandwidth":1})"),
             Catch::StartsWith("-4 center lies outside"));
}

}  // namespace
}  // namespace loom::waveshaper
