// SPDX-License-Identifier: Apache-2.0
// libFuzzer entry: pages of a CMIS module, and bytes of a tunable SFP+.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/driver_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loom::fuzz::check_cmis_page({data, size});
  loom::fuzz::check_sff_bytes({data, size});
  return 0;
}
