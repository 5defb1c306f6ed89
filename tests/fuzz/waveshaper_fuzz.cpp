// SPDX-License-Identifier: Apache-2.0
// libFuzzer: a WaveShaper's web server, as tests/fuzz/waveshaper_codecs.hpp says. With LIGHTLOOM_FUZZ_MODEL in the environment
// the model hears it too, which is a hundred times slower.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/waveshaper_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool asks_model = std::getenv("LIGHTLOOM_FUZZ_MODEL") != nullptr;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  loom::fuzz::check_waveshaper_text(text);
  loom::fuzz::check_http_bytes(text);
  if (asks_model) {
    loom::fuzz::check_waveshaper_model(text);
  }
  return 0;
}
