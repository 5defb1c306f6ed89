// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes of a journal record never crash the decoder, and whatever decodes has one form: encoding, decoding and
// encoding again gives the same bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "proto/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record = loom::decode_record({reinterpret_cast<const char*>(data), size});
  if (record) {
    const std::string once = loom::encode(*record);
    const auto again = loom::decode_record(once);
    LOOM_ASSERT(again.has_value() && loom::encode(*again) == once);
  }
  return 0;
}
