// SPDX-License-Identifier: Apache-2.0
// Golden vectors of the ITLA wire.
#include <catch2/catch.hpp>

#include "drivers/transceiver/itla_frame.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom::itla {
namespace {

TEST_CASE("encodes_the_known_request_frames") {
  CHECK(encode(Request{false, Register::nop, 0}) == FrameBytes{0x00, 0x00, 0x00, 0x00});
  CHECK(encode(Request{true, Register::enable, 0x0008}) == FrameBytes{0x81, 0x32, 0x00, 0x08});
  CHECK(encode(Request{true, Register::power, 1000}) == FrameBytes{0x61, 0x31, 0x03, 0xE8});
  CHECK(encode(Request{true, Register::fcf1, 193}) == FrameBytes{0xA1, 0x35, 0x00, 0xC1});
  CHECK(encode(Request{true, Register::fcf2, 1000}) == FrameBytes{0x11, 0x36, 0x03, 0xE8});
  CHECK(encode(Request{true, Register::channel, 1}) == FrameBytes{0x31, 0x30, 0x00, 0x01});
}

TEST_CASE("encodes_and_reads_the_known_reply_frame") {
  const FrameBytes ready{0x54, 0x00, 0x00, 0x10};
  CHECK(encode(Response{Status::ok, false, Register::nop, 0x0010}) == ready);
  CHECK(decode_response(ready) == Response{Status::ok, false, Register::nop, 0x0010});
}

TEST_CASE("refuses_every_frame_with_one_flipped_bit") {
  const FrameBytes sound = encode(Response{Status::pending, false, Register::channel, 0x1234});
  for (std::size_t bit = 0; bit < 32; ++bit) {
    FrameBytes damaged = sound;
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    CHECK_FALSE(decode_response(damaged).has_value());
    CHECK_FALSE(decode_request(damaged).has_value());
  }
}

TEST_CASE("refuses_frames_of_another_length") {
  const std::array<std::uint8_t, 3> three{};
  CHECK_FALSE(decode_response(three).has_value());
  CHECK_FALSE(decode_response({}).has_value());
}

TEST_CASE("every_state_with_an_order_has_one_row_in_the_procedure") {
  for (const State state : {State::survey, State::cut, State::prove_cut, State::prove_dark, State::write, State::settle,
                            State::prove_locked, State::prove_thz, State::prove_ghz, State::prove_mhz, State::relight,
                            State::prove_lit, State::prove_power, State::name_error}) {
    CHECK(std::count_if(kProcedure.begin(), kProcedure.end(), [state](const Row& row) { return row.state == state; }) == 1);
  }
}

}  // namespace
}  // namespace loom::itla
