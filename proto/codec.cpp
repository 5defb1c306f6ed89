// SPDX-License-Identifier: Apache-2.0
// Bytes to values and back: the arena, the limits on whole messages, the version, and the journal's records.
#include "proto/codec.hpp"

#include <google/protobuf/arena.h>

#include <array>
#include <memory>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/version.hpp"
#include "proto/convert.hpp"

namespace loom {
namespace {

/// One thread's memory for wire types: small messages never leave the first block.
class Scratch {
 public:
  template <class Message>
  Message& fresh() {
    arena_.Reset();
    return *google::protobuf::Arena::CreateMessage<Message>(&arena_);
  }

 private:
  static google::protobuf::ArenaOptions options_of(std::array<char, 65'536>& block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block.data();
    options.initial_block_size = block.size();
    options.max_block_size = 1u << 20;  // plans
    return options;
  }

  alignas(16) std::array<char, 65'536> block_;
  google::protobuf::Arena arena_{options_of(block_)};
};

Scratch& scratch() {
  static thread_local Scratch one;
  return one;
}

std::unexpected<Error> wrong_version(const char* what, std::uint32_t version) {
  return fail(ErrorCode::wrong_version,
              format_text("{} has wire version {}, this build speaks version {}", what, version, kWireVersion));
}

std::unexpected<Error> malformed(const char* what, std::size_t size, const std::string& why) {
  return fail(ErrorCode::malformed, format_text("{} of {} bytes: {}", what, size, why));
}

template <class Message>
void serialize(const Message& message, std::string& out) {
  const std::size_t size = message.ByteSizeLong();
  out.resize(size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data()));
}

}  // namespace

void encode_to(const Envelope& envelope, std::string& out) {
  auto& message = scratch().fresh<wire::Envelope>();
  wire::to_wire(envelope, message);
  serialize(message, out);
}

std::string encode(const Envelope& envelope) {
  std::string out;
  encode_to(envelope, out);
  return out;
}

Result<Envelope> decode_envelope(std::string_view bytes) {
  if (bytes.size() > limits::kMessageBytes) {
    return malformed("an envelope", bytes.size(), format_text("the limit is {} bytes", limits::kMessageBytes));
  }
  // The transport has routed by this head, so what it refuses must not decode.
  const auto head = peek_head(bytes);
  if (!head) {
    return std::unexpected(head.error());
  }
  if (head->wire_version != kWireVersion) {
    return wrong_version("an envelope", head->wire_version);
  }
  auto& message = scratch().fresh<wire::Envelope>();
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return malformed("an envelope", bytes.size(), "no protobuf message");
  }
  if (message.has_grant_plane_message() && bytes.size() > limits::kGrantMessageBytes) {
    return malformed("a message of the grant plane", bytes.size(),
                     format_text("the limit is {} bytes", limits::kGrantMessageBytes));
  }
  wire::Check check;
  Envelope envelope = wire::from_wire(check, message);
  if (!check.ok()) {
    return std::unexpected(check.error());
  }
  return envelope;
}

std::string encode(const Record& record) {
  auto& message = scratch().fresh<wire::Record>();
  wire::to_wire(record, message);
  std::string out;
  serialize(message, out);
  return out;
}

std::size_t encoded_bytes(const Record& record) {
  auto& message = scratch().fresh<wire::Record>();
  wire::to_wire(record, message);
  return message.ByteSizeLong();
}

Result<Record> decode_record(std::string_view bytes) {
  if (bytes.size() > limits::kRecordBytes) {
    return malformed("a record", bytes.size(), format_text("the limit is {} bytes", limits::kRecordBytes));
  }
  auto& message = scratch().fresh<wire::Record>();
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return malformed("a record", bytes.size(), "no protobuf message");
  }
  if (message.wire_version_number() > kWireVersion) {
    return fail(ErrorCode::wrong_version,
                format_text("it was written by a newer version (wire version {}, this build, {}, speaks {}): start that one",
                            message.wire_version_number(), build_version(), kWireVersion));
  }
  if (message.wire_version_number() != kWireVersion) {
    return wrong_version("a record", message.wire_version_number());
  }
  wire::Check check;
  Record record = wire::from_wire(check, message);
  if (!check.ok()) {
    return std::unexpected(check.error());
  }
  return record;
}

}  // namespace loom
