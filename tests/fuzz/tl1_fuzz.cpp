// SPDX-License-Identifier: Apache-2.0
// libFuzzer: replies and commands of a circuit switch that speaks TL1, as tests/fuzz/driver_codecs.hpp says.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/driver_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  loom::fuzz::check_tl1_reply(text);
  loom::fuzz::check_switch_models(text);
  return 0;
}
