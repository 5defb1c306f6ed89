// SPDX-License-Identifier: Apache-2.0
// Who offers, who comes, and what becomes of it.
#include "runtime/zmq/peer/shared_peers.hpp"

#include <utility>

namespace loom {
namespace {

/// After an agreement that failed, or a process that broke the rules.
constexpr auto kAgainInterval = std::chrono::seconds{2};

}  // namespace

SharedPeers::SharedPeers(asio::io_context& io, std::size_t processes, std::optional<ClockId> kernel,
                         SharedPeersListener listener)
    : io_(io), kernel_(kernel), listener_(std::move(listener)), peers_(processes) {}

SharedPeers::~SharedPeers() { close(); }

Result<void> SharedPeers::open() {
  if (!kernel_) {
    return {};
  }
  auto door = SharedDoor::open(io_, *kernel_, [this](std::size_t process, SharedEnd end) { begin(process, std::move(end)); });
  if (!door) {
    kernel_.reset();
    return std::unexpected(door.error());
  }
  door_ = *std::move(door);
  return {};
}

std::string SharedPeers::offer_to(std::size_t process) {
  const Peer& peer = peers_[process];
  if (!door_ || peer.link || std::chrono::steady_clock::now() < peer.not_before) {
    return {};
  }
  const auto offer = door_->invite(process);
  return offer ? encode(*offer) : std::string{};
}

/// One that we have taken already may come again, from before its sender knew. A new one says that the sender knows of no link.
Result<void> SharedPeers::take_offer(std::size_t process, std::string_view bytes) {
  const auto offer = decode_offer(bytes);
  if (!offer) {
    return std::unexpected(offer.error());
  }
  Peer& peer = peers_[process];
  if (!kernel_ || offer->kernel != *kernel_ || is_same(offer->guest, peer.joined) ||
      std::chrono::steady_clock::now() < peer.not_before) {
    return {};
  }
  peer.joined = offer->guest;
  peer.join.reset();
  if (peer.link) {
    std::exchange(peer.link, nullptr)->close();
  }
  auto join = SharedJoin::start(io_, *offer, [this, process](Result<SharedEnd> end) {
    const auto self = std::exchange(peers_[process].join, nullptr);
    end ? begin(process, *std::move(end)) : fail_join(process, end.error());
  });
  if (!join) {
    fail_join(process, join.error());
  } else {
    peer.join = *std::move(join);
  }
  return {};
}

/// The next offer is another try, of whatever token.
void SharedPeers::fail_join(std::size_t process, const Error& why) {
  Peer& peer = peers_[process];
  peer.joined = {};
  peer.not_before = std::chrono::steady_clock::now() + kAgainInterval;
  if (std::exchange(peer.problem, why.message) != why.message) {
    listener_.ended(process, why);
  }
}

void SharedPeers::begin(std::size_t process, SharedEnd end) {
  Peer& peer = peers_[process];
  if (peer.link) {
    peer.link->close();
  }
  peer.problem.clear();
  peer.link = SharedLink::open(io_, std::move(end),
                               {[this, process](RingMessages messages) { listener_.received(process, std::move(messages)); },
                                [this, process](const Error& why) {
                                  const auto self = std::exchange(peers_[process].link, nullptr);
                                  if (why.code == ErrorCode::malformed) {
                                    peers_[process].not_before = std::chrono::steady_clock::now() + kAgainInterval;
                                  }
                                  listener_.ended(process, why);
                                }});
  listener_.began(process);
}

bool SharedPeers::send(std::size_t process, std::span<const std::string_view> parts) {
  const auto& link = peers_[process].link;
  return link && link->send(parts);
}

void SharedPeers::end(std::size_t process) {
  Peer& peer = peers_[process];
  if (door_) {
    door_->withdraw(process);
  }
  peer.join.reset();
  if (peer.link) {
    std::exchange(peer.link, nullptr)->close();
  }
  peer.joined = {};
  peer.not_before = {};
}

void SharedPeers::close() {
  for (std::size_t process = 0; process < peers_.size(); ++process) {
    end(process);
  }
  if (door_) {
    door_->close();
    door_.reset();
  }
}

}  // namespace loom
