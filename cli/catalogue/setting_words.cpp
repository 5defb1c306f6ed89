// SPDX-License-Identifier: Apache-2.0
// The words of every key.
#include "cli/catalogue/catalogue.hpp"

#include <array>

namespace loom::cli {
namespace {

constexpr std::string_view kAlgorithms =
    "automatic | ring | bidirectional_ring | tree | double_tree | halving_doubling | direct | pairwise | hierarchical";

constexpr auto kWorkload = std::to_array<SettingWords>({
    {"all_to_all", kAlgorithms, "automatic", "algorithm of the experts' all-to-all: automatic, direct or pairwise"},
    {"batch", "samples", {}, "of one data-parallel rank in an iteration"},
    {"bottom", "widths, e.g. 13-512-256", {}, "of the perceptron beside the lookups, inputs first"},
    {"bucket_mb", "MB", "25", "gradients leave when so many are ready, in reverse order of layers; 0: each layer's"},
    {"classes", {}, "1000", "outputs of the last layer"},
    {"collective", kAlgorithms, "automatic", "algorithm of the gradients' collectives; where light is scheduled only rings"},
    {"compute_ms", "ms", {}, "of one iteration on one rank; else as the model's pace, gpu or flops has it"},
    {"context", "gather | ring", "gather", "how keys and values reach the other cp ranks: before attention, or beside it"},
    {"cp", {}, "1", "context-parallel ranks, which share each sequence"},
    {"dense_ffn", {}, {}, "width of the feed-forward network of layers without experts"},
    {"dense_layers", {}, "8", "candle: behind the feature towers; deepseek-v3: the first ones, without experts"},
    {"dim", {}, {}, "elements of a row of a table"},
    {"dp", {}, "ranks / (tp x cp x pp)", "data-parallel ranks; checked if given"},
    {"ep", {}, "1", "expert-parallel ranks, within the data-parallel ones"},
    {"experts", {}, {}, "of a routed layer"},
    {"feature_layers", {}, "16", "of each feature tower"},
    {"ffn", {}, {}, "width of the feed-forward network"},
    {"flops", "TFLOP/s", {}, "that a rank sustains; instead of the model's pace or gpu"},
    {"gpu", "a name of loom workload gpus", {}, "whose peak rate, by precision, and whose rate in a node hold; goes with mfu"},
    {"gpus_per_node", {}, "1", "ranks of a node; what they hand each other does not enter the fabric"},
    {"heads", {}, {}, "of attention: queries"},
    {"hidden", {}, {}, "width of the model"},
    {"image", "pixels", "224", "side of a picture"},
    {"kv_heads", {}, {}, "groups of keys and values that the heads share"},
    {"kv_lora", {}, {}, "width of the latent of keys and values"},
    {"l", "samples", {}, "another name of batch"},
    {"layers", {}, {}, "transformer layers"},
    {"local", "nodes", "1", "of collective=hierarchical: neighbours that reduce among themselves first"},
    {"mfu", "0 .. 1", "0.4 with gpu", "share of the GPU's peak rate that training sustains"},
    {"micro_batch", "samples", "batch; 1 in a pipeline", "of one pass"},
    {"moe_every", {}, "1", "every so many-th layer is routed"},
    {"node_rate", "e.g. 3600G", "the GPU's NVLink, one way", "between GPUs of a node"},
    {"nope", {}, {}, "width of a head's query and key that has no position"},
    {"overlap", "bucketed | none", "bucketed", "none: communication begins when all compute is done"},
    {"pad", "pixels", "1", "of the first two convolutions of a stage"},
    {"pp", {}, "1", "pipeline stages; uneven ones where layers do not divide, and that is said"},
    {"precision", "bf16 | fp16 | fp32 | fp8", {}, "bytes of gradients and activations, and which rate of gpu holds"},
    {"q_lora", {}, {}, "width of the queries' latent"},
    {"rope", {}, {}, "width of a head's query and key that has a position"},
    {"rows", {}, {}, "of one table"},
    {"schedule", "1f1b | gpipe", "1f1b", "of the pipeline"},
    {"seq", "tokens", {}, "of one sample"},
    {"shared_experts", {}, {}, "that see every token"},
    {"strides", "e.g. 1-5", "1", "collective=ring, bidirectional_ring: one ring a stride; not where light is scheduled"},
    {"tables", {}, "64", "embedding tables, spread evenly over the nodes"},
    {"top", "widths, e.g. 512-1", {}, "of the perceptron behind the lookups"},
    {"top_k", {}, {}, "experts that see a token"},
    {"tp", {}, "1", "tensor-parallel ranks"},
    {"v_head", {}, {}, "width of a head's value"},
    {"virtual_stages", {}, "1", "chunks of blocks of a pipeline stage: interleaved 1f1b"},
    {"vocab", "tokens", {}, "of the embedding"},
    {"width", {}, "16384", "of each dense layer"},
    {"zero", "0 .. 3", "0", "stage of ZeRO: what data-parallel ranks share out"},
});

constexpr auto kCompare = std::to_array<SettingWords>({
    {"acquisition_us", "us", "the device class's", "until a receiver has the clock of new light"},
    {"all_stop", "always | never", "always", "SiP-ML's episodes: all light is dark while rings move, or only what changed"},
    {"blank_us", "us", "the device class's", "until a laser is dark"},
    {"control_us", "us", "the device class's", "until a laser has its order"},
    {"cost_ratio", "0.001 .. 1", "1", "links are so much slower: a network of the same price as an optical one"},
    {"degree", {}, "4", "links of a node, which share its rate"},
    {"delay_us", "us", "10000", "dark at each change of the circuits, which are live four times as long"},
    {"directions", "one | both", "both", "ways round the rings of fibre"},
    {"discount", "halving | harmonic", "the variant's", "TopoOpt's finder: of a pair's demand, for each link that it got"},
    {"efficiency", "0.001 .. 1", "1", "part of a link's rate that a job's bytes get"},
    {"forward_us", "us", "0", "at each node that passes bytes on"},
    {"forwarding", "yes | no", "yes", "whether nodes pass on what has no circuit of its own"},
    {"group_size", "nodes", "the template's", "of a group of ODDL"},
    {"header_bytes", "bytes", "0", "of each packet"},
    {"interval_us", "us", "100", "SiP-ML's episodes: circuits are chosen anew so often"},
    {"latency_us", "us", "1", "of a link, one way"},
    {"light", {}, "lit", "lit: what the fabric's own scheduler would light; else a model of the paper's authors"},
    {"matching", "exact | greedy", "exact", "TopoOpt's finder: of pairs"},
    {"matching_sees", "demand | rings", "demand",
     "TopoOpt's finder: of pairs; rings: what rings join already is discounted, and near ties go by seed"},
    {"oversubscription", {}, "1; 2 of fat-tree-oversub", "above the edge"},
    {"paths", "1 .. 64", "1", "TopoOpt's finder: shortest ways kept a pair"},
    {"payload_bytes", "bytes", "0", "of each packet; 0: no packets are counted"},
    {"primes_beyond", "nodes", "never", "TopoOpt's finder: beyond so many, ring candidates are 1 and primes"},
    {"radix", "ports", "the smallest that serves", "of a packet switch"},
    {"reconfiguration_us", "us", "20", "dark while rings or switches move"},
    {"retune_us", "us", "the device class's", "of a laser"},
    {"ring_directions", "both-ways | one-way", "both-ways", "rings of TopoOpt's finder"},
    {"seed", {}, "1", "of the random graph, or of the hash that spreads flows"},
    {"segment_mb", "0 .. 1e6", "0", "hashed: a message takes a way anew, and every so many MB of it; 0: one way a pair"},
    {"share", "as-in-paper | as-in-code", "the variant's", "TopoOpt's finder: of rings among group sizes"},
    {"split", "as-in-paper | as-in-code-2021 | as-in-code", "the variant's",
     "TopoOpt's finder: of links between rings and pairs"},
    {"step_us", "us", "0", "before every transfer"},
    {"switches", {}, "20", "circuit switches; every node has one port on each"},
    {"variant", "as-in-paper | as-in-code-2021 | as-in-code", "as-in-paper", "of TopoOpt's finder"},
    {"ways", "hashed | sprayed", "hashed", "each flow on one way, or on all in equal shares"},
    {"wss_settle_ms", "ms", "the template's", "of a wavelength-selective switch"},
});

}  // namespace

std::span<const SettingWords> workload_words() { return kWorkload; }
std::span<const SettingWords> compare_words() { return kCompare; }

}  // namespace loom::cli
