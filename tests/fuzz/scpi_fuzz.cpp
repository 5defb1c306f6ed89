// SPDX-License-Identifier: Apache-2.0
// libFuzzer: lines of a circuit switch, as tests/fuzz/driver_codecs.hpp says.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/driver_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  loom::fuzz::check_scpi_line(line);
  loom::fuzz::check_switch_models(line);
  return 0;
}
