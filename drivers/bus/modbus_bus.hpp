// SPDX-License-Identifier: Apache-2.0
// ModbusBus: holding registers over Modbus/TCP or RTU (functions 03h, 06h, 10h), and discrete inputs (02h). After a time-out
// the late reply must not answer the next request: a TCP connection is closed, a serial line is listened to until it has been
// spoken or is over.
#pragma once

#include <memory>

#include "core/time.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/endpoint.hpp"

struct _modbus;

namespace loom {

class ModbusBus : public BusDevice {
 public:
  explicit ModbusBus(Endpoint endpoint);
  ~ModbusBus() override;

  /// Registers only; BytesAt and Frame are answered `exception` 1 (illegal function), as a device would.
  BusReply execute(const Transaction& transaction) override;
  /// One discrete input of a unit (function 02h): words = {0} or {1}. Blocks and opens as execute().
  BusReply read_discrete(std::uint8_t unit, std::uint16_t input, Duration deadline);

 private:
  struct Closer {
    void operator()(_modbus* context) const;
  };

  /// Connected, and rid of what still comes from a request that timed out.
  bool make_ready(Duration deadline);
  bool connect(Duration deadline);
  void close();
  /// False: no device can have this address.
  bool prepare(std::uint16_t unit, Duration deadline);
  BusReply exchange(const Registers& order);
  BusReply failure(int error);

  Endpoint endpoint_;
  std::unique_ptr<_modbus, Closer> context_;  ///< null while closed
  Instant late_reply_until_{};  ///< RTU: the reply of a timed-out request may come until then; 0: none is expected
  Duration last_deadline_{};
};

}  // namespace loom
