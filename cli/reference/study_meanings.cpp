// SPDX-License-Identifier: Apache-2.0
// What the keys of fault files, inventories, calibrations, models, clusters and prices mean.
#include "cli/reference/config_keys.hpp"

namespace loom::cli {
namespace {

std::vector<KeyMeaning> with_header(std::vector<KeyMeaning> keys) {
  std::vector<KeyMeaning> all = header_meanings();
  all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

std::vector<KeyMeaning> layer_keys() {
  return {
      {"name", "unique in the file"},
      {"parameters", "without those of experts"},
      {"macs", "multiply-accumulates of one sample, forward; ignored where there are times"},
      {"activations", "elements that one sample hands to the next layer"},
      {"tensor_reduces", "all-reduces of the activations under tensor parallelism, each way"},
      {"experts", "of a mixture of experts"},
      {"routed", "experts that see a token; at most `experts`"},
      {"expert_parameters", "of all experts together"},
      {"measured_as", "the name that `loom plan --search --measures FILE` has its times under", "its name"},
      {"time_ms", "measured, forward and backward, e.g. {32: 1.9, 64: 3.6}; all layers have it or none", "none",
       "a map of batch to milliseconds, at most 64"},
      {"inputs", "names of layers whose outputs it takes; []: data from outside", "the layer before it", "a list of names"},
  };
}

std::vector<ConfigSection> cluster_sections() {
  const std::string kind = "cluster";
  return {
      {kind,
       "",
       "",
       "many jobs on one cluster, for `loom arena --cluster`",
       {"zzz: 1"},
       with_header({
           {"name", "printed"},
           {"servers", "how many"},
           {"rate", "a server's total, each direction"},
           {"placement", "random: any free servers; packed: the free ones with the lowest numbers"},
           {"count", "of jobs"},
           {"seed", "of everything that is drawn"},
           {"arrivals", "when jobs arrive: together, or every, poisson or load of a map", "together", "together, or a map"},
           {"failures", "of servers", "none", "a map"},
           {"jobs", "kinds of jobs"},
       })},
      {kind,
       "arrivals",
       "",
       "when jobs arrive; one of every, poisson and load",
       {"arrivals: {zzz: 1, every: 1 s, load: 0.5, poisson: {mean: 1 s}}"},
       {{"every", "one job each, the first at 0", "none"},
        {"poisson", "at exponential intervals", "none", "a map"},
        {"load", "at exponential intervals, so often that jobs behind an ideal switch would hold this part of the servers",
         "none"}}},
      {kind,
       "arrivals.poisson",
       "",
       "exponential intervals",
       {"arrivals: {poisson: {zzz: 1}}"},
       {{"mean", "of the intervals"}}},
      {kind,
       "failures",
       "",
       "each server fails by itself, busy or idle, at exponential intervals",
       {"failures: {zzz: 1}"},
       {{"server_mtbf", "mean time of one server between failures, while it is up"},
        {"repair", "until it is back"},
        {"checkpoint_every", "iterations; 0: none, a job that fails begins anew"},
        {"checkpoint", "what one takes; nothing else goes on in it"},
        {"restart", "from having servers again to the first iteration"}}},
      {kind,
       "jobs[]",
       "",
       "one kind of job",
       {"jobs: [{zzz: 1, workload: vgg19}]", "jobs: [{zzz: 1, model: a}]", "jobs: [{zzz: 1, graph: a}]"},
       {{"name", "unique in the file"},
        {"share", "of the mix, to the sum of all; 0: never drawn"},
        {"iterations", "of a job"},
        {"workload", "a model of the zoo, a trace or a demand; one of workload, model and graph",
         "one of the three is required"},
        {"model", "a model file, relative to this file", "one of the three is required"},
        {"graph", "a task graph of TopoOpt, relative to this file", "one of the three is required"},
        {"nodes", "servers of a job", "as the file says; a model of the zoo needs it"},
        {"settings", "of the workload, as `--set` has them", "none"}}},
  };
}

std::vector<ConfigSection> installation_sections() {
  std::vector<ConfigSection> all;
  all.push_back(
      {"inventory",
       "",
       "",
       "where buses and devices of an installation are",
       {"zzz: 1"},
       with_header({{"name", "printed", "none"},
                    {"buses", "where each bus is", "as the fabric file says", "a map of bus names to endpoints"},
                    {"devices", "what single devices are in this installation", {}, "a map of device names to their keys"},
                    {"triggers", "lines of a host whose edge fires devices", {}, "a map of names of lines to their keys"},
                    {"cabling", "a CSV file of the cables as they are plugged (`loom fabric cabling`), relative to this file",
                     "as the fabric file says"}})});
  all.push_back(
      {"inventory", "devices.NAME", "", "a device of this installation", {"devices: {x: {zzz: 1}}"}, device_meanings()});
  all.push_back(trigger_section("inventory"));
  all.push_back(
      {"calibration",
       "",
       "",
       "knobs that were fitted to published figures",
       {"zzz: 1"},
       with_header({{"name", "printed"},
                    {"note", "how it was fitted; printed with every figure"},
                    {"fitted_to", "the figures", "none"},
                    {"set", "as `--set` of `loom predict` and `loom arena`; what is said there has precedence", "none"}})});
  return all;
}

std::vector<ConfigSection> model_sections() {
  std::vector<ConfigSection> all;
  all.push_back({"model",
                 "",
                 "",
                 "layers of your own: a chain, or a graph whose layers name their inputs",
                 {"zzz: 1"},
                 with_header({{"name", "printed"},
                              {"batch", "samples of a data-parallel rank, where no setting says"},
                              {"bytes_per_element", "of gradients and activations"},
                              {"tied_parameters", "held by the first and by the last stage of a pipeline"},
                              {"source", "where the times come from; printed with every figure"},
                              {"sustained_tflops", "of a node, for layers with `macs` and without times", "none"},
                              {"layers", "in forward order"}})});
  all.push_back({"model", "layers[]", "", "one layer", {"layers: [{zzz: 1}]"}, layer_keys()});
  return all;
}

std::vector<ConfigSection> price_sections() {
  std::vector<ConfigSection> all;
  all.push_back(
      {"prices",
       "",
       "",
       "what parts cost, for `loom arena --prices`",
       {"zzz: 1"},
       with_header({{"name", "printed"},
                    {"currency", "printed"},
                    {"fibre_length", "of a link, in the mean"},
                    {"planes", "interfaces of a server on a fat-tree, each in a tree of its own with its part of the rate"},
                    {"parts", "prices"}})});
  all.push_back({"prices",
                 "parts[]",
                 "",
                 "the price of one part",
                 {"parts: [{zzz: 1, rate: 100 Gb/s}]"},
                 {{"part", "what is bought"},
                  {"rate", "of a transceiver, nic_port or switch_port", "required with these, else not there"},
                  {"price", "in the file's currency, of one"},
                  {"source", "where the price comes from; printed"}}});
  return all;
}

}  // namespace

std::vector<ConfigSection> study_sections() {
  std::vector<ConfigSection> all{{"faults",
                                  "",
                                  "",
                                  "what goes wrong, and when, for any scenario",
                                  {"zzz: 1"},
                                  with_header({{"name", "printed"},
                                               {"network", "what the simulated network does to messages", {}, "a map"},
                                               {"device_faults", "what goes wrong with devices"},
                                               {"machine_faults", "what goes wrong with the controller or with agents"},
                                               {"fibre_faults", "what is cut, dirty or plugged wrongly (mode sim)"},
                                               {"expect", "what these faults may cost each job", {}, "a map"}})},
                                 {"faults",
                                  "expect",
                                  "",
                                  "what these faults may cost each job",
                                  {"expect: {zzz: 1}"},
                                  {{"dark_at_most", "every job may be dark for so much longer than its scenario expects"}}}};
  for (ConfigSection& each : fault_sections("faults")) {
    all.push_back(std::move(each));
  }
  for (const auto& more : {installation_sections(), model_sections(), cluster_sections(), price_sections()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace loom::cli
