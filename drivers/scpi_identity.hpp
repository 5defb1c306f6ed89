// SPDX-License-Identifier: Apache-2.0
// Who an instrument is, as `*IDN?` has it answer (IEEE 488.2 section 10.14): switches and meters of any maker alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace loom::scpi {

/// Without the blanks around each.
struct Identity {
  std::string vendor;
  std::string model;
  std::string serial;
  std::string release;  ///< of its firmware
  bool operator==(const Identity&) const = default;
};

/// "Polatis,I-OST-24x24-LU1-DMHNS,002414,6.5.2.18"; nothing unless there are four fields, the first not empty.
std::optional<Identity> read_identity(std::string_view text);

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

}  // namespace loom::scpi
