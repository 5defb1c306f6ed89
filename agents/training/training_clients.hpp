// SPDX-License-Identifier: Apache-2.0
// TrainingClients: the training processes of one node, and what they and its agent tell each other, as lines of JSON
// (docs/training_processes.md). Each process counts its iterations by itself; the node counts how often all of them wanted
// light. It knows no socket.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/messages/training.hpp"

namespace loom {

class TrainingClients {
 public:
  struct Outlets {
    std::function<void(TrainingReady ready)> ready;                          ///< to the agent; called from inside
    std::function<void(std::uint64_t client, const std::string& line)> say;  ///< without the line's end
  };
  struct Counters {
    std::uint64_t lines = 0;
    std::uint64_t refused = 0;  ///< lines that were answered with an error
    std::uint64_t old = 0;      ///< of an iteration that has its light, or is not the present one
  };
  /// `node`: its name.
  TrainingClients(std::string node, Outlets outlets);

  void joined(std::uint64_t client);
  /// What it had asked for is forgotten.
  void left(std::uint64_t client);
  /// A line of a client. One that cannot be understood is answered with an error that names what, where and the limit.
  void heard(std::uint64_t client, std::string_view line);
  /// A word of the agent, for all of them. `wall_offset`: wall-clock time minus the clock of its instants, now.
  void tell(const TrainingWord& word, Duration wall_offset);
  const Counters& counters() const { return counters_; }

 private:
  struct Client {
    std::uint64_t asks = 0;    ///< for the light of this iteration; 0: for none now
    std::uint64_t lit = 0;     ///< of the light that was there last; 0: none
    std::uint64_t before = 0;  ///< of the light before that
    bool is_over = true;       ///< the last light
  };
  void refuse(std::uint64_t client, std::string_view line, const std::string& expected);
  void ask(Client& client, std::uint64_t iteration);
  void report_ready();
  void lose_light();
  static std::string line_of(const TrainingWord& word, Duration wall_offset, const Client& client);

  std::string node_;
  Outlets outlets_;
  std::map<std::uint64_t, Client> clients_;
  std::uint64_t processes_ = 0;  ///< that the node has, as one of them said; 0: as many as are connected
  JobId job_;                    ///< of the last word
  std::uint64_t wanted_ = 0;     ///< how often all of them wanted light: the agent's number of the last time
  bool is_wanted_ = false;       ///< and that light has not come yet
  Counters counters_;
};

}  // namespace loom
