// SPDX-License-Identifier: Apache-2.0
// What an errno of a module's bus means to a driver: its module said "not now", or the bus itself is gone.
#pragma once

#include <string>
#include <string_view>

#include "core/transaction.hpp"

namespace loom {

/// nack: what I2C adapters give for an address or a byte that nobody acknowledged (ENXIO, EREMOTEIO, EIO, ETIMEDOUT, and EAGAIN
/// for a lost arbitration: Documentation/i2c/fault-codes.rst of Linux). lost: all else. `cause` names `place` and errno.
BusReply failed_transfer(std::string_view place, int number);
/// "/dev/i2c-11: Permission denied (errno 13)", as `lost`.
BusReply failed_open(std::string_view place, int number);
/// An order that this bus does not execute, as a device would say it: `exception` 1, or 2 for an address; `cause` says which.
BusReply unlawful(std::uint8_t exception, std::string cause);

}  // namespace loom
