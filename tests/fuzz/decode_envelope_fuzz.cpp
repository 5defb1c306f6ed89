// SPDX-License-Identifier: Apache-2.0
// libFuzzer: bytes of an envelope never crash the decoder, and whatever decodes is lawful: it encodes to bytes that decode to
// the same value, and the transport's peeks name the same node and request.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/result.hpp"
#include "proto/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const auto head = loom::peek_head(bytes);
  const auto number = loom::peek_request(bytes);
  const auto envelope = loom::decode_envelope(bytes);
  if (envelope) {
    LOOM_ASSERT(head.has_value() && head->node == envelope->node);
    const auto again = loom::decode_envelope(loom::encode(*envelope));
    LOOM_ASSERT(again.has_value() && *again == *envelope);
    const auto* request = std::get_if<loom::OperatorRequest>(&envelope->body);
    LOOM_ASSERT(request == nullptr || !number || *number == request->request);
  }
  return 0;
}
