// SPDX-License-Identifier: Apache-2.0
// libFuzzer: lines of a power meter or a wavemeter, as tests/fuzz/meter_codecs.hpp says.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/meter_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  loom::fuzz::check_meter_line(line);
  loom::fuzz::check_meter_model(line);
  return 0;
}
