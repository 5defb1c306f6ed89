// SPDX-License-Identifier: Apache-2.0
// What the keys of fabric files mean: templates, and lists of elements. Parameters of templates are their architectures' own.
#include <algorithm>

#include "cli/reference/config_keys.hpp"
#include "controller/architectures/registry.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

const std::string kFabric = "fabric";

std::vector<KeyMeaning> joined(std::vector<KeyMeaning> first, const std::vector<KeyMeaning>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// Of every fabric file, whatever its form.
std::vector<KeyMeaning> installation_keys() {
  return {
      {"return_path", "how receivers answer senders: over a network beside the circuits, or over a circuit back for each"},
      {"agent_trip", "a message's one way between two agents, as expected: what grants and passes wait for, and predictions"},
      {"clock_error", "of any two agents' clocks, at most: a promise of the installation, on which guards of grants rest"},
      {"flight_error", "of any two flights of light, at most: a promise of the installation, on which guards of grants rest"},
      {"hazard_level", "IEC 60825-2, of every fibre that people can come to; limits all light in it together",
       "1M, and said to be assumed", "one of: 1, 1M, 3R, 3B"},
      {"power_limit", "of all light in any one fibre; at most that of the hazard level", "the hazard level's"},
      {"interlocks", "contacts that are closed while it is safe to emit light", "none"},
  };
}

std::vector<KeyMeaning> channel_keys() {
  return {
      {"first_channel", "centre of the lowest channel, on the grid of ITU-T G.694.1"},
      {"channel_spacing", "between centres, on the grid"},
      {"channel_width", "of a channel; at most the spacing"},
      {"channels", "how many; all of them within the C band"},
  };
}

std::vector<KeyMeaning> element_head(bool has_ports) {
  std::vector<KeyMeaning> keys{{"name", "unique among the elements"}, {"kind", "what it does to light"}};
  if (has_ports) {
    keys.push_back({"inputs", "ports that light enters, counted from 0"});
    keys.push_back({"outputs", "ports that light leaves, counted from 0"});
  }
  keys.push_back({"insertion_loss", "of light that goes through it, at worst"});
  return keys;
}

ConfigSection element(const std::string& word, const std::string& summary, bool has_ports, std::vector<KeyMeaning> own) {
  const std::string ports = has_ports ? ", inputs: 1, outputs: 1" : "";
  return {kFabric,
          "elements[]",
          "kind: " + word,
          summary,
          {format_text("name: f\nnodes: []\nelements: [{{zzz: 1, kind: {}{}}}]", word, ports)},
          joined(element_head(has_ports), own)};
}

std::vector<ConfigSection> element_sections() {
  return {
      element(
          "transmitter", "a laser with its modulator: no input, one output", false,
          joined({{"rate", "of its signal"},
                  {"signal_width", "occupied spectrum at -20 dB; at most a channel"},
                  {"launch_power", "of its light as it leaves"},
                  {"tunable", "whether it may be set to other channels"}},
                 joined(channel_keys(),
                        {{"control_max", "what its bus adds to a change, at most: commands, read-back, a busy host"},
                         {"retune_max", "its own time to lock on another channel, at most"},
                         {"blank_max", "from the command to dark, at most"},
                         {"enable_max", "from output on to full power, at most"},
                         {"tunes",
                          "where its light is while it tunes: off; on behind a shutter of its own; on for others to see"}}))),
      element("receiver", "one input, no output", false,
              {{"sensitivity", "the least power that it reads"},
               {"overload", "the greatest power that it reads; more than the sensitivity"},
               {"acquisition_max", "from light to link, at most"}}),
      element("coupler", "every input reaches every output; insertion_loss includes the split", true, {}),
      element("wavelength_selective_switch", "every input and channel goes to at most one output", true,
              {{"isolation", "how far below its light the rest of a blocked channel lies"},
               {"passband_edge", "is lost at each side of a slot"},
               {"settle_max", "from a command to light in its new place, at most"},
               {"reload_dip",
                "extra loss of channels that stay while the hologram reloads for others (assumed: data sheets give none)"}}),
      element("arrayed_waveguide_grating", "cyclic: input i, channel c leaves at output (c + i) mod outputs", true,
              joined(channel_keys(), {{"passband", "full width at -3 dB"}, {"isolation", "between channels"}})),
      element("amplifier", "one input, one output", false,
              {{"gain", "of all channels, unless light has to be levelled"},
               {"gain_min", "that its device can set"},
               {"gain_max", "that its device can set"},
               {"settle_max", "of its gain from a command on, at most"},
               {"input_min", "total power of all channels, at least"},
               {"input_max", "total power of all channels, at most; more than input_min"}}),
      element("ring_filter", "a micro-ring: input 0 is the bus, input 1 adds; output 0 is through, output 1 drops", false,
              {{"inputs", "1: it drops only; 2: it adds as well"},
               {"fwhm", "width of its resonance"},
               {"free_spectral_range", "between its resonances; 0: one in the band"},
               {"cold_resonance", "with the heater off; heat moves it down in frequency"},
               {"tuning_efficiency", "by heater power"},
               {"heater_resistance", "of its heater"},
               {"heater_voltage_max", "that its heater may be given"},
               {"drop_loss", "of light that drops or is added, beside insertion_loss"},
               {"isolation", "how far below light on resonance the rest that takes the other way lies; 0: no rest"},
               {"calibrated", "the figures are of this very ring, by its maker; false: of its kind, and it is measured first"},
               {"locked", "its agent keeps it on its light, by a monitor of its node behind its drop"}}),
      element("optical_circuit_switch", "one input goes to at most one output, at any frequency", true,
              {{"settle_max", "from a command to light in its new place, at most"},
               {"isolation", "how far below an input's light its rest lies at every other output; 0: no rest"}}),
      element("patch_panel", "cables that people or a robot plug", true, {{"wiring", "the output of each input, in order"}}),
      element("attenuator", "one input, one output", false,
              {{"loss_max", "that its device can set"},
               {"loss", "that it has beside insertion_loss, unless light has to be levelled"},
               {"settle_max", "from a command to its new loss, at most"}}),
      element("tap", "output 0 passes, output 1 monitors", false, {}),
      element("packet_switch", "electrical: light ends at its inputs, and its outputs are light of its own", true,
              {{"port_rate", "of a port"}, {"latency", "from input to output, unloaded"}}),
  };
}

std::vector<ConfigSection> template_sections() {
  std::vector<ConfigSection> all;
  for (const FabricTemplate* each : all_fabric_kinds().templates) {
    ConfigSection section{kFabric,
                          "parameters",
                          format_text("template: {}", each->name),
                          std::string(each->summary),
                          {format_text("template: {}\nparameters: {{zzz: 1}}", each->name)},
                          {}};
    for (const TemplateKey& key : each->keys) {
      section.meanings.push_back({key.name, key.meaning});
    }
    all.push_back(std::move(section));
  }
  return all;
}

const std::string kLists = "name: f\narchitecture: bench\nnodes: []\nelements: []\n";

/// Both forms of a file.
std::vector<ConfigSection> file_sections() {
  return {
      {kFabric,
       "",
       "template",
       "what is installed, as a template with its parameters",
       {"template: oddl\nzzz: 1\npower_limit: 10 dBm"},
       joined(joined(header_meanings(), {{"template", "of which architecture it is built (`loom fabric list`)"},
                                         {"name", "printed", "the template's"},
                                         {"parameters", "of the template", "its defaults", "a map of the template's keys"}}),
              installation_keys())},
      {kFabric,
       "",
       "lists",
       "what is installed, element by element",
       {"zzz: 1\npower_limit: 10 dBm\nhazard_level: 1M"},
       joined(joined(header_meanings(),
                     {{"name", "printed"},
                      {"architecture", "the name of its scheduler; with any other word scenarios must name one"},
                      {"assumptions", "sentences that are printed wherever a number rests on them", "none"},
                      {"nodes", "hosts with their transmitters and receivers"},
                      {"elements", "what light meets"},
                      {"fibres", "between ports of elements; simplex", "none"},
                      {"buses", "by which agents reach devices", "none"},
                      {"devices", "what agents drive", "none"}}),
              installation_keys())},
  };
}

std::vector<ConfigSection> list_sections() {
  return {
      {kFabric,
       "nodes[]",
       "",
       "one host",
       {"name: f\nnodes: [{zzz: 1}]\nelements: []"},
       {{"name", "unique among the nodes"},
        {"group", "which group it belongs to, for architectures that have groups"},
        {"transmitters", "its own, by name", "none"},
        {"receivers", "its own, by name", "none"}}},
      {kFabric,
       "fibres[]",
       "",
       "one fibre; simplex",
       {kLists + "fibres: [{zzz: 1, power_limit: 1 dBm}]"},
       {{"from", "an output: ELEMENT (port 0) or ELEMENT:PORT"},
        {"to", "an input: ELEMENT (port 0) or ELEMENT:PORT"},
        {"length", "light takes 5 ns/m"},
        {"loss", "from end to end"},
        {"power_limit", "of all light in it together", "the fabric's"}}},
      {kFabric,
       "buses[]",
       "",
       "one bus",
       {kLists + "buses: [{zzz: 1}]"},
       {{"name", "unique among the buses"},
        {"agent", "the node whose agent has it"},
        {"endpoint", "where agents find it: sim, or a scheme with its place (docs/devices.md lists them)"}}},
      {kFabric,
       "devices[]",
       "",
       "one device",
       {kLists + "devices: [{zzz: 1}]", kLists + "devices: [{zzz: 1, kind: wss}]"},
       joined({{"name", "unique among the devices"},
               {"agent", "the node whose agent drives it"},
               {"bus", "of the same agent"},
               {"elements", "that it drives, by name: one, or the rings of a heater bank in the order of its channels"}},
              device_meanings())},
      {kFabric,
       "interlocks[]",
       "",
       "a contact that is closed while it is safe to emit light: a cover, a door, a key",
       {kLists + "interlocks: [{zzz: 1}]"},
       {{"name", "unique among the contacts"},
        {"endpoint", "where it is read: a line of GPIO, an input of a bus, or a file (docs/laser_safety.md)"},
        {"first_node", "the first of the nodes that it darkens", "the first of all"},
        {"last_node", "the last of them", "first_node, or the last of all"}}},
  };
}

std::vector<ConfigSection> profile_sections() {
  std::vector<ConfigSection> all;
  for (const DeviceModel* model : all_fabric_kinds().models) {
    ConfigSection section{"inventory",
                          "devices.NAME.profile",
                          format_text("kind: {}", model->name),
                          std::string(model->summary),
                          {format_text("devices: {{x: {{kind: {}, profile: {{zzz: 1}}}}}}", model->name)},
                          {}};
    for (const ProfileKey& key : model->keys) {
      section.meanings.push_back({key.name, key.meaning});
    }
    if (!section.meanings.empty()) {
      all.push_back(std::move(section));
    }
  }
  return all;
}

}  // namespace

std::vector<ConfigSection> fabric_sections() {
  std::vector<ConfigSection> all = file_sections();
  for (const auto& more : {template_sections(), list_sections(), element_sections(), profile_sections()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace loom::cli
