// Reads the head of an envelope from its bytes by the protobuf encoding (protobuf.dev/programming-guides/encoding), without
// building a message. The last one of several equal fields counts, as it does for protobuf: a head that named one node to the
// transport and another one to the decoder would let a key speak for a node that it does not own.
#include "core/limits.hpp"
#include "proto/codec.hpp"

namespace loom {
namespace {

enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

constexpr std::uint64_t kVersionField = 1;
constexpr std::uint64_t kNodeField = 3;
constexpr std::uint64_t kRequestField = 37;  // Envelope.operator_request
constexpr std::uint64_t kRequestIdField = 1;

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
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

/// The value of the first field of this number and type: a sub-message's bytes, or what begins with the number.
std::optional<std::string_view> field_of(std::string_view bytes, std::uint64_t field, WireType type) {
  Cursor cursor{bytes};
  std::uint64_t tag = 0;
  while (!cursor.is_at_end() && cursor.read_varint(tag)) {
    const bool is_it = tag >> 3 == field && static_cast<WireType>(tag & 7u) == type;
    if (is_it && type == WireType::varint) {
      return cursor.rest();
    }
    std::uint64_t length = 0;
    if (is_it) {
      return cursor.read_varint(length) && length <= cursor.rest().size() ? std::optional(cursor.rest().substr(0, length))
                                                                          : std::nullopt;
    }
    if (!skip_value(cursor, static_cast<WireType>(tag & 7u))) {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<EnvelopeHead> peek_head(std::string_view bytes) {
  const auto malformed = [&](const char* why) {
    return fail(ErrorCode::malformed, "an envelope of " + std::to_string(bytes.size()) + " bytes: " + why);
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
      return fail(ErrorCode::malformed,
                  "node_id = " + std::to_string(value) + ": must be 0.." + std::to_string(limits::kNodes - 1));
    }
  }
  return head;
}

/// The first one of several equal fields counts here: nothing is done with the number but to refuse it.
std::optional<RequestId> peek_request(std::string_view bytes) {
  const auto inside = field_of(bytes, kRequestField, WireType::bytes);
  std::uint64_t number = 0;
  const auto id = inside ? field_of(*inside, kRequestIdField, WireType::varint) : std::nullopt;
  return id && Cursor{*id}.read_varint(number) ? std::optional(RequestId{number}) : std::nullopt;
}

}  // namespace loom
