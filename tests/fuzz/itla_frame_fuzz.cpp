// libFuzzer: frames of a laser, as tests/fuzz/driver_codecs.hpp says.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/driver_codecs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  loom::fuzz::check_itla_frame({data, size});
  return 0;
}
