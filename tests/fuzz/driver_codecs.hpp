// SPDX-License-Identifier: Apache-2.0
// What holds for every byte string that a device, or somebody else on its wire, may say: the readers never crash, and what they
// do read has one form, which reads back as itself. Broken: LOOM_ASSERT. Fuzzers and a corpus in the test suite call the same.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace loom::fuzz {

/// Requests and responses of OIF-ITLA-MSA.
void check_itla_frame(std::span<const std::uint8_t> bytes);
/// What a laser says of itself, answer after answer of four bytes, damaged and silent ones included: texts and numbers end, and
/// what is told of it can be printed.
void check_itla_facts(std::span<const std::uint8_t> bytes);
/// The same bytes as answers to a driver that sets a laser: it comes to rest.
void check_itla_answers(std::span<const std::uint8_t> bytes);
/// Lines of the flexgrid dialect, framed with a checksum, without, and as bare text.
void check_flexgrid_line(std::string_view line);
/// Answers of a SCPI switch: maps, sizes, error queues, identities, lines.
void check_scpi_line(std::string_view line);
/// Replies of a switch that speaks TL1, and rows of them.
void check_tl1_reply(std::string_view text);
/// The same lines said to the models of a WSS and of an OCS: whatever they make of them, what they answer can be read.
void check_switch_models(std::string_view line);
/// Pages of a CMIS module.
void check_cmis_page(std::span<const std::uint8_t> bytes);
/// Identity and limits of a tunable SFP+.
void check_sff_bytes(std::span<const std::uint8_t> bytes);

/// One lawful text of every form, from which mutations begin.
std::vector<std::string_view> flexgrid_seeds();
std::vector<std::string_view> scpi_seeds();
std::vector<std::string_view> tl1_seeds();

}  // namespace loom::fuzz
