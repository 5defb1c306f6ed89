// SPDX-License-Identifier: Apache-2.0
// Quantities are exact integers or a sentence that says what was found and what is accepted.
#include <catch2/catch.hpp>

#include "core/config/yaml/quantity.hpp"

namespace loom {
namespace {

std::string refusal(std::string_view text, const UnitTable& table) {
  const auto value = parse_quantity(text, table);
  return value ? "accepted as " + std::to_string(*value) : value.error().message;
}

TEST_CASE("quantities_become_the_finest_unit_exactly") {
  CHECK(parse_quantity("193.1 THz", kFrequencyUnits).value() == 193'100'000);
  CHECK(parse_quantity("191.35625THz", kFrequencyUnits).value() == 191'356'250);
  CHECK(parse_quantity("100 GHz", kFrequencyOffsetUnits).value() == 100'000);
  CHECK(parse_quantity("6.25 GHz", kFrequencyOffsetUnits).value() == 6'250);
  CHECK(parse_quantity("-10 dBm", kPowerUnits).value() == -1'000);
  CHECK(parse_quantity("-0.05 dBm", kPowerUnits).value() == -5);
  CHECK(parse_quantity("+3.5 dB", kRatioUnits).value() == 350);
  CHECK(parse_quantity("10 ms", kDurationUnits).value() == 10'000'000);
  CHECK(parse_quantity("100 us", kDurationUnits).value() == 100'000);
  CHECK(parse_quantity("20 ns", kDurationUnits).value() == 20);
  CHECK(parse_quantity("1.5 min", kDurationUnits).value() == 90'000'000'000);
  CHECK(parse_quantity("100 Gb/s", kBitRateUnits).value() == 100'000'000'000);
  CHECK(parse_quantity("100G", kBitRateUnits).value() == 100'000'000'000);
  CHECK(parse_quantity("50 m", kLengthUnits).value() == 50'000);
  CHECK(parse_quantity("561 kB", kBytesUnits).value() == 561'000);
  CHECK(parse_quantity("4 MiB", kBytesUnits).value() == 4'194'304);
  CHECK(parse_quantity("0.1000000000 ms", kDurationUnits).value() == 100'000);
}

TEST_CASE("a_wrong_unit_is_named_with_those_that_are_accepted") {
  CHECK(refusal("100 GHz", kPowerUnits) == "'100 GHz' has the unit 'GHz'; expected a power such as '-10 dBm' (units: dBm)");
  CHECK_THAT(refusal("10 dB", kPowerUnits), Catch::Matchers::Contains("has the unit 'dB'; expected a power"));
  CHECK_THAT(refusal("193.1 thz", kFrequencyUnits), Catch::Matchers::Contains("did you mean 'THz'?"));
  CHECK_THAT(refusal("100", kFrequencyOffsetUnits),
             Catch::Matchers::Contains("'100' has no unit; expected a frequency difference"));
  CHECK_THAT(refusal("ten ms", kDurationUnits), Catch::Matchers::Contains("does not begin with a number"));
  CHECK_THAT(refusal("", kDurationUnits), Catch::Matchers::Contains("does not begin with a number"));
  CHECK_THAT(refusal(". ms", kDurationUnits), Catch::Matchers::Contains("does not begin with a number"));
  CHECK_THAT(refusal("1e3 ms", kDurationUnits), Catch::Matchers::Contains("has the unit 'e3 ms'"));
  CHECK_THAT(refusal("1.2.3 ms", kDurationUnits), Catch::Matchers::Contains("has the unit"));
}

TEST_CASE("what_an_integer_cannot_hold_is_refused_not_rounded") {
  CHECK_THAT(refusal("0.5 ns", kDurationUnits), Catch::Matchers::Contains("the step is 1 ns"));
  CHECK_THAT(refusal("193.1000001 THz", kFrequencyUnits), Catch::Matchers::Contains("the step is 1 MHz"));
  CHECK_THAT(refusal("0.001 dB", kRatioUnits), Catch::Matchers::Contains("the step is 0.01 dB"));
  CHECK_THAT(refusal("10000000000 h", kDurationUnits), Catch::Matchers::Contains("finer or larger"));
  CHECK_THAT(refusal("99999999999999999999999999 ns", kDurationUnits), Catch::Matchers::Contains("finer or larger"));
}

TEST_CASE("quantities_print_in_the_largest_unit_that_stays_short") {
  CHECK(print_quantity(191'325'000, kFrequencyUnits) == "191.325 THz");
  CHECK(print_quantity(100'000, kFrequencyOffsetUnits) == "100 GHz");
  CHECK(print_quantity(6'250, kFrequencyOffsetUnits) == "6.25 GHz");
  CHECK(print_quantity(191'356'250, kFrequencyUnits) == "191356.25 GHz");
  CHECK(print_quantity(-1'250, kPowerUnits) == "-12.5 dBm");
  CHECK(print_quantity(-5, kPowerUnits) == "-0.05 dBm");
  CHECK(print_quantity(0, kDurationUnits) == "0 ns");
  CHECK(print_quantity(60'000'000'000, kDurationUnits) == "1 min");
  CHECK(print_quantity(1'500'000, kDurationUnits) == "1.5 ms");
  CHECK(print_quantity(100'000'000'000, kBitRateUnits) == "100 Gb/s");
  CHECK(print_quantity(1'000, kBitRateUnits) == "1 kb/s");
}

TEST_CASE("what_is_printed_reads_back_as_the_same_value") {
  for (const auto* table : {&kFrequencyUnits, &kPowerUnits, &kRatioUnits, &kDurationUnits, &kBitRateUnits, &kLengthUnits,
                            &kBytesUnits, &kVoltageUnits, &kResistanceUnits, &kTuningUnits}) {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-7}, std::int64_t{999}, std::int64_t{1'001},
                                     std::int64_t{60'000'000'000}, std::int64_t{90'000'000'001}, std::int64_t{123'456'789'012},
                                     std::int64_t{31'536'000'000'000'000}}) {
      const std::string text = print_quantity(value, *table);
      CAPTURE(text);
      CHECK(parse_quantity(text, *table).value() == value);
    }
  }
}

}  // namespace
}  // namespace loom
