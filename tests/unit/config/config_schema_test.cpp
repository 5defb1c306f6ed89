// SPDX-License-Identifier: Apache-2.0
// Every committed configuration passes check and fits its JSON Schema, and schema and reader know the same keys: the keys
// that the reader names when it meets an unknown one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "controller/architectures/registry.hpp"
#include "controller/arena/cluster/cluster_file.hpp"
#include "controller/arena/cost/prices.hpp"
#include "controller/workload/import/model_file.hpp"
#include "core/config/fabric_file.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/config/yaml/yaml_document.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::set<std::string>;

Json schema_of(const std::string& kind) {
  std::ifstream stream("configs/schema/" + kind + ".schema.json");
  REQUIRE(stream);
  return Json::parse(stream);
}

/// The YAML 1.2 core schema: what an editor hands to its JSON Schema validator.
Json json_of(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::list) {
    Json list = Json::array();
    for (const YamlNode& item : node.items) {
      list.push_back(json_of(item));
    }
    return list;
  }
  if (node.kind == YamlNode::Kind::map) {
    Json map = Json::object();
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      map[node.keys[i].text] = json_of(node.items[i]);
    }
    return map;
  }
  static const std::regex kInteger("[-+]?[0-9]+");
  static const std::regex kReal("[-+]?[0-9]+\\.[0-9]*");
  if (node.quoted || node.kind == YamlNode::Kind::null) {
    return node.quoted ? Json(node.text) : Json();
  }
  if (std::regex_match(node.text, kInteger)) {
    return std::stoll(node.text);
  }
  if (std::regex_match(node.text, kReal)) {
    return std::stod(node.text);
  }
  return node.text == "true" || node.text == "false" ? Json(node.text == "true") : Json(node.text);
}

/// As much of JSON Schema as our schemas use; an unknown keyword fails the test.
class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  bool fits(const Json& value, const Json& schema) const {
    return std::ranges::all_of(schema.items(),
                               [&](const auto& rule) { return fits_rule(value, schema, rule.key(), rule.value()); });
  }

 private:
  bool fits_rule(const Json& value, const Json& schema, const std::string& rule, const Json& limit) const {
    static const Words kSilent{"$schema", "$id", "title", "description", "$defs", "additionalProperties"};
    if (kSilent.contains(rule)) {
      return true;
    }
    if (rule == "$ref") {
      return fits(value, root_.at(Json::json_pointer(limit.get<std::string>().substr(1))));
    }
    if (rule == "oneOf") {
      return std::ranges::count_if(limit, [&](const Json& one) { return fits(value, one); }) == 1;
    }
    if (rule == "type") {
      return limit.is_array() ? std::ranges::any_of(limit, [&](const Json& one) { return has_type(value, one); })
                              : has_type(value, limit);
    }
    if (rule == "const") {
      return value == limit;
    }
    if (rule == "enum") {
      return std::ranges::find(limit, value) != limit.end();
    }
    if (rule == "pattern") {
      return !value.is_string() || std::regex_search(value.get<std::string>(), std::regex(limit.get<std::string>()));
    }
    if (rule == "required") {
      return !value.is_object() ||
             std::ranges::all_of(limit, [&](const Json& key) { return value.contains(key.get<std::string>()); });
    }
    if (rule == "items") {
      return !value.is_array() || std::ranges::all_of(value, [&](const Json& item) { return fits(item, limit); });
    }
    if (rule == "properties") {
      return fits_properties(value, limit, schema.value("additionalProperties", Json(true)));
    }
    return fits_size(value, rule, limit);
  }

  bool fits_properties(const Json& value, const Json& properties, const Json& others) const {
    return !value.is_object() || std::ranges::all_of(value.items(), [&](const auto& entry) {
      if (properties.contains(entry.key())) {
        return fits(entry.value(), properties.at(entry.key()));
      }
      return others.is_boolean() ? others.get<bool>() : fits(entry.value(), others);
    });
  }

  static bool fits_size(const Json& value, const std::string& rule, const Json& limit) {
    if (rule == "minimum" || rule == "maximum") {
      return !value.is_number() || (rule == "minimum" ? value >= limit : value <= limit);
    }
    const std::size_t size = value.is_string() ? value.get<std::string>().size() : value.size();
    if (rule == "minLength" || rule == "minItems") {
      return size >= limit.get<std::size_t>();
    }
    if (rule == "maxItems" || rule == "maxProperties") {
      return size <= limit.get<std::size_t>();
    }
    FAIL("the test's validator does not know the keyword " << rule);
    return false;
  }

  static bool has_type(const Json& value, const Json& type) {
    const auto word = type.get<std::string>();
    return (word == "object" && value.is_object()) || (word == "array" && value.is_array()) ||
           (word == "string" && value.is_string()) || (word == "integer" && value.is_number_integer()) ||
           (word == "number" && value.is_number()) || (word == "boolean" && value.is_boolean());
  }

  const Json& root_;
};

std::vector<fs::path> committed(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("configs/" + folder)) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST_CASE("every_committed_config_passes_check_and_fits_its_schema") {
  for (const auto& [folder, kind] :
       {std::pair{"fabrics", "fabric"}, std::pair{"scenarios", "scenario"}, std::pair{"faults", "faults"},
        std::pair{"calibration", "calibration"}, std::pair{"models", "model"}, std::pair{"clusters", "cluster"},
        std::pair{"prices", "prices"}, std::pair{"inventories", "inventory"}}) {
    const Json schema = schema_of(kind);
    const auto files = committed(folder);
    CHECK_FALSE(files.empty());
    for (const fs::path& file : files) {
      CAPTURE(file.string());
      for (const ConfigError& error : check_config(file, all_fabric_kinds())) {
        FAIL_CHECK(to_string(error));
      }
      const auto document = read_yaml(file);
      REQUIRE(document);
      CHECK(Validator(schema).fits(json_of(*document.value), schema));
    }
  }
}

TEST_CASE("the_schemas_refuse_what_the_reader_refuses") {
  const Json fabric = schema_of("fabric");
  const auto fits = [&](std::string_view text) {
    return Validator(fabric).fits(json_of(*parse_yaml("f", text).value), fabric);
  };
  CHECK(fits("{schema_version: 1, kind: fabric, template: oddl, parameters: {rate: 100 Gb/s}}"));
  CHECK_FALSE(fits("{schema_version: 1, kind: fabric, template: oddl, parameters: {rate: 100 GHz}}"));
  CHECK_FALSE(fits("{schema_version: 1, kind: fabric, template: oddl, parameters: {rat: 100 Gb/s}}"));
  CHECK_FALSE(fits("{schema_version: 2, kind: fabric, template: oddl}"));
  CHECK_FALSE(fits("{schema_version: 1, kind: fabric}"));
  CHECK_FALSE(fits("{schema_version: 1, kind: fabric, template: oddl, parameters: {nodes: 0}}"));
}

/// What the reader says of a file: the keys that it knows beside the unknown key `zzz`, and those that it misses.
struct Received {
  Words known;
  Words missing;
  Words words;  ///< of "expected one of: ..."
};

Words split(std::string list) {
  Words words;
  static const std::regex kWord("[^, ]+");
  for (std::sregex_iterator at(list.begin(), list.end(), kWord), end; at != end; ++at) {
    words.insert(at->str());
  }
  return words;
}

Received listen(const std::vector<ConfigError>& errors) {
  Received received;
  static const std::regex kUnknown("unknown key 'zzz' .*\\(known: (.*)\\)");
  static const std::regex kMissing(" lacks the key '([a-z_]+)'");
  static const std::regex kOneOf("found 'zzz'; expected one of: ([a-z0-9_, -]*)");
  for (const ConfigError& error : errors) {
    std::smatch match;
    if (std::regex_search(error.message, match, kUnknown)) {
      received.known = split(match[1]);
    } else if (std::regex_search(error.message, match, kMissing)) {
      received.missing.insert(match[1]);
    } else if (std::regex_search(error.message, match, kOneOf)) {
      received.words = split(match[1]);
    }
  }
  return received;
}

Received ask(const std::string& text) {
  const fs::path path =
      fs::temp_directory_path() / ("lightloom_schema_" + std::to_string(std::hash<std::string>{}(text)) + ".yaml");
  std::ofstream(path) << text;
  const auto document = read_yaml(path);
  REQUIRE(document);
  const auto is_of = [&](const char* kind) { return text.find(std::string("kind: ") + kind + "\n") != std::string::npos; };
  const Received received = listen(is_of("scenario")  ? load_scenario(path, all_fabric_kinds()).errors
                                   : is_of("model")   ? check_model_file(path, *document.value)
                                   : is_of("cluster") ? read_cluster(path, *document.value).errors
                                   : is_of("prices")  ? read_prices(path, *document.value).errors
                                   : is_of("faults") || is_of("calibration") || is_of("inventory")
                                       ? check_config(path, all_fabric_kinds())
                                       : read_fabric(path.string(), *document.value, all_fabric_kinds()).errors);
  fs::remove(path);
  return received;
}

Words keys_of(const Json& object) {
  Words keys;
  for (const auto& entry : object.items()) {
    keys.insert(entry.key());
  }
  return keys;
}

/// `text` has `zzz: 1` in the map that `schema` describes, and of that map's required keys those in `given`.
void agree(const Json& schema, const std::string& text, const Words& given) {
  CAPTURE(text);
  const Received received = ask(text);
  CHECK(received.known == keys_of(schema.at("properties")));
  Words missing = schema.value("required", Words{});
  std::erase_if(missing, [&](const std::string& key) { return given.contains(key); });
  CHECK(received.missing == missing);
}

const std::string kExplicit = "schema_version: 1\nkind: fabric\nname: f\narchitecture: bench\n";
const std::string kLists = "nodes: []\nelements: []\n";

TEST_CASE("the_calibration_schema_and_the_reader_know_the_same_keys") {
  agree(schema_of("calibration"), "schema_version: 1\nkind: calibration\nzzz: 1\n", {"schema_version", "kind"});
}

TEST_CASE("the_model_schema_and_the_reader_know_the_same_keys") {
  const Json schema = schema_of("model");
  const std::string head = "schema_version: 1\nkind: model\n";
  agree(schema, head + "zzz: 1\n", {"schema_version", "kind"});
  agree(schema.at("properties").at("layers").at("items"), head + "name: m\nlayers: [{zzz: 1}]\n", {});
}

TEST_CASE("the_cluster_schema_and_the_reader_know_the_same_keys") {
  const Json schema = schema_of("cluster");
  const Json& keys = schema.at("properties");
  const std::string head = "schema_version: 1\nkind: cluster\nservers: 4\ncount: 1\n";
  agree(schema, head + "zzz: 1\n", {"schema_version", "kind", "servers", "count"});
  agree(keys.at("jobs").at("items"), head + "jobs: [{zzz: 1}]\n", {});
  const std::string rest = head + "jobs: []\n";
  agree(keys.at("failures"), rest + "failures: {zzz: 1}\n", {});
  const Json& arrivals = keys.at("arrivals").at("oneOf").at(1);
  agree(arrivals, rest + "arrivals: {zzz: 1}\n", {});
  agree(arrivals.at("properties").at("poisson"), rest + "arrivals: {poisson: {zzz: 1}}\n", {});
}

TEST_CASE("the_price_schema_and_the_reader_know_the_same_keys_and_parts") {
  const Json schema = schema_of("prices");
  const Json& row = schema.at("properties").at("parts").at("items");
  const std::string head = "schema_version: 1\nkind: prices\n";
  agree(schema, head + "zzz: 1\n", {"schema_version", "kind"});
  agree(row, head + "name: p\nparts: [{zzz: 1}]\n", {});
  CHECK(ask(head + "name: p\nparts: [{part: zzz, price: 1, source: s}]\n").words ==
        row.at("properties").at("part").at("enum").get<Words>());
}

TEST_CASE("the_fabric_schema_and_the_reader_know_the_same_keys") {
  const Json defs = schema_of("fabric").at("$defs");
  agree(defs.at("template_file"), "template: oddl\nzzz: 1\n", {"template"});
  agree(defs.at("explicit_file"), "zzz: 1\n", {});
  for (const std::string name : {"oddl", "sip_ring", "sip_ocs", "topoopt"}) {
    agree(defs.at(name + "_parameters"), "schema_version: 1\nkind: fabric\ntemplate: " + name + "\nparameters: {zzz: 1}\n", {});
    CHECK(defs.at(name == "oddl" ? "template_file" : name + "_file").at("properties").at("template").at("const") == name);
  }
  CHECK(ask("schema_version: 1\nkind: fabric\ntemplate: zzz\n").words == Words{"oddl", "sip_ring", "sip_ocs", "topoopt"});
  CHECK(ask(kExplicit + kLists + "return_path: zzz\n").words ==
        defs.at("explicit_file").at("properties").at("return_path").at("enum").get<Words>());
  agree(defs.at("node"), kExplicit + "nodes: [{zzz: 1}]\nelements: []\n", {});
  agree(defs.at("fibre"), kExplicit + kLists + "fibres: [{zzz: 1}]\n", {});
  agree(defs.at("interlock"), kExplicit + kLists + "interlocks: [{zzz: 1}]\n", {});
  agree(defs.at("interlock"), "schema_version: 1\nkind: fabric\ntemplate: oddl\ninterlocks: [{zzz: 1}]\n", {});
  agree(defs.at("bus"), kExplicit + kLists + "buses: [{zzz: 1}]\n", {});
  agree(defs.at("device"), kExplicit + kLists + "devices: [{zzz: 1, kind: wss}]\n", {"kind"});
  const Words kinds = ask(kExplicit + "nodes: []\nelements: [{name: a, kind: zzz}]\n").words;
  CHECK(kinds.size() == std::variant_size_v<ElementKind>);
  CHECK(kinds.size() == defs.at("element").at("oneOf").size());
  for (const std::string& kind : kinds) {
    agree(defs.at(kind), kExplicit + "nodes: []\nelements: [{zzz: 1, kind: " + kind + "}]\n", {"kind"});
    CHECK(defs.at(kind).at("properties").at("kind").at("const") == kind);
  }
  Words models;  // the list is the drivers'; the schema has no second one
  const Json device_kind = defs.at("device").at("properties").at("kind");
  for (const DeviceModel* model : all_fabric_kinds().models) {
    models.insert(std::string(model->name));
    CHECK(Validator(schema_of("fabric")).fits(std::string(model->name), device_kind));
  }
  CHECK(ask(kExplicit + kLists + "devices: [{kind: zzz}]\n").words == models);
}

/// Of each kind that the reader knows; answers how many those are.
std::size_t agree_on_machine_faults(const Json& defs, const std::string& head) {
  const Words kinds = ask(head + "machine_faults: [{kind: zzz}]\n").words;
  for (const std::string& kind : kinds) {
    const Json& fault = defs.at(defs.contains(kind) ? kind : "plain_machine_fault");
    agree(fault, head + "machine_faults: [{zzz: 1, kind: " + kind + "}]\n", {"kind"});
    CHECK(fault.at("properties").at("kind").at("enum").get<Words>().contains(kind));
  }
  return kinds.size();
}

/// The shape of a device's or a fibre's fault that takes this kind; exactly one does.
const Json& shape_of(const Json& defs, const std::string& fault, const std::string& kind) {
  const Json* found = nullptr;
  for (const Json& way : defs.at(fault).at("oneOf")) {
    const Json& shape = defs.at(way.at("$ref").get<std::string>().substr(std::string("#/$defs/").size()));
    if (shape.at("properties").at("kind").at("enum").get<Words>().contains(kind)) {
      REQUIRE(found == nullptr);
      found = &shape;
    }
  }
  REQUIRE(found != nullptr);
  return *found;
}

void agree_on_catalogue(const Json& defs, const std::string& head) {
  for (const auto& [fault, count] :
       {std::pair("device_fault", fault_catalogue().size()), std::pair("fibre_fault", fibre_fault_catalogue().size())}) {
    const std::string list = head + fault + "s: [{";
    const Words kinds = ask(list + "kind: zzz}]\n").words;
    CHECK(kinds.size() == count);
    for (const std::string& kind : kinds) {
      agree(shape_of(defs, fault, kind), list + "zzz: 1, kind: " + kind + "}]\n", {"kind"});
    }
  }
}

TEST_CASE("the_scenario_schema_and_the_reader_know_the_same_keys") {
  const Json schema = schema_of("scenario");
  const Json defs = schema.at("$defs");
  const std::string head =
      "schema_version: 1\nkind: scenario\nname: s\nmode: sim\nfabric: " + fs::absolute("configs/fabrics/oddl_8.yaml").string() +
      "\n";
  agree(schema, "kind: scenario\nzzz: 1\n", {"kind"});
  for (const char* map : {"agents", "controller", "reconcile", "churn", "network"}) {
    agree(defs.at(map), head + map + ": {zzz: 1}\n", {});
  }
  agree(defs.at("job"), head + "jobs: [{zzz: 1}]\n", {});
  agree(defs.at("expect"), head + "expect: {zzz: 1}\n", {});
  agree(defs.at("dark_window"), head + "expect: {dark: {zzz: 1}}\n", {});
  agree(defs.at("action"), head + "actions: [{zzz: 1, drain: 1}]\n", {});
  CHECK(ask(head + "actions: [{at: 1 s, lasers: zzz}]\n").words ==
        defs.at("action").at("properties").at("lasers").at("enum").get<Words>());
  agree_on_catalogue(defs, head);
  CHECK(agree_on_machine_faults(defs, head) == kMachineFaultKinds);
  CHECK(ask("kind: scenario\nmode: zzz\n").words == schema.at("properties").at("mode").at("enum").get<Words>());
}

TEST_CASE("the_inventory_schema_and_the_reader_know_the_same_keys") {
  const Json schema = schema_of("inventory");
  const std::string head = "schema_version: 1\nkind: inventory\n";
  agree(schema, head + "zzz: 1\n", {"schema_version", "kind"});
  agree(schema.at("$defs").at("device"), head + "devices: {x: {zzz: 1}}\n", {});
  agree(schema.at("$defs").at("trigger"), head + "triggers: {x: {zzz: 1}}\n", {});
  const Json scenario = schema_of("scenario").at("$defs");
  CHECK(schema.at("$defs").at("device") == scenario.at("device"));
  CHECK(schema.at("$defs").at("endpoint") == scenario.at("endpoint"));
  CHECK(schema.at("$defs").at("trigger") == scenario.at("trigger"));
}

TEST_CASE("the_fault_file_schema_and_the_reader_know_the_same_keys") {
  const Json schema = schema_of("faults");
  const Json defs = schema.at("$defs");
  const std::string head = "schema_version: 1\nkind: faults\nname: f\n";
  agree(schema, "kind: faults\nzzz: 1\n", {"kind"});
  agree(defs.at("expect"), head + "expect: {zzz: 1}\n", {});
  agree(defs.at("network"), head + "network: {zzz: 1}\n", {});
  CHECK(agree_on_machine_faults(defs, head) == kMachineFaultKinds);
  agree_on_catalogue(defs, head);
}

}  // namespace
}  // namespace loom
