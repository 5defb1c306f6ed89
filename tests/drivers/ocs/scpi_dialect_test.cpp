// SPDX-License-Identifier: Apache-2.0
// SCPI text against the exchanges that clients of real switches document.
#include "drivers/ocs/scpi_dialect.hpp"

#include <catch2/catch.hpp>

#include "drivers/scpi_identity.hpp"

namespace loom::scpi {
namespace {

constexpr Size kSize{16, 16};
using Connects = std::vector<CrossConnect>;

TEST_CASE("scpi_writes_one_batch_with_the_smaller_port_first") {
  const Connects connects{{0, 0}, {1, 1}, {2, 2}};
  CHECK(write_connects(Dialect{}.connect, kSize, connects) == ":oxc:swit:conn:add (@1,2,3),(@17,18,19);*opc?");
  CHECK(write_map(kSize, {}) == "(@),(@)");
}

TEST_CASE("scpi_reads_a_map_whichever_port_comes_first") {
  CHECK(read_map(kSize, "(@1,2,3),(@19,18,22)") == Connects{{0, 2}, {1, 1}, {2, 5}});
  CHECK(read_map(kSize, "(@19,2),(@1,18)") == Connects{{0, 2}, {1, 1}});
  CHECK(read_map(kSize, "(@),(@)") == Connects{});
}

TEST_CASE("scpi_refuses_a_map_that_cannot_be") {
  for (const char* text :
       {"", "(@1)", "(@1),(@)", "(@1),(@17", "(@1),(@17)x", "(@1,),(@17)", "(@0),(@17)", "(@1),(@33)", "(@1),(@2)",
        "(@17),(@18)", "(@1,1),(@17,18)", "(@1,2),(@17,17)", "(@-1),(@17)", "(@99999999999),(@17)", "(@1 ),(@17)"}) {
    INFO(text);
    CHECK_FALSE(read_map(kSize, text).has_value());
  }
}

TEST_CASE("scpi_reads_sizes_vendors_and_errors") {
  CHECK(read_size("16,16") == kSize);
  CHECK_FALSE(read_size("16").has_value());
  CHECK_FALSE(read_size("16,0").has_value());
  CHECK(read_identity("Polatis,I-OST-24x24-LU1-DMHNS,002414,6.5.2.18") ==
        Identity{"Polatis", "I-OST-24x24-LU1-DMHNS", "002414", "6.5.2.18"});
  CHECK_FALSE(read_identity("Polatis").has_value());
  CHECK_FALSE(read_identity(",,,").has_value());
  CHECK(read_identity("Maker, PM ,S2, 1.0 ") == Identity{"Maker", "PM", "S2", "1.0"});
  using enum PortState;
  CHECK(read_port_states("(D,E,F)") == std::vector{disabled, enabled, failed});
  CHECK(read_port_states("()") == std::vector<PortState>{});
  for (const char* text : {"", "(", "(E", "(E,)", "(X)", "(E)E", "E,D"}) {
    INFO(text);
    CHECK_FALSE(read_port_states(text).has_value());
  }
  CHECK(same_word("POLATIS", "Polatis"));
  CHECK(read_errors("0,\"No error\"") == std::vector<QueuedError>{});
  CHECK(read_errors("+0,\"No error\"") == std::vector<QueuedError>{});
  CHECK(read_errors("-222,\"Data out of range\",-100,\"say \"\"what\"\"\"") ==
        std::vector<QueuedError>{{-222, "Data out of range"}, {-100, "say \"what\""}});
  for (const char* text : {"", "0", "0,", "0,\"No error", "-222,\"x\",", "-222,\"x\" "}) {
    INFO(text);
    CHECK_FALSE(read_errors(text).has_value());
  }
}

TEST_CASE("scpi_takes_lines_and_nothing_else") {
  CHECK(unframe({}, "1\n") == "1");
  CHECK(unframe({}, "1\r\n") == "1");
  for (const char* line : {"", "\n", "\r\n", "1", "1\n1\n", "\x01\n"}) {
    INFO(line);
    CHECK_FALSE(unframe({}, line).has_value());
  }
}

}  // namespace
}  // namespace loom::scpi
