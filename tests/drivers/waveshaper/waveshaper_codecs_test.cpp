// SPDX-License-Identifier: Apache-2.0
// The fuzzers' properties of a WaveShaper on a corpus that every run repeats: lawful texts, each damaged in every place.
#include <catch2/catch.hpp>
#include <string>

#include "tests/fuzz/waveshaper_codecs.hpp"

namespace loom {
namespace {

/// Cut, doubled, a bit turned, another character in its place or before it: each at every place of a seed.
template <class Check>
void damage_everywhere(std::string_view seed, const Check& check) {
  constexpr std::string_view kCharacters("0-.eE:,;{}[]\"\\/ \t\r\n\0", 20);
  check(seed);
  for (std::size_t place = 0; place < seed.size(); ++place) {
    const std::string before(seed.substr(0, place));
    const std::string after(seed.substr(place));
    check(before);
    check(after);
    check(before + std::string(seed));
    check(before + "99999999999999999999" + after);
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string text(seed);
      text[place] = static_cast<char>(static_cast<unsigned char>(text[place]) ^ (1u << bit));
      check(text);
    }
    for (const char character : kCharacters) {
      check(before + character + after);
      check(before + character + after.substr(1));
    }
  }
}

TEST_CASE("profiles_and_json_of_a_waveshaper_are_read_or_refused") {
  for (const std::string_view seed : fuzz::waveshaper_seeds()) {
    damage_everywhere(seed, fuzz::check_waveshaper_text);
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("http_in_one_piece_and_byte_by_byte_is_the_same_message") {
  for (const std::string_view seed : fuzz::http_seeds()) {
    damage_everywhere(seed, fuzz::check_http_bytes);
  }
  SUCCEED("nothing was asserted away");
}

TEST_CASE("a_simulated_waveshaper_answers_whatever_it_is_told") {
  for (const std::string_view seed : fuzz::waveshaper_seeds()) {
    std::size_t turn = 0;
    damage_everywhere(seed, [&](std::string_view text) {
      if (turn++ % 40 == 0) {  // each costs it a whole profile
        fuzz::check_waveshaper_model(text);
      }
    });
  }
  SUCCEED("nothing was asserted away");
}

}  // namespace
}  // namespace loom
