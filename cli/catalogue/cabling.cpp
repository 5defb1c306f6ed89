// SPDX-License-Identifier: Apache-2.0
// What people plug, written by the reader's own room, so that it is read again as it was written.
#include "cli/catalogue/cabling.hpp"

#include <cstdio>

#include "cli/command_line.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/cabling_file.hpp"
#include "core/config/fabric_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

int print_cabling(const Globals&, const std::string& path) {
  const auto fabric = load_fabric(path, all_fabric_kinds());
  if (!fabric) {
    return complain_of(fabric.errors);
  }
  std::fputs(cabling_of(*fabric.value).c_str(), stdout);
  print_note(format_text("{} cables; an inventory names the file under cabling:", fabric.value->fibres.size()));
  return kDone;
}

}  // namespace

void add_cabling(CLI::App& fabric, CommandLine& line) {
  CLI::App* verb = fabric.add_subcommand("cabling", "The cables of a fabric file as CSV: from, to, length, loss, label");
  auto& path = line.keep<std::string>();
  verb->add_option("FILE", path, "A fabric file")->required();
  line.when(*verb, print_cabling, path);
}

}  // namespace loom::cli
