// Golden texts of the flexgrid dialect.
#include "drivers/wss/flexgrid_dialect.hpp"

#include <catch2/catch.hpp>

namespace loom::flexgrid {
namespace {

Dialect with_checksum() {
  Dialect dialect;
  dialect.checksum = true;
  return dialect;
}

TEST_CASE("frames_the_known_checksums") {
  CHECK(frame(with_checksum(), "OK") == "^OK$FF66\r\n");
  CHECK(frame(with_checksum(), "UCA 1,3,0.0;") == "^UCA 1,3,0.0;$FD82\r\n");
  CHECK(frame(Dialect{}, "OK") == "OK\r\n");
  CHECK(unframe(with_checksum(), "^OK$FF66\r\n") == "OK");
}

TEST_CASE("refuses_damaged_lines") {
  CHECK_FALSE(unframe(with_checksum(), "^OK$FF67\r\n").has_value());
  CHECK_FALSE(unframe(with_checksum(), "^OL$FF66\r\n").has_value());
  CHECK_FALSE(unframe(with_checksum(), "OK\r\n").has_value());
  CHECK_FALSE(unframe(with_checksum(), "\r\n").has_value());
  CHECK_FALSE(unframe(Dialect{}, "OK").has_value());
}

TEST_CASE("slots_become_slices_and_come_back") {
  const Dialect dialect;
  // 191.400 THz, 100 GHz wide: 191.350 to 191.450 THz are slices 5 to 20 of a window that starts at 191.325 THz.
  CHECK(channel_of(dialect, {-272, 8}, 0) == Channel{5, 20, 0});
  // The window's last slot: 196.1375 THz, 25 GHz wide, ends at 196.150 THz, slice 772.
  CHECK(channel_of(dialect, {486, 2}, 0) == Channel{769, 772, 0});
  for (std::int32_t n = -280; n <= 480; n += 7) {
    for (std::int32_t m = 1; m <= 8; ++m) {
      CHECK(slot_of(dialect, channel_of(dialect, {n, m}, 0)) == FrequencySlot{n, m});
    }
  }
  CHECK_FALSE(slot_of(dialect, Channel{5, 19, 0}).has_value());  // an odd number of slices is no G.694.1 slot
  CHECK(channel_of(dialect, {-290, 8}, 0).first < 1);            // below the window
}

TEST_CASE("a_channel_that_is_wider_than_any_slot_is_none_whatever_its_device_says") {
  const Dialect dialect;
  const auto grid = read_grid("DCC 1=0:2147483647;2=2147483647:0;3=2147483640:2147483647;4=1:8192;5=1:8196");
  REQUIRE(grid.has_value());
  REQUIRE(grid->size() == 5);
  CHECK_FALSE(slot_of(dialect, (*grid)[0]).has_value());
  CHECK_FALSE(slot_of(dialect, (*grid)[1]).has_value());
  CHECK_FALSE(slot_of(dialect, (*grid)[2]).has_value());
  CHECK(slot_of(dialect, (*grid)[3]) == FrequencySlot{-284 + 4'096, 4'096});  // the widest that a message carries
  CHECK_FALSE(slot_of(dialect, (*grid)[4]).has_value());
}

TEST_CASE("writes_and_reads_grids_and_ports") {
  const std::vector<Channel> grid{{5, 20, 0}, {21, 36, 0}};
  CHECK(write_grid(Dialect{}, grid) == "DCC 1=5:20;2=21:36");
  CHECK(read_grid("DCC 1=5:20;2=21:36") == grid);
  CHECK(read_grid("DCC ") == std::vector<Channel>{});
  const std::vector<ChannelSetting> settings{{1, {3, 0}}, {2, {}}, {3, {1, 125}}};
  CHECK(write_ports(settings) == "UCA 1,3,0.0;2,99,99.9;3,1,12.5");
  CHECK(read_ports("UCA 1,3,0.0;2,99,99.9;3,1,12.5") == settings);
  CHECK(read_ports("UCA 1,3,0.0;") == std::vector<ChannelSetting>{{1, {3, 0}}});
}

TEST_CASE("writes_the_input_of_a_channel_where_pairs_are_switched") {
  Dialect dialect;
  dialect.map = PortMap::by_pair;
  const std::vector<Channel> grid{{5, 20, 0}, {5, 20, 1}};
  CHECK(write_grid(dialect, grid) == "DCC 1=5:20@1;2=5:20@2");
  CHECK(read_grid("DCC 1=5:20@1;2=5:20@2") == grid);
}

TEST_CASE("refuses_texts_that_are_not_of_the_dialect") {
  for (const char* text : {"", "OK", "DCC", "DCC 2=5:20", "DCC 1=5", "DCC 1=5:20;2", "DCC 1=5:20@0", "DCC 1=-5:20",
                           "DCC 1=5:20x", "DCC 1=99999999999:2"}) {
    INFO(text);
    CHECK_FALSE(read_grid(text).has_value());
  }
  for (const char* text :
       {"", "UCA", "UCA 1", "UCA 1,3", "UCA 1,3,0", "UCA 1,3,0.00", "UCA 1,3,100.0", "UCA 1,70000,0.0", "UCA a,3,0.0"}) {
    INFO(text);
    CHECK_FALSE(read_ports(text).has_value());
  }
}

TEST_CASE("names_the_error_replies") {
  CHECK(error_name("RER") == "RER (out of range)");
  CHECK(error_name("OK").empty());
}

}  // namespace
}  // namespace loom::flexgrid
