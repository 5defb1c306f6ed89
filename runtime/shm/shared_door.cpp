// SPDX-License-Identifier: Apache-2.0
// A visitor has a second for its token, and another one to map what it was given; then its first bell says that it is there.
#include "runtime/shm/shared_door.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/shm/unix_socket.hpp"

namespace loom {
namespace {

/// Processes of a lab that may come at once; more of them come again with their next offer.
constexpr std::size_t kVisitorsMax = 64;
constexpr int kBacklog = 64;
constexpr auto kPatience = std::chrono::seconds{1};

}  // namespace

SharedDoor::SharedDoor(asio::io_context& io, ClockId kernel, Joined joined)
    : io_(io), kernel_(kernel), joined_(std::move(joined)), listener_(io), pause_(io) {}

Result<std::shared_ptr<SharedDoor>> SharedDoor::open(asio::io_context& io, ClockId kernel, Joined joined) {
  auto door = std::make_shared<SharedDoor>(io, kernel, std::move(joined));
  if (auto listening = door->listen(); !listening) {
    return std::unexpected(listening.error());
  }
  return door;
}

Result<void> SharedDoor::listen() {
  auto name = fresh_token();
  if (!name) {
    return std::unexpected(name.error());
  }
  name_ = *name;
  auto socket = listen_at(socket_name(name_), kBacklog);
  if (!socket) {
    return std::unexpected(socket.error());
  }
  listener_.assign(socket->release());
  is_open_ = true;
  wait();
  return {};
}

Result<SharedOffer> SharedDoor::invite(std::size_t guest) {
  if (const auto known = offers_.find(guest); known != offers_.end()) {
    return known->second;
  }
  const auto shown = fresh_token();
  const auto answered = fresh_token();
  if (!shown || !answered) {
    return std::unexpected(!shown ? shown.error() : answered.error());
  }
  return offers_.emplace(guest, SharedOffer{kernel_, name_, *shown, *answered}).first->second;
}

void SharedDoor::withdraw(std::size_t guest) {
  offers_.erase(guest);
  std::erase_if(visitors_, [guest](const auto& visitor) { return visitor->guest == guest; });
}

void SharedDoor::close() {
  is_open_ = false;
  asio::error_code ignored;
  listener_.close(ignored);
  pause_.cancel();
  visitors_.clear();
  offers_.clear();
}

void SharedDoor::wait() {
  listener_.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](asio::error_code error) {
    if (const auto self = weak.lock(); self && !error && self->is_open_) {
      self->take_visitors();
    }
  });
}

/// Some a turn. Without a free descriptor the listener would be readable for ever: it is looked at again after a while.
void SharedDoor::take_visitors() {
  for (std::size_t i = 0; i < kVisitorsMax; ++i) {
    auto accepted = accept_from(listener_.native_handle());
    if (!accepted) {
      pause_.expires_after(kPatience);
      pause_.async_wait([weak = weak_from_this()](asio::error_code error) {
        if (const auto self = weak.lock(); self && !error && self->is_open_) {
          self->wait();
        }
      });
      return;
    }
    if (!*accepted) {
      break;
    }
    if (visitors_.size() == kVisitorsMax || !is_our_user((*accepted)->get())) {
      ++refused_;
      continue;
    }
    visitors_.push_back(std::make_shared<Visitor>(io_));
    visitors_.back()->socket.assign((*accepted)->release());
    await(visitors_.back());
  }
  wait();
}

void SharedDoor::await(const std::shared_ptr<Visitor>& visitor) {
  const auto act = [weak = weak_from_this(), waiting = std::weak_ptr(visitor)](auto what) {
    const auto self = weak.lock();
    if (const auto here = waiting.lock(); self && here && self->is_open_) {
      what(*self, here);
    }
  };
  visitor->socket.async_wait(asio::posix::stream_descriptor::wait_read, [act](asio::error_code error) {
    if (!error) {
      act([](SharedDoor& door, const std::shared_ptr<Visitor>& here) { door.receive(here); });
    }
  });
  visitor->timer.expires_after(kPatience);
  visitor->timer.async_wait([act](asio::error_code error) {
    if (!error) {
      act([](SharedDoor& door, const std::shared_ptr<Visitor>& here) { door.hang_up(here); });
    }
  });
}

void SharedDoor::receive(const std::shared_ptr<Visitor>& visitor) {
  const ReceivedBytes received = receive_bytes(visitor->socket.native_handle(), sizeof(SharedToken));
  if (received.state == ReceivedBytes::State::nothing_yet) {
    return await(visitor);
  }
  if (received.state == ReceivedBytes::State::gone) {
    return hang_up(visitor);
  }
  if (visitor->guest) {
    const std::size_t guest = *visitor->guest;
    SharedEnd end{UniqueDescriptor(visitor->socket.release()), *std::move(visitor->memory), SharedSide::host};
    std::erase(visitors_, visitor);
    return joined_(guest, std::move(end));
  }
  SharedToken shown{};
  if (received.bytes.size() != shown.size()) {
    return hang_up(visitor);
  }
  std::copy(received.bytes.begin(), received.bytes.end(), shown.begin());
  const auto guest = guest_of(shown);
  if (!guest || !hand_over(*visitor, *guest)) {
    return hang_up(visitor);
  }
  await(visitor);
}

std::optional<std::size_t> SharedDoor::guest_of(const SharedToken& token) const {
  const auto offer = std::ranges::find_if(offers_, [&](const auto& one) { return is_same(one.second.guest, token); });
  return offer == offers_.end() ? std::nullopt : std::optional(offer->first);
}

/// An offer is taken once.
bool SharedDoor::hand_over(Visitor& visitor, std::size_t guest) {
  const SharedOffer offer = offers_.extract(guest).mapped();
  auto memory = SharedMemory::create(kLinkBytes);
  if (!memory || !send_bytes(visitor.socket.native_handle(), {offer.host.data(), offer.host.size()}, memory->descriptor())) {
    return false;
  }
  visitor.guest = guest;
  visitor.memory = *std::move(memory);
  return true;
}

void SharedDoor::hang_up(const std::shared_ptr<Visitor>& visitor) {
  ++refused_;
  std::erase(visitors_, visitor);
}

}  // namespace loom
