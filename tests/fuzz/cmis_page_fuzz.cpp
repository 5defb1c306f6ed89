// libFuzzer entry: pages of a CMIS module.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/driver_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loom::fuzz::check_cmis_page({data, size});
  return 0;
}
