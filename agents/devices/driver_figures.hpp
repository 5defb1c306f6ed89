// SPDX-License-Identifier: Apache-2.0
// DriverFigures: what an agent has counted and measured of its devices of one model since it started. Plain numbers that
// DeviceUnits adds to and whoever publishes them copies; nothing is decided by them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/fabric/fabric.hpp"
#include "core/messages/duration_histogram.hpp"
#include "core/transaction.hpp"

namespace loom {

enum class DeviceOp : std::uint8_t {
  fire,   ///< from the order to move until read-back proves the setpoint
  audit,  ///< from the order to read until the reading is there
};
inline constexpr std::array kDeviceOps{DeviceOp::fire, DeviceOp::audit};
constexpr std::string_view to_string(DeviceOp op) { return op == DeviceOp::fire ? "fire" : "audit"; }

/// What went wrong between a driver and its device.
enum class DeviceErrorCode : std::uint8_t {
  nack,       ///< one transaction, as BusStatus
  exception,  ///< likewise
  timeout,    ///< likewise
  malformed,  ///< likewise
  lost,       ///< likewise
  bad_check,  ///< likewise
  gave_up,    ///< the driver's retries were spent: what the alarm device_failed is raised for
};
inline constexpr std::size_t kDeviceErrorCodes = 7;
constexpr std::string_view to_string(DeviceErrorCode code) {
  constexpr std::array<std::string_view, kDeviceErrorCodes> kWords{"nack", "exception", "timeout", "malformed",
                                                                   "lost", "bad_check", "gave_up"};
  return kWords[static_cast<std::size_t>(code)];
}

struct DriverFigures {
  const Device* like = nullptr;  ///< one of the devices; all have its role and model
  std::array<DurationHistogram, kDeviceOps.size()> ops{};
  std::array<std::uint64_t, kDeviceErrorCodes> errors{};
  std::uint64_t writes = 0;  ///< transactions that were not plain reads

  void add(DeviceOp op, Duration took) { ops[static_cast<std::size_t>(op)].add(took); }
  void add(DeviceErrorCode code) { ++errors[static_cast<std::size_t>(code)]; }
  /// Counts an answer that is none of what was asked for.
  void add(BusStatus status) {
    if (status != BusStatus::ok) {
      add(static_cast<DeviceErrorCode>(static_cast<std::size_t>(status) - 1));
    }
  }
  DriverFigures& operator+=(const DriverFigures& other) {
    for (std::size_t op = 0; op < ops.size(); ++op) {
      ops[op] += other.ops[op];
    }
    for (std::size_t code = 0; code < errors.size(); ++code) {
      errors[code] += other.errors[code];
    }
    writes += other.writes;
    return *this;
  }
};

static_assert(static_cast<std::size_t>(BusStatus::nack) == static_cast<std::size_t>(DeviceErrorCode::nack) + 1 &&
              static_cast<std::size_t>(BusStatus::bad_check) == static_cast<std::size_t>(DeviceErrorCode::bad_check) + 1);

}  // namespace loom
