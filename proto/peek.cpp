// SPDX-License-Identifier: Apache-2.0
// Reads the head of an envelope from its bytes by the protobuf encoding (protobuf.dev/programming-guides/encoding), without
// building a message. The last one of several equal fields counts, as it does for protobuf: a head that named one node to the
// transport and another one to the decoder would let a key speak for a node that it does not own.
#include <optional>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "proto/codec.hpp"

namespace loom {
namespace {

enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

constexpr std::uint64_t kVersionField = 1;
constexpr std::uint64_t kNodeField = 3;
constexpr std::uint64_t kPrincipalField = 7;
constexpr std::uint64_t kOperatorRequestField = 37;
constexpr std::uint64_t kRequestIdField = 1;  // of an OperatorRequest

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }
  /// At most 10 bytes and 64 bits.
  bool read_varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7Fu) << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    return false;
  }
  /// Nothing: fewer bytes are left.
  std::optional<std::string_view> take(std::uint64_t count) {
    const std::string_view taken = rest_.substr(0, count);
    return skip(count) ? std::optional(taken) : std::nullopt;
  }
  bool skip(std::uint64_t count) {
    if (count > rest_.size()) {
      return false;
    }
    rest_.remove_prefix(count);
    return true;
  }

 private:
  std::string_view rest_;
};

bool skip_value(Cursor& cursor, WireType type) {
  std::uint64_t number = 0;
  switch (type) {
    case WireType::varint:
      return cursor.read_varint(number);
    case WireType::fixed64:
      return cursor.skip(8);
    case WireType::bytes:
      return cursor.read_varint(number) && cursor.skip(number);
    case WireType::fixed32:
      return cursor.skip(4);
  }
  return false;  // groups are no part of proto3
}

/// Calls `take(field, type, cursor)` for each field, which reads the value or leaves it. False: no protobuf message, or `take`
/// could not read.
template <class Take>
bool for_each_field(std::string_view bytes, Take take) {
  Cursor cursor{bytes};
  while (!cursor.is_at_end()) {
    std::uint64_t tag = 0;
    if (!cursor.read_varint(tag) || tag > 0xFFFF'FFFFu || !take(tag >> 3, static_cast<WireType>(tag & 7u), cursor)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RequestId> peek_request(std::string_view bytes) {
  std::optional<std::string_view> request;
  const auto find_request = [&](std::uint64_t field, WireType type, Cursor& cursor) {
    if (field != kOperatorRequestField || type != WireType::bytes) {
      return skip_value(cursor, type);
    }
    std::uint64_t size = 0;
    request = cursor.read_varint(size) ? cursor.take(size) : std::nullopt;
    return request.has_value();
  };
  std::optional<RequestId> number;
  const auto find_number = [&](std::uint64_t field, WireType type, Cursor& cursor) {
    if (field != kRequestIdField || type != WireType::varint) {
      return skip_value(cursor, type);
    }
    std::uint64_t value = 0;
    const bool is_read = cursor.read_varint(value);
    number = is_read ? std::optional(RequestId{value}) : std::nullopt;
    return is_read;
  };
  (void)(for_each_field(bytes, find_request) && request && for_each_field(*request, find_number));
  return number;
}

std::string with_principal(std::string_view envelope, std::string_view principal) {
  std::string said(envelope);
  said += static_cast<char>(kPrincipalField << 3 | static_cast<std::uint64_t>(WireType::bytes));
  std::size_t rest = principal.size();
  for (; rest > 0x7F; rest >>= 7) {
    said += static_cast<char>(0x80U | (rest & 0x7FU));
  }
  said += static_cast<char>(rest);
  return said.append(principal);
}

Result<EnvelopeHead> peek_head(std::string_view bytes) {
  const auto malformed = [&](const char* why) {
    return fail(ErrorCode::malformed, format_text("an envelope of {} bytes: {}", bytes.size(), why));
  };
  EnvelopeHead head;
  Cursor cursor{bytes};
  while (!cursor.is_at_end()) {
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
    if (!cursor.read_varint(tag) || tag > 0xFFFF'FFFFu) {  // protobuf would look at 32 bits of a longer tag only
      return malformed("no protobuf message");
    }
    const std::uint64_t field = tag >> 3;
    const auto type = static_cast<WireType>(tag & 7u);
    if (type == WireType::bytes && field == kPrincipalField) {
      const auto said = cursor.read_varint(value) ? cursor.take(value) : std::nullopt;
      if (!said) {
        return malformed("no protobuf message");
      }
      head.principal = *said;
      continue;
    }
    if (type != WireType::varint || (field != kVersionField && field != kNodeField)) {
      if (!skip_value(cursor, type)) {
        return malformed("no protobuf message");
      }
      continue;
    }
    if (!cursor.read_varint(value)) {
      return malformed("no protobuf message");
    }
    if (field == kVersionField) {
      head.wire_version = static_cast<std::uint32_t>(value);
    } else if (value < limits::kNodes) {
      head.node = {static_cast<std::uint32_t>(value)};
    } else {
      return fail(ErrorCode::malformed, format_text("node_id = {}: must be 0..{}", value, limits::kNodes - 1));
    }
  }
  return head;
}

}  // namespace loom
