// SPDX-License-Identifier: Apache-2.0
// Version (1 byte), kernel (8, most significant first), three tokens.
#include "runtime/shm/shared_offer.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Of the offer, the handshake and the layout of the memory.
constexpr char kVersion = 1;
constexpr std::size_t kOfferBytes = 1 + 8 + 3 * sizeof(SharedToken);

}  // namespace

std::string encode(const SharedOffer& offer) {
  std::string bytes(1, kVersion);
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((offer.kernel.value >> shift) & 0xFFU);
  }
  for (const SharedToken& token : {offer.name, offer.guest, offer.host}) {
    bytes.append(token.data(), token.size());
  }
  return bytes;
}

Result<SharedOffer> decode_offer(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != kVersion) {
    return fail(ErrorCode::wrong_version,
                format_text("an offer of shared memory of version {}, ours is {}",
                            bytes.empty() ? -1 : static_cast<int>(bytes.front()), static_cast<int>(kVersion)));
  }
  if (bytes.size() != kOfferBytes) {
    return fail(ErrorCode::malformed,
                format_text("an offer of shared memory has {} bytes, wanted {}", bytes.size(), kOfferBytes));
  }
  SharedOffer offer;
  for (const char byte : bytes.substr(1, 8)) {
    offer.kernel.value = offer.kernel.value << 8U | static_cast<unsigned char>(byte);
  }
  std::size_t at = 9;
  for (SharedToken* token : {&offer.name, &offer.guest, &offer.host}) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), token->size(), token->begin());
    at += token->size();
  }
  return offer;
}

Result<SharedToken> fresh_token() {
  SharedToken token{};
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    return fail(ErrorCode::internal, format_text("no random bytes: {}", std::strerror(errno)));
  }
  return token;
}

bool is_same(const SharedToken& a, const SharedToken& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

std::string socket_name(const SharedToken& name) {
  std::string text(1, '\0');
  text += "lightloom-";
  for (const char byte : name) {
    text += format_text("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  return text;
}

}  // namespace loom
