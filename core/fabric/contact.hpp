// SPDX-License-Identifier: Apache-2.0
// Contact: where an interlock contact is read and how often, as a value, and the judge who says what is believed of it. An
// opening counts at once; a closing only when it has lasted; what cannot be read for too long is open. Knows no bus and no
// clock: drivers/bus/contact_input reads, runtime/contact_watch asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/time.hpp"

namespace loom {

/// A line of a GPIO character device.
struct GpioLine {
  enum class Bias : std::uint8_t { as_is, disabled, pull_up, pull_down };
  std::string chip;  ///< /dev/gpiochip0
  std::uint32_t line = 0;
  bool active_low = false;  ///< the contact is closed while the line is low
  Bias bias = Bias::as_is;  ///< as_is: what the board's wiring gives
  bool operator==(const GpioLine&) const = default;
};

/// A discrete input of a Modbus device (function 02h): 1 means closed.
struct DiscreteInput {
  std::string bus;  ///< as parse_endpoint (drivers/bus/endpoint.hpp) reads it
  std::uint8_t unit = 1;
  std::uint16_t input = 0;
  bool operator==(const DiscreteInput&) const = default;
};

/// A file that says `closed` or `1`, `open` or `0`: for tests, and for contacts that another program reads.
struct ContactFile {
  std::string path;
  bool operator==(const ContactFile&) const = default;
};

struct ContactTimings {
  Duration poll = std::chrono::milliseconds{10};   ///< from one reading to the next; a GPIO line says by itself when it changes
  Duration lost = std::chrono::milliseconds{250};  ///< not read for longer than this: it counts as open
  Duration settle = std::chrono::milliseconds{50};  ///< it must read closed for so long, without a break, to count as closed
  bool operator==(const ContactTimings&) const = default;
};

struct ContactEndpoint {
  std::variant<GpioLine, DiscreteInput, ContactFile> place;
  ContactTimings timings;
  bool operator==(const ContactEndpoint&) const = default;
};

/// What is believed of a contact has changed.
struct ContactChange {
  bool open = false;
  std::string problem;  ///< not empty: it counts as open because it cannot be read
  bool operator==(const ContactChange&) const = default;
};

enum class ContactState : std::uint8_t {
  unread,  ///< nothing is known yet: no light, and no latch
  open,
  closed,
};

class ContactJudge {
 public:
  ContactJudge(ContactTimings timings, Instant start) : timings_(timings), read_at_(start) {}

  /// It was read. `at`: before the reading began; not descending.
  std::optional<ContactChange> read(Instant at, bool closed);
  /// A reading failed.
  std::optional<ContactChange> failed(Instant at, const std::string& error);
  /// Nobody may have read it for a while: whoever should is stuck.
  std::optional<ContactChange> look(Instant now);

  ContactState state() const { return state_; }

 private:
  std::optional<ContactChange> become_lost(Instant now);

  ContactTimings timings_;
  ContactState state_ = ContactState::unread;
  Instant read_at_;  ///< the last time that it could be read
  std::optional<Instant> closed_since_;
  std::string error_;
};

}  // namespace loom
