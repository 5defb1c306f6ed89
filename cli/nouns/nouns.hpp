// SPDX-License-Identifier: Apache-2.0
// The nouns of a running controller, each in a file of its own with its verbs, options, help and tables. A kind of row that can
// be listed and has no noun here gets `list` and `show` by itself (add_other_lists).
#pragma once

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

void add_status(CLI::App& app, CommandLine& line);
void add_node(CLI::App& app, CommandLine& line);
void add_device(CLI::App& app, CommandLine& line);
void add_circuit(CLI::App& app, CommandLine& line);
void add_job(CLI::App& app, CommandLine& line);
void add_schedule(CLI::App& app, CommandLine& line);
void add_lasers(CLI::App& app, CommandLine& line);
void add_alarm(CLI::App& app, CommandLine& line);
void add_audit(CLI::App& app, CommandLine& line);
void add_backup(CLI::App& app, CommandLine& line);
/// To be called last: of every kind of row in ReplyRows that no other noun lists.
void add_other_lists(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
