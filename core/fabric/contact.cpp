// SPDX-License-Identifier: Apache-2.0
// The rules of belief: open at once, closed after a while, lost is open.
#include "core/fabric/contact.hpp"

#include "core/text/format_text.hpp"

namespace loom {

std::optional<ContactChange> ContactJudge::read(Instant at, bool closed) {
  read_at_ = at;
  error_.clear();
  if (!closed) {
    closed_since_.reset();
    if (state_ == ContactState::open) {
      return std::nullopt;
    }
    state_ = ContactState::open;
    return ContactChange{true, {}};
  }
  closed_since_ = closed_since_.value_or(at);
  if (state_ == ContactState::closed || at - *closed_since_ < timings_.settle) {
    return std::nullopt;
  }
  state_ = ContactState::closed;
  return ContactChange{false, {}};
}

std::optional<ContactChange> ContactJudge::failed(Instant at, const std::string& error) {
  closed_since_.reset();  // who knows what it was meanwhile
  error_ = error;
  return become_lost(at);
}

std::optional<ContactChange> ContactJudge::look(Instant now) { return become_lost(now); }

std::optional<ContactChange> ContactJudge::become_lost(Instant now) {
  if (now - read_at_ <= timings_.lost || state_ == ContactState::open) {
    return std::nullopt;
  }
  closed_since_.reset();
  state_ = ContactState::open;
  return ContactChange{
      true, format_text("it could not be read for {} ms (limit {} ms), which counts as open: {}",
                        (now - read_at_) / std::chrono::milliseconds{1}, timings_.lost / std::chrono::milliseconds{1},
                        error_.empty() ? "it does not answer" : error_)};
}

}  // namespace loom
