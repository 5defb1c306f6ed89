// SPDX-License-Identifier: Apache-2.0
// Profiles in the form of SiP-ML's authors' tools: NAME_bs1.pb, NAME_bs2.pb, ..., one file a batch size (graph_profile.proto),
// and beside them NAME_iter.prof, rows of global batch and iterations to accuracy. docs/systems/sipml.md#profile-files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "controller/architectures/sip_ml/profile.hpp"
#include "core/result.hpp"

namespace loom {

inline constexpr std::size_t kProfileBatches = 64;
inline constexpr std::size_t kProfileOperations = 65'536;
inline constexpr std::size_t kProfileEdges = 1u << 20;

enum class ProfileReading : std::uint8_t {
  measured,    ///< as the file has it
  as_in_code,  ///< the authors' reader: half of every time and output, and nothing handed on by a Reshape
};

/// Whether this names such a file: ..._bs8.pb.
bool is_profile_file(std::string_view path);
/// What all files of a profile have in common, of any one of them: runs/vgg_bs8.pb -> runs/vgg. Of anything else itself.
std::string profile_prefix(std::string_view path);
/// Where the authors' tools look for the table of iterations to accuracy.
std::filesystem::path profile_accuracy_table(const std::string& prefix);

/// All NAME_bs*.pb of one profile. A control dependency is an operator without time and bytes; a variable's bytes are counted
/// where it is read, not again where it is written; operators come after what they read, otherwise in the file's order. Errors,
/// each naming the file and the operator: not_found (no such files), malformed (not protobuf, or no operators),
/// invalid_argument (an operator twice, of another kind in another file, missing in one; an edge to nobody, other edges at
/// another batch; a kind that the authors' tools no longer know; a cycle, with its path), out_of_range (kProfileBatches,
/// kProfileOperations, kProfileEdges, kTraceFileBytes).
Result<SipProfile> read_profile_files(const std::string& prefix, ProfileReading reading = ProfileReading::measured);

}  // namespace loom
