// SPDX-License-Identifier: Apache-2.0
// ModuleFile: a pluggable module as the file that the optoe kernel driver would show, served by FUSE. Unlike a plain file it
// refuses while the module is busy, clears on read what the standard clears, and lets time pass. The page cache never answers.
#pragma once

#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/transaction.hpp"
#include "runtime/loop.hpp"
#include "sim_backend/emulate/emulated_bus.hpp"
#include "sim_backend/emulate/options.hpp"

struct fuse_session;

namespace loom {

struct ModuleFileOptions {
  EmulatorOptions common;
  std::string folder;  ///< where `eeprom` appears; it exists
  PageLayout layout = PageLayout::one_address;
};

class ModuleFile {
 public:
  /// Mounts; `loop` is used until the end. Errors: unreachable (no FUSE here, no such folder), invalid_argument (a fault),
  /// storage (the light log).
  static Result<std::unique_ptr<ModuleFile>> open(AsioLoop& loop, EmulatedDevices devices, const SimDeviceOptions& models,
                                                  ModuleFileOptions options);
  ~ModuleFile();
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;

  std::string path() const { return options_.folder + "/eeprom"; }
  /// All state is lost, and nothing acknowledges (ENXIO) before options.boot_ms have passed. SIGHUP calls it.
  void power_cycle();

  /// What of one read or write of a client was done so far: it goes page by page, as the kernel driver does it.
  struct Access;
  void go_on(std::shared_ptr<Access> access);

 private:
  ModuleFile(AsioLoop& loop, std::unique_ptr<EmulatedBus> bus, ModuleFileOptions options);
  Result<void> mount();
  void serve();
  void wait_for_hangup();

  AsioLoop& loop_;
  ModuleFileOptions options_;
  std::unique_ptr<EmulatedBus> bus_;
  asio::posix::stream_descriptor requests_;
  asio::signal_set hangup_;
  fuse_session* session_ = nullptr;
  Instant booted_at_{};
};

/// Mounts, says "file PATH" on stdout and serves until SIGTERM. The exit code of the program.
int run_module_emulator(const Result<EmulatedDevices>& devices, const SimDeviceOptions& models, ModuleFileOptions options);

}  // namespace loom
