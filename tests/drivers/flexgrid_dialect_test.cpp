// SPDX-License-Identifier: Apache-2.0
// Golden texts of the flexgrid dialect.
#include "drivers/wss/flexgrid_dialect.hpp"

#include <catch2/catch.hpp>

namespace loom::flexgrid {
namespace {

Dialect coarse() {
  Dialect dialect;
  dialect.slices = kCoarseSlices;
  return dialect;
}

TEST_CASE("frames_the_known_checksums") {
  CHECK(frame(true, "OK") == "^OK$FF66\r\n");
  CHECK(frame(true, "UCA 1,3,0.0;") == "^UCA 1,3,0.0;$FD82\r\n");
  CHECK(frame(false, "OK") == "OK\r\n");
  CHECK(unframe("^OK$FF66") == "OK");
  CHECK(unframe("OK") == "OK");
}

TEST_CASE("refuses_damaged_lines") {
  for (const char* line : {"^OK$FF67", "^OL$FF66", "^OK", "^", "^$"}) {
    INFO(line);
    CHECK_FALSE(unframe(line).has_value());
  }
}

TEST_CASE("a_reply_is_data_and_ok_or_an_error_in_either_form") {
  const auto read = [](std::string_view bytes) {
    const auto reply = read_reply(bytes);
    return reply ? std::string(reply->data) + "|" + std::string(reply->end) : "none";
  };
  CHECK(read("OK\r\n") == "|OK");
  CHECK(read("1=5:20;2=21:36\r\nOK\r\n") == "1=5:20;2=21:36|OK");
  CHECK(read("^0x0000$FE98\r\n^OK$FF66\r\n") == "0x0000|OK");
  CHECK(read("^RER$FF17\r\n") == "|RER");
  for (const char* bytes : {"", "OK", "\r\n", "1=5:20\r\n", "1\r\n2\r\nOK\r\n", "^OK$FF67\r\n", "ok\r\n"}) {
    INFO(bytes);
    CHECK(read(bytes) == "none");
  }
  CHECK(read_status("0x8001") == 0x8001);
  CHECK(read_status("0x0000") == 0);
  for (const char* text : {"", "0x", "8001", "0x12345", "0x1G", "0x 1"}) {
    INFO(text);
    CHECK_FALSE(read_status(text).has_value());
  }
}

TEST_CASE("slots_become_slices_and_come_back") {
  const Dialect dialect;
  // 191.400 THz, 100 GHz wide: 191.350 to 191.450 THz are slices 5 to 20 of a window that starts at 191.325 THz.
  CHECK(channel_of(dialect, {-272, 8}) == Channel{5, 20});
  // The window's last slot: 196.1375 THz, 25 GHz wide, ends at 196.150 THz, slice 772.
  CHECK(channel_of(dialect, {486, 2}) == Channel{769, 772});
  for (std::int32_t n = -280; n <= 480; n += 7) {
    for (std::int32_t m = 1; m <= 8; ++m) {
      CHECK(slot_of(dialect, channel_of(dialect, {n, m})) == FrequencySlot{n, m});
    }
  }
  CHECK_FALSE(slot_of(dialect, Channel{5, 19}).has_value());  // an odd number of slices is no G.694.1 slot
  CHECK(channel_of(dialect, {-290, 8}).first < 1);            // below the window
}

TEST_CASE("a_channel_that_is_wider_than_any_slot_is_none_whatever_its_device_says") {
  const Dialect dialect;
  const auto grid = read_grid(dialect, "1=0:1048576;2=1048576:0;3=1048570:1048576;4=1:8192;5=1:8196");
  REQUIRE(grid.has_value());
  REQUIRE(grid->size() == 5);
  CHECK_FALSE(slot_of(dialect, (*grid)[0]).has_value());
  CHECK_FALSE(slot_of(dialect, (*grid)[1]).has_value());
  CHECK_FALSE(slot_of(dialect, (*grid)[2]).has_value());
  CHECK(slot_of(dialect, (*grid)[3]) == FrequencySlot{-284 + 4'096, 4'096});  // the widest that a message carries
  CHECK_FALSE(slot_of(dialect, (*grid)[4]).has_value());
}

TEST_CASE("a_device_of_wide_slices_counts_them_itself") {
  CHECK(write_grid(coarse(), std::vector<Channel>{{5, 20}, {21, 36}, {771, 772}}) == "1=3:10;2=11:18;3=386:386");
  CHECK(read_grid(coarse(), "1=3:10;2=11:18;3=386:386") == std::vector<Channel>{{5, 20}, {21, 36}, {771, 772}});
  CHECK(fits_slices(coarse(), {5, 20}));
  CHECK_FALSE(fits_slices(coarse(), {6, 21}));
  CHECK(fits_slices(Dialect{}, {6, 21}));
}

TEST_CASE("writes_and_reads_grids_and_ports") {
  const std::vector<Channel> grid{{5, 20}, {21, 36}};
  CHECK(write_grid(Dialect{}, grid) == "1=5:20;2=21:36");
  CHECK(read_grid({}, "1=5:20;2=21:36") == grid);
  CHECK(read_grid({}, "1=5:20; 2=21:36;") == grid);  // as clients of the real device write it
  CHECK(read_grid({}, "") == std::vector<Channel>{});
  const std::vector<ChannelSetting> settings{{1, {3, 0}}, {2, {}}, {3, {1, 125}}};
  CHECK(write_ports(settings) == "1,3,0.0;2,99,99.9;3,1,12.5");
  CHECK(read_ports("1,3,0.0;2,99,99.9;3,1,12.5") == settings);
  CHECK(read_ports("1,3,0.0;") == std::vector<ChannelSetting>{{1, {3, 0}}});
}

TEST_CASE("refuses_texts_that_are_not_of_the_dialect") {
  for (const char* text : {"OK", "DCC 1=5:20", "2=5:20", "1=5", "1=5:20;2", "1=5:20@1", "1=-5:20", "1=5:20x", "1=99999999999:2",
                           "1=5:2000000", "1=5:20;;", " 1=5:20"}) {
    INFO(text);
    CHECK_FALSE(read_grid({}, text).has_value());
  }
  for (const char* text : {"UCA 1,1,0.0", "1", "1,3", "1,3,0", "1,3,0.00", "1,3,100.0", "1,70000,0.0", "a,3,0.0"}) {
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
