// SPDX-License-Identifier: Apache-2.0
// libFuzzer: lines of heater electronics, as tests/fuzz/heater_codecs.hpp says.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/heater_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  loom::fuzz::check_heater_line(text);
  loom::fuzz::check_heater_models(text);
  return 0;
}
