// SPDX-License-Identifier: Apache-2.0
// The traps of YAML and of yaml-cpp, each an error with its place; all errors of a map at once.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "core/config/yaml/yaml_reader.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

std::string all_of(const std::vector<ConfigError>& errors) {
  std::string text;
  for (const ConfigError& error : errors) {
    text += to_string(error) + "\n";
  }
  return text;
}

std::string parse_errors(std::string_view text) { return all_of(parse_yaml("f.yaml", text).errors); }

TEST_CASE("parsing_keeps_words_and_places") {
  const auto document = parse_yaml("f.yaml", "a: 010\nb: ['yes', no]\n");
  REQUIRE(document);
  const YamlNode& root = *document.value;
  CHECK(root.items[0].text == "010");
  CHECK_FALSE(root.items[0].quoted);
  CHECK(root.items[1].items[0].quoted);
  CHECK(root.keys[1].line == 2);
  CHECK(root.items[1].items[1].column == 12);
}

TEST_CASE("what_yaml_cpp_lets_pass_is_refused") {
  CHECK(parse_errors("a: 1\nb: 2\na: 3\n") == "f.yaml:3:1: duplicate key 'a'; it stands already in line 1\n");
  CHECK_THAT(parse_errors("x:\n  b: 2\n  b: 3\n"), Catch::Matchers::Contains("f.yaml:3:3: duplicate key 'b'"));
  CHECK_THAT(parse_errors("a: &x 1\nb: *x\n"), Catch::Matchers::Contains("f.yaml:2:4: an alias"));
  CHECK_THAT(parse_errors("a: &x {c: 1}\n"), Catch::Matchers::Contains("an anchor"));
  CHECK_THAT(parse_errors("<<: {c: 1}\n"), Catch::Matchers::Contains("f.yaml:1:1: a merge key"));
  CHECK_THAT(parse_errors("a: !!int '3'\n"), Catch::Matchers::Contains("the tag"));
  CHECK_THAT(parse_errors("a: 1\n---\nb: 1\n"), Catch::Matchers::Contains("a second document"));
  CHECK_THAT(parse_errors("? [a, b]\n: 1\n"), Catch::Matchers::Contains("a key must be a single word"));
}

TEST_CASE("what_is_not_yaml_is_refused_with_its_place") {
  CHECK_THAT(parse_errors("a: [1, 2\nb: 3\n"), Catch::Matchers::Contains("f.yaml:2:") && Catch::Matchers::Contains("not YAML"));
  CHECK_THAT(parse_errors("a: 1\n\tb: 2\n"), Catch::Matchers::Contains("f.yaml:2:"));
  CHECK_THAT(parse_errors(""), Catch::Matchers::Contains("the file is empty"));
  CHECK_THAT(parse_errors("# only words\n"), Catch::Matchers::Contains("the file is empty"));
}

TEST_CASE("deep_and_huge_files_are_refused") {
  CHECK_THAT(parse_errors(std::string(40, '[') + std::string(40, ']')),
             Catch::Matchers::Contains("nested deeper than the limit of 32"));
  CHECK_THAT(parse_errors(std::string(20'000, '[')),
             Catch::Matchers::Contains("20000 brackets are open at once; the limit is 1024"));
  CHECK_THAT(parse_errors(std::string(1'000, '{')), Catch::Matchers::Contains("nested deeper than the limit of 32"));
  std::string dashes;
  for (int i = 0; i < 20'000; ++i) {
    dashes += "- ";
  }
  CHECK_THAT(parse_errors(dashes), Catch::Matchers::Contains("nested deeper than the limit of 32"));
  CHECK_THAT(parse_errors("a: " + std::string(limits::kTextBytes + 1, 'x')), Catch::Matchers::Contains("the limit is 4096"));
}

TEST_CASE("bytes_that_are_no_text_never_throw") {
  std::uint64_t state = 20'241'121;
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      state = state * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
      static constexpr std::string_view kAlphabet = "a:1 -\n[]{},'\"&*!|>#%@`\t\0\xff?<~.";
      text += kAlphabet[(state >> 33) % kAlphabet.size()];
    }
    const auto document = parse_yaml("f.yaml", text);
    CHECK(document.value.has_value() == document.errors.empty());
  }
}

TEST_CASE("a_missing_file_or_a_folder_is_an_error_without_a_line") {
  CHECK_THAT(all_of(read_yaml("no/such.yaml").errors), Catch::Matchers::StartsWith("no/such.yaml: "));
  CHECK_THAT(all_of(read_yaml(std::filesystem::temp_directory_path()).errors), Catch::Matchers::Contains("is not a file"));
}

TEST_CASE("a_file_beyond_the_limit_is_not_even_read") {
  const auto path = std::filesystem::temp_directory_path() / "lightloom_huge_config.yaml";
  std::ofstream(path) << "a: 1\n";
  std::filesystem::resize_file(path, limits::kConfigFileBytes + 1);
  CHECK_THAT(all_of(read_yaml(path).errors), Catch::Matchers::Contains("the limit is 16777216"));
  std::filesystem::remove(path);
}

/// Asks one map questions; returns the errors.
template <class Questions>
std::string answers(std::string_view text, Questions questions) {
  const auto document = parse_yaml("f.yaml", text);
  REQUIRE(document);
  ErrorList errors("f.yaml");
  YamlMap map(*document.value, "the test", errors);
  questions(map);
  map.finish();
  return all_of(errors.sorted());
}

TEST_CASE("integers_are_decimal_and_unquoted") {
  const auto integer = [](YamlMap& map) { map.integer("n", {1, 100}, Rule::required); };
  CHECK(answers("n: 10", integer).empty());
  CHECK(answers("n: +10", integer).empty());
  CHECK_THAT(answers("n: 010", integer),
             Catch::Matchers::Contains("f.yaml:1:4: n: found '010'; expected a whole number without leading zeros"));
  CHECK_THAT(answers("n: '10'", integer), Catch::Matchers::Contains("found '10' in quotes"));
  for (const char* text : {"n: 0x10", "n: 1e1", "n: 1.0", "n: ten", "n: [1]", "n: ", "n: 1 0", "n: +"}) {
    CAPTURE(text);
    CHECK_THAT(answers(text, integer), Catch::Matchers::Contains("expected a whole number"));
  }
  CHECK(answers("n: 101", integer) == "f.yaml:1:4: n: found '101'; expected a whole number of 1..100\n");
  CHECK_THAT(answers("n: 99999999999999999999", integer), Catch::Matchers::Contains("64 bits"));
  CHECK_THAT(answers("m: 1", integer),
             Catch::Matchers::Contains("f.yaml:1:1: the test lacks the key 'n'; expected a whole number of 1..100"));
}

TEST_CASE("truth_is_true_or_false_only") {
  const auto flag = [](YamlMap& map) { map.flag("b", false); };
  CHECK(answers("b: true", flag).empty());
  for (const char* text : {"b: yes", "b: 'yes'", "b: 'true'", "b: on", "b: 1", "b: True"}) {
    CAPTURE(text);
    CHECK_THAT(answers(text, flag), Catch::Matchers::Contains("expected true or false"));
  }
}

TEST_CASE("reals_are_finite_and_within_their_range") {
  const auto real = [](YamlMap& map) { map.real("p", {0, 1}, 0.0); };
  CHECK(answers("p: 0.02", real).empty());
  CHECK(answers("p: 1e-3", real).empty());
  CHECK(answers("p: 0", real).empty());
  for (const char* text : {"p: 1.01", "p: -0.1", "p: nan", "p: .inf", "p: 2%", "p: '0.5'", "p: 00.5"}) {
    CAPTURE(text);
    CHECK_THAT(answers(text, real), Catch::Matchers::Contains("expected a number of 0..1"));
  }
}

TEST_CASE("unknown_keys_are_answered_with_the_nearest_known_one") {
  const auto questions = [](YamlMap& map) {
    map.integer("nodes", {1, 9}, 1);
    map.integer("group_size", {1, 9}, 1);
  };
  CHECK(answers("nodse: 3", questions) ==
        "f.yaml:1:1: unknown key 'nodse' in the test; did you mean 'nodes'? (known: nodes, group_size)\n");
  CHECK_THAT(answers("group-size: 3", questions), Catch::Matchers::Contains("did you mean 'group_size'?"));
  CHECK_THAT(answers("colour: 3", questions), !Catch::Matchers::Contains("did you mean"));
}

TEST_CASE("all_errors_of_a_map_come_at_once_in_the_order_of_lines") {
  const std::string text = answers("b: 5\na: 500 GHz\nzz: 1\nn: x\n", [](YamlMap& map) {
    map.integer("n", {1, 9}, 1);
    map.power("a", {{-100}, {100}}, Dbm{0});
    map.flag("b", false);
  });
  CHECK(text ==
        "f.yaml:1:4: b: found '5'; expected true or false, without quotes\n"
        "f.yaml:2:4: a: '500 GHz' has the unit 'GHz'; expected a power such as '-10 dBm' (units: dBm)\n"
        "f.yaml:3:1: unknown key 'zz' in the test (known: n, a, b)\n"
        "f.yaml:4:4: n: found 'x'; expected a whole number in decimal digits, without quotes\n");
}

TEST_CASE("quantities_out_of_range_name_the_range") {
  CHECK(answers("t: 2 min", [](YamlMap& map) { map.duration("t", {Duration{0}, std::chrono::seconds{60}}, Rule::required); }) ==
        "f.yaml:1:4: t: found '2 min'; expected a duration of 0 ns to 1 min\n");
}

TEST_CASE("words_and_references_suggest_the_nearest") {
  const std::vector<std::string> words{"itla_laser", "heater_bank"};
  CHECK(answers("k: heater", [&](YamlMap& map) { CHECK_FALSE(map.word("k", words, Rule::required)); }) ==
        "f.yaml:1:4: k: found 'heater'; expected one of: itla_laser, heater_bank\n");
  CHECK_THAT(answers("k: heaterbank", [&](YamlMap& map) { map.word("k", words, Rule::required); }),
             Catch::Matchers::Contains("did you mean 'heater_bank'?"));
  NameIndex names("bus");
  ErrorList errors("f.yaml");
  YamlNode here;
  here.line = 4;
  here.column = 2;
  names.add("bus-heater-17", here, errors);
  CHECK(names.resolve("bus-heater-17", here, errors) == 0u);
  CHECK_FALSE(names.resolve("bus-heather-17", here, errors));
  names.add("bus-heater-17", here, errors);
  CHECK(all_of(errors.sorted()) ==
        "f.yaml:4:2: there is no bus 'bus-heather-17'; did you mean 'bus-heater-17'?\n"
        "f.yaml:4:2: the bus 'bus-heater-17' exists already; expected each name once\n");
}

TEST_CASE("a_flood_of_errors_is_counted_not_listed") {
  std::string text;
  for (int i = 0; i < 1'000; ++i) {
    text += "k" + std::to_string(i) + ": 1\n";
  }
  const std::string errors = answers(text, [](YamlMap&) {});
  CHECK(std::count(errors.begin(), errors.end(), '\n') == static_cast<long>(kConfigErrors) + 1);
  CHECK_THAT(errors, Catch::Matchers::Contains("800 more errors"));
}

}  // namespace
}  // namespace loom
