// SPDX-License-Identifier: Apache-2.0
// What an ITLA module says of itself once: who made it, its serial number, its band, grid and powers. A reader that knows which
// register comes next and what its answer tells, texts of many bytes included; it never talks, and no limit is made up where
// the module tells none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/observation.hpp"
#include "core/units.hpp"
#include "drivers/transceiver/itla_frame.hpp"

namespace loom::itla {

/// Empty or nothing: it does not say, or says what cannot be (a band whose end is before its beginning).
struct Facts {
  std::string serial, maker, model, device_type, release;
  std::optional<Frequency> first, last;  ///< of its band
  std::optional<FrequencyOffset> grid;   ///< the least step of its grid register
  std::optional<Dbm> power_min, power_max;
  std::optional<FrequencyOffset> trim_max;  ///< of FTF, either way
};

/// As an observation has it: "JDSU, type CW ITLA, CW-1550, release 1.2".
DeviceIdentity identity_of(const Facts& facts);

enum class Loss : std::uint8_t { unread_request, damaged_answer, silence, overtaken };

class FactsReader {
 public:
  static constexpr std::size_t kTextBytes = 80;  ///< of a text; what lies beyond is not read [K]

  /// `expected`: the serial number that it must say; empty: any.
  explicit FactsReader(std::string expected) : expected_(std::move(expected)) {}

  /// What is to be asked next; nothing: all is known.
  std::optional<Request> next() const;
  /// Facts come in groups, so that no audit reads them all: serial number, band, powers, grid, maker, ...
  unsigned group() const;
  bool has_serial() const { return cursor_ > 0; }
  /// An answer to next() that is no refusal.
  void absorb(const Response& response);
  /// next() was refused: there is no such register, or a text ended before its count.
  void absorb_refusal();
  /// The exchange failed. A damaged answer is asked for again (LstRsp), for the text has gone on; after silence a text begins
  /// anew. After some losses, audits long, the fact is taken for one that it does not tell.
  void absorb_loss(Loss loss);
  /// It may be another module: its serial number decides whether the rest still holds.
  void recheck();
  void forget();

  const Facts& facts() const { return facts_; }
  /// "its serial number is 'A'; the inventory expects 'B'"; empty: it is the one, or that is not known.
  std::string stranger() const;

 private:
  void store(std::string text);
  void advance();
  void absorb_serial(std::string text);
  void collect_numbers();

  std::string expected_;
  Facts facts_;
  std::size_t cursor_ = 0;
  std::size_t resume_ = 0;      ///< where to go on when the serial number has been read again
  bool is_doubted_ = false;     ///< one reading of it was not the expected one
  bool is_stranger_ = false;    ///< two were not
  unsigned losses_ = 0;         ///< of this fact
  bool asks_again_ = false;     ///< with LstRsp
  std::size_t text_bytes_ = 0;  ///< of the text that is being read; 0: none is
  std::string text_;
  std::array<std::optional<std::uint16_t>, 16> words_{};
};

}  // namespace loom::itla
