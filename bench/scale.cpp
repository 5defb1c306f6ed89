// SPDX-License-Identifier: Apache-2.0
// What a node costs as fabrics grow: the same seconds of every architecture in virtual time, a job on most of the nodes and a
// small one that comes and goes, at 64 to 16,384 nodes. Each run is a process of its own, so that its memory is its own. Prints
// the cost of a node beside that at 1024 nodes of the same run, and the slopes; --page writes the table into a page.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/page_table.hpp"

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uint32_t kBaseNodes = 1024;   ///< whose cost others are compared with
constexpr std::uint32_t kSwitchPorts = 384;  ///< of TopoOpt's switches: as many servers are a block

struct Options {
  std::vector<std::string> architectures;
  std::vector<std::uint32_t> nodes;
  std::string loom;
  std::string page;
  double seconds = 6;
  bool json = false;
};

struct Row {
  std::string architecture;
  std::uint32_t nodes = 0;
  std::uint64_t events = 0;
  double cpu_s = 0;
  double memory_mb = 0;
  std::uint64_t committed = 0;
  std::uint64_t returned = 0;
  std::uint64_t violations = 0;
  std::string refused;  ///< why there are no figures
};

/// Parameters of a template, and how many nodes its large job has: what a node is made of stays as it is.
struct Shape {
  std::string parameters;
  std::uint32_t large = 0;
  std::uint32_t small = 0;
};

/// TopoOpt's: as few as there can be, alike but for the last, which is smaller.
std::uint32_t blocks_of(std::uint32_t nodes) { return (nodes + kSwitchPorts - 1) / kSwitchPorts; }
std::uint32_t last_block_of(std::uint32_t nodes) {
  const std::uint32_t blocks = blocks_of(nodes);
  return nodes - (blocks - 1) * ((nodes + blocks - 1) / blocks);
}

Shape shape_of(const std::string& architecture, std::uint32_t nodes) {
  const std::string count = "nodes: " + std::to_string(nodes);
  if (architecture == "oddl") {
    // A preamplifier takes the light of some 80 nodes, so larger fabrics have more groups: 256 at 16,384 nodes, for which no
    // wavelength switch on sale has ports. 64 nodes' light in one fibre is more than hazard level 1M.
    const bool is_large = nodes > 1024;
    return {count + (is_large ? ", group_size: 64, channels: 96, first_channel: 191.35 THz, channel_spacing: 50 GHz, "
                                "channel_width: 50 GHz, signal_width: 35 GHz"
                              : ", group_size: 32"),
            nodes - 16, 16};
  }
  if (architecture == "topoopt") {
    return {count + ", degree: 4, switch_ports: " + std::to_string(kSwitchPorts), last_block_of(nodes) - 16, 16};
  }
  if (architecture == "sip_ocs") {
    return {count + ", switches: 4", nodes - 16, 16};
  }
  return {count + ", rings: 1, channels: 8", nodes / 2, 8};
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

/// The large job once; of TopoOpt, whose jobs stay within a block, once a block.
void write_inputs(const fs::path& folder, const Options& options, const std::string& architecture, std::uint32_t nodes) {
  const Shape shape = shape_of(architecture, nodes);
  write(folder / "fabric.yaml", "schema_version: 1\nkind: fabric\nname: scale\nhazard_level: 3B\ntemplate: " + architecture +
                                    "\nparameters: {" + shape.parameters + "}\n");
  std::ostringstream scenario;
  scenario
      << "schema_version: 1\nkind: scenario\nname: scale\nmode: sim\nmodes: [sim]\nfabric: fabric.yaml\nseed: 7\nduration: "
      << options.seconds << " s\njobs:\n";
  const std::uint32_t large = architecture == "topoopt" ? blocks_of(nodes) : 1;
  for (std::uint32_t i = 0; i < large; ++i) {
    scenario << "  - {name: large-" << i << ", workload: vgg19, nodes: " << shape.large << ", at: 1 s}\n";
  }
  scenario << "  - {name: small, workload: vgg19, nodes: " << shape.small << ", at: 3 s, runs_for: 2 s}\n";
  write(folder / "scenario.yaml", scenario.str());
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A process that writes its output and its errors into files; nothing: it did not start.
std::optional<rusage> run_process(const std::vector<std::string>& words, const fs::path& out, const fs::path& errors) {
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));  // execv's signature is older than const
    }
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  rusage used{};
  int status = 0;
  if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 127) {
    return std::nullopt;
  }
  return used;
}

Row measure(const Options& options, const std::string& architecture, std::uint32_t nodes) {
  Row row;
  row.architecture = architecture;
  row.nodes = nodes;
  const fs::path folder = fs::temp_directory_path() / ("scale-" + std::to_string(getpid()));
  fs::create_directories(folder);
  write_inputs(folder, options, architecture, nodes);
  const auto used = run_process({options.loom, "--json", "sim", "run", (folder / "scenario.yaml").string()}, folder / "out",
                                folder / "errors");
  const std::string out = read(folder / "out");
  const Json said = Json::parse(out, nullptr, false);
  if (!used || said.is_discarded() || !said.contains("events")) {
    row.refused = read(folder / "errors").substr(0, 400);
    row.refused = row.refused.empty() ? "it died" : row.refused;
  } else {
    row.events = said.at("events");
    row.cpu_s = static_cast<double>(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
                static_cast<double>(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
    row.memory_mb = static_cast<double>(used->ru_maxrss) / 1024;
    row.committed = said.at("revisions").at("committed");
    row.returned = said.at("revisions").at("returned");
    row.violations = said.at("violations").size();
    for (const Json& job : said.at("jobs")) {
      row.refused = job.at("state") == "refused" ? job.at("why").get<std::string>() : row.refused;
    }
  }
  fs::remove_all(folder);
  return row;
}

const Row* base_of(const std::vector<Row>& rows, const Row& of) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) {
    return row.architecture == of.architecture && row.nodes == kBaseNodes && row.refused.empty();
  });
  return found == rows.end() ? nullptr : &*found;
}

double per_node(double value, const Row& row) { return value / row.nodes; }

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// By how much it grows where nodes double, as a power of two: 1 is proportional.
std::string slope(double before, double after, std::uint32_t nodes_before, std::uint32_t nodes_after) {
  return rounded(std::log(after / before) / std::log(static_cast<double>(nodes_after) / nodes_before));
}

std::string line(const std::vector<Row>& rows, std::size_t i) {
  const Row& row = rows[i];
  if (!row.refused.empty()) {
    return "| " + row.architecture + " | " + std::to_string(row.nodes) + " | refused | | | | | | | |\n";
  }
  const Row* base = base_of(rows, row);
  const Row* before =
      i > 0 && rows[i - 1].architecture == row.architecture && rows[i - 1].refused.empty() ? &rows[i - 1] : nullptr;
  char text[320];
  std::snprintf(text, sizeof text, "| %s | %u | %.2f | %.2f | %.0f | %s | %s | %.0f | %s | %llu, %llu, %llu |\n",
                row.architecture.c_str(), row.nodes, static_cast<double>(row.events) / 1e6, row.cpu_s,
                static_cast<double>(row.events) / row.cpu_s / 1e3,
                base == nullptr ? "" : rounded(per_node(row.cpu_s, row) / per_node(base->cpu_s, *base)).c_str(),
                before == nullptr ? "" : slope(before->cpu_s, row.cpu_s, before->nodes, row.nodes).c_str(), row.memory_mb,
                before == nullptr ? "" : slope(before->memory_mb, row.memory_mb, before->nodes, row.nodes).c_str(),
                static_cast<unsigned long long>(row.committed), static_cast<unsigned long long>(row.returned),
                static_cast<unsigned long long>(row.violations));
  return text;
}

std::string markdown(const std::vector<Row>& rows) {
  std::string text =
      "| architecture | nodes | events, million | CPU, s | events a CPU second, thousand | CPU of a node, of that at 1024 | "
      "slope | memory, MB | slope | committed, returned, violations |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += line(rows, i);
  }
  return text;
}

Json json(const std::vector<Row>& rows) {
  Json all = Json::array();
  for (const Row& row : rows) {
    Json each{{"architecture", row.architecture}, {"nodes", row.nodes}};
    if (row.refused.empty()) {
      each.update({{"events", row.events},
                   {"cpu_s", row.cpu_s},
                   {"memory_mb", row.memory_mb},
                   {"committed", row.committed},
                   {"returned", row.returned},
                   {"violations", row.violations}});
    } else {
      each["refused"] = row.refused;
    }
    all.push_back(std::move(each));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Times the simulation of every architecture as its fabric grows"};
  app.add_option("--architecture", options.architectures, "oddl, topoopt, sip_ocs, sip_ring; may be repeated");
  app.add_option("--nodes", options.nodes, "May be repeated");
  app.add_option("--seconds", options.seconds, "Virtual seconds of a run")->check(CLI::Range(5.5, 3600.0));
  app.add_option("--loom", options.loom, "The operator's program; else the one of this build");
  app.add_option("--page", options.page, "Also write the table into this page, between its marks");
  app.add_flag("--json", options.json, "All figures as one JSON object");
  CLI11_PARSE(app, argc, argv);
  if (options.architectures.empty()) {
    options.architectures = {"oddl", "topoopt", "sip_ocs", "sip_ring"};
  }
  if (options.nodes.empty()) {
    options.nodes = {64, 256, 1024, 4096, 16'384};
  }
  if (options.loom.empty()) {
    options.loom = (fs::canonical(argv[0]).parent_path().parent_path() / "bin" / "loom").string();
  }
  std::vector<Row> rows;
  for (const std::string& architecture : options.architectures) {
    for (const std::uint32_t nodes : options.nodes) {
      rows.push_back(measure(options, architecture, nodes));
      std::fprintf(stderr, "%s", line(rows, rows.size() - 1).c_str());
      if (!rows.back().refused.empty()) {
        std::fprintf(stderr, "%s\n", rows.back().refused.c_str());
      }
    }
  }
  std::fputs(options.json ? (json(rows).dump(2) + "\n").c_str() : markdown(rows).c_str(), stdout);
  return options.page.empty() || loom::write_page_table(options.page, "scale", markdown(rows)) ? 0 : 1;
}
