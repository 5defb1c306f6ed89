// The fuzzers' properties on a corpus that every run repeats: lawful texts, each damaged in every place, and random frames.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "tests/fuzz/driver_codecs.hpp"

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
