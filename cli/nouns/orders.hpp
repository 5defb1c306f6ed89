// The commands that change something on a running controller beside jobs: nodes, devices, alarms, schedules. Each one prints
// what the controller answered, and with --wait follows the revision that carries it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "core/operator.hpp"

namespace loom::cli {

struct OrderOptions {
  bool wait = false;
  bool force = false;
  bool direct = false;  ///< to the agents themselves
};

int order_node(const Globals& globals, const OrderOptions& options, std::uint32_t node, NodeOrder order);

struct DeviceWords {
  std::uint32_t device = 0;
  std::vector<std::string> words;  ///< key=value
  bool clear = false;
};

int set_device(const Globals& globals, const OrderOptions& options, const DeviceWords& order);
int reset_device(const Globals& globals, std::uint32_t device);
int acknowledge_alarm(const Globals& globals, std::uint64_t alarm);
int explain_circuit(const Globals& globals, std::uint64_t circuit);

struct ScheduleOrder {
  std::string target;  ///< diff: a revision, a file or empty; apply: a file; rollback: a revision or empty
  std::string mode = "safe";
  std::string confirm_within;
};

/// Exit 1: they differ.
int diff_schedule(const Globals& globals, const ScheduleOrder& order);
int apply_schedule(const Globals& globals, const OrderOptions& options, const ScheduleOrder& order);
int confirm_schedule(const Globals& globals);
int roll_back_schedule(const Globals& globals, const OrderOptions& options, const ScheduleOrder& order);

}  // namespace loom::cli
