// SPDX-License-Identifier: Apache-2.0
// Tape replay: a controller that really ran, once more, from what it heard: the same machine, host and planner over seams that
// do nothing, with a tape in place of the world. After every event the digest of everything heard and answered must be the
// tape's. It opens no socket, reads no clock and writes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/journal/journal.hpp"
#include "core/journal/tape.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

/// The first event after which the replay is no longer what the live session was.
struct Divergence {
  std::uint64_t event = 0;        ///< of the whole tape, from 1
  std::uint32_t incarnation = 0;  ///< from 1
  Instant at{};
  std::string kind;
  std::vector<std::string> answers;  ///< what the replay answered to it, one word an effect
};

struct TapeVerdict {
  std::uint32_t incarnations = 0;
  std::uint64_t events = 0;
  std::uint64_t answers = 0;  ///< effects
  std::uint64_t plans = 0;    ///< made again
  std::uint64_t commits = 0;  ///< confirmed
  Duration covered{};         ///< from the first to the last event, sum of the incarnations
  std::uint64_t digest = 0;   ///< after the last event that agreed
  std::optional<Divergence> divergence;
  std::uint64_t skipped = 0;  ///< events of incarnations whose beginning is gone, and the replay began behind them
  std::string damage;         ///< of the tape, empty: sound to its end; what lies before it in its incarnation was replayed
};

/// The scenario that the last incarnation of a tape was started with, as its daemon was told. Errors: as replay_tape.
Result<TapeHead> head_of_tape(const std::filesystem::path& path);

/// Errors: not_found, malformed (no tape, or an entry that does not decode: names its number), wrong_version, conflict (another
/// fabric or algorithm than the tape's).
/// `on_append`: told of every row that the controller asks its journal to keep, with the instant of the asking.
Result<TapeVerdict> replay_tape(const std::filesystem::path& path, const Scenario& scenario,
                                const std::function<void(Instant, const Record&)>& on_append = {});

}  // namespace loom
