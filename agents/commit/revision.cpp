// SPDX-License-Identifier: Apache-2.0
// The table. Rows are states, columns are words; a cell that names a state is obeyed and leads there.
#include "agents/commit/revision.hpp"

namespace loom {

namespace {

using enum RevisionState;

constexpr RevisionStep to(RevisionState next) { return {Reaction::handle, next}; }
constexpr RevisionStep kAgain{Reaction::again, idle};
constexpr RevisionStep kEarly{Reaction::early, idle};
constexpr RevisionStep kDrop{Reaction::drop, idle};

using Row = std::array<RevisionStep, kRevisionMessages>;

// clang-format off
constexpr std::array<Row, kRevisionStates> kTable = {{
    //               arm        go             move        relight         abandon   confirm   all_ready     fire           all_dark    all_settled  all_lit   trouble
    /* idle       */ {kAgain,    kAgain,        kAgain,     kAgain,         kDrop,    kDrop,    kDrop,        kDrop,         kDrop,      kDrop,       kDrop,    kDrop},
    /* preparing  */ {kEarly,    kEarly,        kEarly,     kEarly,         to(idle), kDrop,    to(prepared), kDrop,         kDrop,      kDrop,       kDrop,    to(failed)},
    /* prepared   */ {to(armed), kEarly,        kEarly,     kEarly,         to(idle), kDrop,    kDrop,        kDrop,         kDrop,      kDrop,       kDrop,    to(failed)},
    /* armed      */ {to(armed), to(going),     kEarly,     kEarly,         to(idle), kDrop,    kDrop,        to(dark),      kDrop,      kDrop,       kDrop,    to(failed)},
    /* going      */ {kAgain,    kAgain,        kEarly,     kEarly,         to(idle), kDrop,    kDrop,        to(darkening), kDrop,      kDrop,       kDrop,    to(failed)},
    /* dark       */ {kAgain,    to(darkening), kEarly,     kEarly,         to(idle), kDrop,    kDrop,        kDrop,         kDrop,      kDrop,       kDrop,    to(failed)},
    /* darkening  */ {kAgain,    kAgain,        kEarly,     kEarly,         to(idle), kDrop,    kDrop,        kDrop,         to(moving), kDrop,       kDrop,    to(failed)},
    /* moving     */ {kAgain,    kAgain,        to(moving), kEarly,         to(idle), kDrop,    kDrop,        kDrop,         kDrop,      to(settled), kDrop,    to(failed)},
    /* settled    */ {kAgain,    kAgain,        kAgain,     to(relighting), to(idle), kDrop,    kDrop,        kDrop,         kDrop,      kDrop,       kDrop,    to(failed)},
    /* relighting */ {kAgain,    kAgain,        kAgain,     kAgain,         to(idle), kDrop,    kDrop,        kDrop,         kDrop,      kDrop,       to(lit),  to(failed)},
    /* lit        */ {kAgain,    kAgain,        kAgain,     kAgain,         kDrop,    to(idle), kDrop,        kDrop,         kDrop,      kDrop,       kDrop,    kDrop},
    /* failed     */ {kAgain,    kAgain,        kAgain,     kAgain,         to(idle), kDrop,    kDrop,        kDrop,         kDrop,      kDrop,       kDrop,    kDrop},
}};
// clang-format on

}  // namespace

RevisionStep react(RevisionState state, RevisionMessage message) {
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(message)];
}

std::string_view to_string(RevisionState state) {
  constexpr std::array<std::string_view, kRevisionStates> kNames = {"idle",    "preparing",  "prepared",  "armed",
                                                                    "going",   "dark",       "darkening", "moving",
                                                                    "settled", "relighting", "lit",       "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace loom
