// SPDX-License-Identifier: Apache-2.0
// OptoeBus: a module behind the optoe kernel driver, or behind any file of the same layout: pread and pwrite at linear offsets.
// The kernel selects pages and waits for the module's write recovery; it blocks for as long as the adapter's own time-out.
#pragma once

#include <cstdint>
#include <string>

#include "drivers/bus/bus_device.hpp"

namespace loom {

class OptoeBus final : public BusDevice {
 public:
  explicit OptoeBus(std::string path) : path_(std::move(path)) {}
  OptoeBus(const OptoeBus&) = delete;
  OptoeBus& operator=(const OptoeBus&) = delete;
  ~OptoeBus() override { close(); }

  /// BytesAt only. Its layout is the file's own affair (optoe's dev_class).
  BusReply execute(const Transaction& transaction) override;

 private:
  BusReply open();
  void close();
  BusReply transfer(const BytesAt& order);

  std::string path_;
  int descriptor_ = -1;
  std::uint32_t connection_ = 0;  ///< counts how often it was opened
};

}  // namespace loom
