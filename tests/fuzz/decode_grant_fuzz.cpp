// libFuzzer: bytes of a grant word never crash the decoder, and whatever decodes is the same after encoding and decoding.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/result.hpp"
#include "proto/grant.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto envelope = loom::decode_grant({reinterpret_cast<const char*>(data), size});
  if (envelope) {
    const auto again = loom::decode_grant(loom::encode(*envelope));
    LOOM_ASSERT(again.has_value());
    LOOM_ASSERT(*again == *envelope);
  }
  return 0;
}
