// SPDX-License-Identifier: Apache-2.0
// BaudSearch: at which speed a serial line's device speaks, where nobody knows. It goes from speed to speed by how exchanges
// end, and knows no protocol: a bus sees silence and damage, but whether bytes that did come are an answer only a driver can
// say. It says so by what it asks next: who is content asks something else, who is not asks the same again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace loom {

class BaudSearch {
 public:
  /// What modules are delivered with comes first, then what a testbed sets them to.
  static constexpr std::array kSpeeds{9600, 19200, 38400, 57600, 115200, 4800};
  static constexpr unsigned kPatience =
      4;  ///< failed exchanges in a row at a speed that was right: as many tries as drivers have

  /// The speed for this request.
  int speed_for(const std::vector<std::uint8_t>& request);
  /// How the exchange at that speed ended. `heard`: bytes came, as many as were asked for.
  void ended(bool heard);

  int speed() const { return kSpeeds[place_]; }
  bool is_found() const { return is_found_; }

 private:
  void go_on();

  std::size_t place_ = 0;
  bool is_found_ = false;
  bool heard_ = false;     ///< by the last exchange
  unsigned failures_ = 0;  ///< in a row
  std::vector<std::uint8_t> request_{};
};

}  // namespace loom
