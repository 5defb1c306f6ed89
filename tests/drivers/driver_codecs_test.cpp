// SPDX-License-Identifier: Apache-2.0
// The fuzzers' properties on a corpus that every run repeats: lawful texts, each damaged in every place, and random frames.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "drivers/transceiver/itla_frame.hpp"
#include "tests/fuzz/driver_codecs.hpp"
#include "tests/fuzz/heater_codecs.hpp"
#include "tests/fuzz/meter_codecs.hpp"

namespace loom {
namespace {

/// Cut, doubled, a bit turned, a character of the dialects in its place: each at every place of a seed.
std::vector<std::string> damaged(std::string_view seed) {
  constexpr std::string_view kCharacters("0;:,=@()\"?*.-+ \r\n\0", 18);
  std::vector<std::string> texts{std::string(seed)};
  for (std::size_t place = 0; place < seed.size(); ++place) {
    texts.emplace_back(seed.substr(0, place));
    texts.emplace_back(seed.substr(place));
    texts.push_back(std::string(seed.substr(0, place)) + std::string(seed));
    for (unsigned bit = 0; bit < 8; ++bit) {
      texts.emplace_back(seed);
      texts.back()[place] = static_cast<char>(static_cast<unsigned char>(seed[place]) ^ (1u << bit));
    }
    for (const char character : kCharacters) {
      texts.emplace_back(seed);
      texts.back()[place] = character;
      texts.emplace_back(seed);
      texts.back().insert(place, 1, character);
    }
    texts.emplace_back(seed);
    texts.back().insert(place, "99999999999999999999");
  }
  return texts;
}

TEST_CASE("flexgrid_lines_of_any_kind_are_read_or_refused") {
  for (const std::string_view seed : fuzz::flexgrid_seeds()) {
    for (const std::string& text : damaged(seed)) {
      fuzz::check_flexgrid_line(text);
      fuzz::check_switch_models(text);
    }
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("scpi_lines_of_any_kind_are_read_or_refused") {
  for (const std::string_view seed : fuzz::scpi_seeds()) {
    for (const std::string& text : damaged(seed)) {
      fuzz::check_scpi_line(text);
      fuzz::check_switch_models(text);
    }
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("tl1_replies_of_any_kind_are_read_or_refused") {
  for (const std::string_view seed : fuzz::tl1_seeds()) {
    for (const std::string& text : damaged(seed)) {
      fuzz::check_tl1_reply(text);
      fuzz::check_switch_models(text);
    }
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("heater_lines_of_any_kind_are_read_or_refused") {
  for (const std::string_view seed : fuzz::heater_seeds()) {
    for (const std::string& text : damaged(seed)) {
      fuzz::check_heater_line(text);
      fuzz::check_heater_models(text);
    }
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("answers_of_meters_of_any_kind_are_read_or_refused") {
  for (const std::string_view seed : fuzz::meter_seeds()) {
    for (const std::string& text : damaged(seed)) {
      fuzz::check_meter_line(text);
      fuzz::check_meter_model(text);
    }
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("itla_frames_of_any_kind_are_read_or_refused") {
  std::mt19937 chance(8690);
  for (int i = 0; i < 200'000; ++i) {
    std::vector<std::uint8_t> bytes(i % 50 == 0 ? chance() % 8 : 4);
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(chance());
    }
    fuzz::check_itla_frame(bytes);
  }
  SUCCEED("nothing was asserted away");
}

/// A module's whole account of itself, then each of its bytes damaged; and answers of chance, mostly lawful frames.
TEST_CASE("itla_facts_of_any_kind_are_read_or_left_out") {
  using itla::Register;
  using itla::Status;
  std::vector<std::uint8_t> account;
  const auto say = [&](Status status, Register reg, std::uint16_t data) {
    const auto bytes = encode(itla::Response{status, false, reg, data});
    account.insert(account.end(), bytes.begin(), bytes.end());
  };
  say(Status::extended_address, Register::serial, 4);
  say(Status::ok, Register::extended, 'A' << 8 | '1');
  say(Status::ok, Register::extended, '0' << 8 | '0');
  for (const int number : {191, 4'000, 0, 196, 1'000, 0, 600, 1'300, 6'000, 0, 100}) {
    say(Status::ok, Register::first1, static_cast<std::uint16_t>(number));
  }
  say(Status::extended_address, Register::maker, 3);
  say(Status::ok, Register::extended, 'L' << 8 | 'o');
  say(Status::ok, Register::extended, 'm' << 8);
  say(Status::execution_error, Register::model, 0);
  say(Status::extended_address, Register::device_type, 65'535);
  fuzz::check_itla_facts(account);
  for (std::size_t place = 0; place < account.size(); ++place) {
    for (unsigned value = 0; value < 256; ++value) {
      auto damaged = account;
      damaged[place] = static_cast<std::uint8_t>(value);
      fuzz::check_itla_facts(damaged);
    }
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("an_itla_driver_comes_to_rest_whatever_its_module_answers") {
  INFO("seed 13");
  std::mt19937 chance(13);
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::uint8_t> bytes(4 * (chance() % 200));
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(chance() % (round % 2 == 0 ? 256 : 12));
    }
    fuzz::check_itla_facts(bytes);
    fuzz::check_itla_answers(bytes);
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("pages_of_a_module_of_any_kind_are_read_or_refused") {
  constexpr unsigned kSeed = 5;
  INFO("seed " << kSeed);
  std::mt19937 chance(kSeed);
  for (int i = 0; i < 5'000; ++i) {
    std::vector<std::uint8_t> bytes(i % 20 == 0 ? chance() % 140 : 128);
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(chance());
    }
    if (i % 2 == 0 && bytes.size() == 128) {  // limits that are believed
      unsigned sum = 0;
      for (std::size_t place = 0; place < 127; ++place) {
        sum += bytes[place];
      }
      bytes[127] = static_cast<std::uint8_t>(sum);
    }
    fuzz::check_cmis_page(bytes);
    fuzz::check_sff_bytes(bytes);
  }
  SUCCEED("nothing was asserted away");
}

}  // namespace
}  // namespace loom
