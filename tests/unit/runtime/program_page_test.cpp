// SPDX-License-Identifier: Apache-2.0
// A manual page is troff that has what the options say, whatever characters they say it with.
#include "runtime/program/program_page.hpp"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include "core/text/version.hpp"

using namespace loom;

TEST_CASE("a manual page has every option and command, escaped") {
  CLI::App app{"Does things"};
  std::string place;
  int number = 7;
  app.add_option("--place", place, "'quoted', .dotted and back\\slashed ~tilde")->required();
  app.add_option("--number", number, "How many")->capture_default_str();
  CLI::App* inner = app.add_subcommand("make", "Makes one");
  inner->add_option("THING", place, "What to make")->required();
  app.add_flag("--hidden")->group("");
  const ProgramPage page{
      "thing", 8, "makes things", {"One.", ".Two"}, {{"FILES", {}, {{"/etc/thing", "its file"}}}}, {"loom(1)", "a(8)"}};
  const std::string text = man_page(app, page);
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(has(".TH \"THING\" 8 \"\" \"Lightloom "));
  CHECK(has("thing \\- makes things\n"));
  CHECK(has(".B \"\\-\\-place TEXT\"\n\\&\\(aqquoted\\(aq, .dotted and back\\eslashed \\(titilde (required)\n"));
  CHECK(has("How many (default: 7)"));
  CHECK(has(".SS \"thing make THING\"\nMakes one.\n"));
  CHECK(has("\n\\&.Two\n"));  // no request of troff
  CHECK(has(".B \"/etc/thing\"\nits file\n"));
  CHECK(has(".BR loom (1) ,\n.BR a (8)\n"));
  CHECK(!has("hidden"));
  CHECK(!has("--help"));
}

TEST_CASE("a version names the program, the wire and the files") {
  CHECK(version_text("loom") ==
        "loom " + std::string(build_version()) + "\nspeaks wire version 1, reads configuration files of schema version 1\n");
  CHECK(version_text("loom", "answers of version 1").ends_with(", answers of version 1\n"));
}
