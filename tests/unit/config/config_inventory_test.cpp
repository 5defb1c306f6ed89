// SPDX-License-Identifier: Apache-2.0
// Inventories: what stands in an installation, held against the fabric: places, models, serial numbers, cables.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "controller/architectures/registry.hpp"
#include "core/config/cabling_file.hpp"
#include "core/config/fabric_file.hpp"
#include "core/config/scenario/scenario_file.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "lightloom_inventory_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    write("fabric.yaml",
          "schema_version: 1\nkind: fabric\nname: f\ntemplate: oddl\nparameters: {nodes: 4, group_size: 4, channels: 8}\n");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  fs::path path() const { return path_; }

 private:
  fs::path path_;
};

const std::string kHead = "schema_version: 1\nkind: scenario\nname: s\nmode: mixed\nfabric: fabric.yaml\n";

std::string text_of(const std::vector<ConfigError>& errors) {
  std::string all;
  for (const ConfigError& error : errors) {
    all += fs::path(error.file).filename().string() + ":" + std::to_string(error.line) + ": " + error.message + "\n";
  }
  return all;
}

Loaded<Scenario> with_inventory(const Folder& folder, const std::string& inventory) {
  folder.write("inventory.yaml", "schema_version: 1\nkind: inventory\n" + inventory);
  return load_scenario(folder.write("s.yaml", kHead + "inventory: inventory.yaml\n"), all_fabric_kinds());
}

const Device& named(const Scenario& scenario, std::string_view name) {
  const auto found = std::ranges::find(scenario.fabric->devices, name, &Device::name);
  REQUIRE(found != scenario.fabric->devices.end());
  return *found;
}

TEST_CASE("an_inventory_of_its_own_says_where_buses_are_and_what_devices_are") {
  const Folder folder;
  const auto loaded = with_inventory(folder,
                                     "buses: {bus-wss-out-0: 'tcp://10.0.0.1:5000', bus-laser-1: 'serial:///dev/ttyUSB0'}\n"
                                     "devices:\n"
                                     "  wss-out-0: {serial: EP123456, profile: {ignored_status: 32768}}\n"
                                     "  laser-1: {kind: itla_laser, serial: CRT-7}\n");
  INFO(text_of(loaded.errors));
  REQUIRE(loaded);
  const Device& wss = named(*loaded.value, "wss-out-0");
  CHECK(wss.serial == "EP123456");
  CHECK(wss.profile == std::vector<DeviceSetting>{{"ignored_status", std::int64_t{32'768}}});
  CHECK(loaded.value->fabric->buses[wss.bus.value].endpoint == "tcp://10.0.0.1:5000");
  CHECK(named(*loaded.value, "laser-1").serial == "CRT-7");
  CHECK(named(*loaded.value, "laser-0").serial.empty());
}

TEST_CASE("an_inventory_that_contradicts_the_fabric_is_refused_with_its_place") {
  const Folder folder;
  const auto errors = [&](const std::string& text) { return text_of(with_inventory(folder, text).errors); };
  CHECK_THAT(errors("buses: {bus-wss-uot-0: 'tcp://10.0.0.1:5000'}\n"),
             Contains("inventory.yaml:3") && Contains("bus-wss-out-0"));
  CHECK_THAT(errors("buses: {bus-wss-out-0: 'tcp://10.0.0.1:5000'}\ndevices: {wss-out-0: {kind: ocs}}\n"),
             Contains("inventory.yaml:4: kind: ocs is a circuit_switch; 'wss-out-0' is a wavelength_switch of this fabric"));
  CHECK_THAT(errors("devices: {wss-out-0: {profile: {ignored_states: 1}}}\n"), Contains("did you mean 'ignored_status'?"));
  CHECK_THAT(errors("devices: {wss-out-0: {profile: {ignored_status: 65536}}}\n"),
             Contains("inventory.yaml:3") && Contains("65535"));
  CHECK_THAT(errors("devices: {wss-out-0: {profle: {}}}\n"), Contains("did you mean 'profile'?"));
  CHECK_THAT(errors("buses: {bus-heater-0: 'tcp://10.0.0.1:5000'}\n"),
             Contains("'heater-0' is a heater_bank, which does not speak tcp://; expected modbus-tcp://, modbus-rtu://"));
  CHECK_THAT(errors("buses: {bus-wss-out-0: 'tcp://10.0.0.1:5000', bus-wss-in-0: 'tcp://10.0.0.1:5000'}\n"),
             Contains("expected one device on it"));
  CHECK_THAT(errors("cabeling: x.csv\n"), Contains("did you mean 'cabling'?"));
  CHECK_THAT(text_of(load_scenario(folder.write("t.yaml", kHead + "inventory: nowhere.yaml\n"), all_fabric_kinds()).errors),
             Contains("nowhere.yaml"));
}

TEST_CASE("an_inventory_by_itself_can_be_checked") {
  const Folder folder;
  const std::string head = "schema_version: 1\nkind: inventory\n";
  CHECK(check_config(folder.write("i.yaml", head + "buses: {any: 'tcp://10.0.0.1:5000'}\n"), all_fabric_kinds()).empty());
  CHECK(check_config(folder.write("i.yaml", head + "buses: {any: 'tcp://10.0.0.1'}\n"), all_fabric_kinds()).size() == 1);
  CHECK(check_config(folder.write("i.yaml", head + "devices: {any: {kind: lasr}}\n"), all_fabric_kinds()).size() == 1);
}

TEST_CASE("cabling_is_held_against_the_fabric_and_gives_it_lengths") {
  const Folder folder;
  const auto fabric = load_fabric(folder.path() / "fabric.yaml", all_fabric_kinds());
  REQUIRE(fabric);
  const std::string csv = cabling_of(*fabric.value);
  const auto lines = static_cast<std::size_t>(std::ranges::count(csv, '\n'));
  CHECK(lines == fabric.value->fibres.size() + 1);
  const auto errors = [&](const std::string& text) {
    folder.write("cables.csv", text);
    return text_of(with_inventory(folder, "buses: {bus-wss-out-0: 'tcp://10.0.0.1:5000'}\ncabling: cables.csv\n").errors);
  };
  CHECK(errors(csv).empty());
  const std::size_t first = csv.find('\n') + 1;
  const std::size_t second = csv.find('\n', first) + 1;
  const std::string row = csv.substr(first, second - first);
  const std::string from = row.substr(0, row.find(','));
  const std::string to = row.substr(from.size() + 1, row.find(',', from.size() + 1) - from.size() - 1);
  SECTION("a length and a loss of the CSV are the fibre's") {
    std::string longer = csv;
    longer.replace(first, row.size(), from + "," + to + ",12.5,0.30,A1\n");
    folder.write("cables.csv", longer);
    const auto loaded = with_inventory(folder, "buses: {bus-wss-out-0: 'tcp://10.0.0.1:5000'}\ncabling: cables.csv\n");
    REQUIRE(loaded);
    CHECK(loaded.value->fabric->fibres[0].length_mm == 12'500);
    CHECK(loaded.value->fabric->fibres[0].loss == Db{30});
  }
  SECTION("a cable that is missing is named") {
    CHECK_THAT(errors(csv.substr(0, first) + csv.substr(second)),
               Contains("cables.csv") && Contains("no cable from " + from + " to " + to));
  }
  SECTION("a cable that stands twice is named with both lines") {
    CHECK_THAT(errors(csv + row), Contains("stands in line 2 already"));
  }
  SECTION("a swapped cable is named with both sides") {
    const std::size_t third = csv.find('\n', second) + 1;
    const std::string other = csv.substr(second, third - second);
    const std::string other_to = other.substr(other.find(',') + 1, other.find(',', other.find(',') + 1) - other.find(',') - 1);
    std::string swapped = csv;
    swapped.replace(first, row.size(), from + "," + other_to + ",1,0,X\n");
    CHECK_THAT(errors(swapped),
               Contains("a cable from " + from + " to " + other_to + "; the fabric's fibre from " + from + " leads to " + to));
  }
  SECTION("what is no CSV of cables is refused") {
    CHECK_THAT(errors(""), Contains("it is empty"));
    CHECK_THAT(errors("from,too\n"), Contains("no column is called 'too'"));
    CHECK_THAT(errors("from,label\n"), Contains("the header needs the column 'to' once"));
    CHECK_THAT(errors("from,to\nonly one cell\n"), Contains("cables.csv:2: 1 cells; the header has 2"));
    CHECK_THAT(errors("from,to,length_m\nx,y,-1\n"), Contains("length_m: found '-1'; expected 0 to"));
    CHECK_THAT(errors("from,to\nnobody," + to + "\n"), Contains("the fabric has no element 'nobody'"));
    CHECK_THAT(errors("from,to\n" + from + ":9999," + to + "\n"), Contains("is no output of"));
    CHECK_THAT(errors(std::string("from,to\n\0\xff\x01,\"\n", 14)), Contains("cables.csv:2"));
  }
}

}  // namespace
}  // namespace loom
