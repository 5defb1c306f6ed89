// SPDX-License-Identifier: Apache-2.0
// libFuzzer: frames of a laser, what it says of itself, and its answers to a driver, as tests/fuzz/driver_codecs.hpp says.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/driver_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loom::fuzz::check_itla_frame({data, size});
  loom::fuzz::check_itla_facts({data, size});
  loom::fuzz::check_itla_answers({data, size});
  return 0;
}
