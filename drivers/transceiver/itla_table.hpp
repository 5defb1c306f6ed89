// SPDX-License-Identifier: Apache-2.0
// What ItlaDriver knows of registers and what it does with them, as two literal tables. Data only; itla.cpp walks them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/result.hpp"
#include "core/units.hpp"
#include "drivers/transceiver/itla_frame.hpp"

namespace loom::itla {

inline constexpr std::size_t kRegisters = 15;

inline constexpr Dbm kDark = kNoLight;  ///< OOP at or below: no light

constexpr std::int16_t to_signed(std::uint16_t word) { return static_cast<std::int16_t>(word); }

/// States of the procedure.
enum class State : std::uint8_t {
  rest,
  decide,  ///< no order of its own: chooses what the target needs next
  meet,    ///< is it the module that we knew, or did it start again since?
  acknowledge,
  survey,
  introduce,  ///< who is it, and what can it do?
  cut,
  prove_cut,
  prove_dark,
  write,
  settle,
  prove_locked,
  prove_thz,
  prove_ghz,
  prove_mhz,
  relight_or_rest,  ///< no order of its own
  relight,
  prove_lit,
  prove_power,
  prove_still_locked,  ///< light may have moved it: what was proven in the dark is proven again
  prove_lit_thz,
  prove_lit_ghz,
  prove_lit_mhz,
  trim,  ///< by an audit, in service
  trim_settle,
  name_error,
  proven,  ///< no order of its own
};

/// Every register that the driver keeps a copy of. Settings are written in this order; Channel is last, for writing it is
/// what starts the tuning (recipe of pytla). ResEna leads: whether there is light is what must be known first.
struct TableRow {
  Register reg;
  bool setting;
  bool optional;  ///< older modules answer RNI: then its value is 0 for good
  bool tunes;     ///< writing it moves the frequency
};
inline constexpr std::array<TableRow, kRegisters> kTable{{
    {Register::enable, false, false, false},
    {Register::ftf, true, true, true},
    {Register::grid, true, false, true},
    {Register::grid2, true, true, true},
    {Register::fcf1, true, false, true},
    {Register::fcf2, true, false, true},
    {Register::fcf3, true, true, true},
    {Register::power, true, false, false},
    {Register::channel, true, false, true},
    {Register::status_fatal, false, false, false},
    {Register::status_warning, false, false, false},
    {Register::lf1, false, false, false},
    {Register::lf2, false, false, false},
    {Register::lf3, false, true, false},
    {Register::oop, false, false, false},
}};

constexpr std::size_t index_of(Register reg) {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].reg == reg) {
      return i;
    }
  }
  return kTable.size();
}

enum class Ask : std::uint8_t {
  read,
  read_unknown,
  read_fact,
  write_differing,
  write_dark,
  write_lit,
  write_trim,
  clear_latches
};
enum class Must : std::uint8_t {
  be_answered,
  be_no_newcomer,
  be_off,
  be_on,
  be_dark,
  be_idle,
  be_locked,
  be_on_target,
  be_in_power
};

/// One state: what is asked, what must hold of the answer, where to go then and otherwise. `patient`: "otherwise" may be
/// repeated until the state's limit of time; if not, every way back counts as a round.
struct Row {
  State state;
  Ask ask;
  Register reg;
  Must must;
  State then;
  State otherwise;
  bool patient;
};

// clang-format off
inline constexpr std::array<Row, 23> kProcedure{{
    // state              asks                  register                must hold           then                    otherwise           patient
    {State::meet,         Ask::read,            Register::status_fatal, Must::be_no_newcomer, State::decide,        State::acknowledge, false},
    {State::acknowledge,  Ask::clear_latches,   Register::status_fatal, Must::be_answered,  State::meet,            State::meet,        false},
    {State::survey,       Ask::read_unknown,    Register::enable,       Must::be_answered,  State::decide,          State::survey,      false},
    {State::introduce,    Ask::read_fact,       Register::serial,       Must::be_answered,  State::decide,          State::introduce,   false},
    {State::cut,          Ask::write_dark,      Register::enable,       Must::be_answered,  State::prove_cut,       State::cut,         false},
    {State::prove_cut,    Ask::read,            Register::enable,       Must::be_off,       State::prove_dark,      State::cut,         false},
    {State::prove_dark,   Ask::read,            Register::oop,          Must::be_dark,      State::decide,          State::prove_dark,  true},
    {State::write,        Ask::write_differing, Register::channel,      Must::be_answered,  State::decide,          State::write,       false},
    {State::settle,       Ask::read,            Register::nop,          Must::be_idle,      State::prove_locked,    State::settle,      true},
    {State::prove_locked, Ask::read,            Register::status_fatal, Must::be_locked,    State::prove_thz,       State::settle,      true},
    {State::prove_thz,    Ask::read,            Register::lf1,          Must::be_answered,  State::prove_ghz,       State::settle,      true},
    {State::prove_ghz,    Ask::read,            Register::lf2,          Must::be_answered,  State::prove_mhz,       State::settle,      true},
    {State::prove_mhz,    Ask::read,            Register::lf3,          Must::be_on_target, State::relight_or_rest, State::settle,      true},
    {State::relight,      Ask::write_lit,       Register::enable,       Must::be_answered,  State::prove_lit,       State::relight,     false},
    {State::prove_lit,    Ask::read,            Register::enable,       Must::be_on,        State::prove_still_locked, State::decide,   false},
    {State::prove_power,  Ask::read,            Register::oop,          Must::be_in_power,  State::proven,          State::prove_power, true},
    {State::prove_still_locked, Ask::read,      Register::status_fatal, Must::be_locked,    State::prove_lit_thz,   State::prove_still_locked, true},
    {State::prove_lit_thz, Ask::read,           Register::lf1,          Must::be_answered,  State::prove_lit_ghz,   State::prove_still_locked, true},
    {State::prove_lit_ghz, Ask::read,           Register::lf2,          Must::be_answered,  State::prove_lit_mhz,   State::prove_still_locked, true},
    {State::prove_lit_mhz, Ask::read,           Register::lf3,          Must::be_on_target, State::prove_power,     State::prove_still_locked, true},
    {State::trim,         Ask::write_trim,      Register::ftf,          Must::be_answered,  State::trim_settle,     State::trim,        false},
    {State::trim_settle,  Ask::read,            Register::nop,          Must::be_idle,      State::decide,          State::trim_settle, true},
    {State::name_error,   Ask::read,            Register::nop,          Must::be_answered,  State::decide,          State::name_error,  false},
}};
// clang-format on

inline const Row& row_of(State state) {
  const auto row = std::find_if(kProcedure.begin(), kProcedure.end(), [state](const auto& r) { return r.state == state; });
  LOOM_ASSERT(row != kProcedure.end());
  return *row;
}

}  // namespace loom::itla
