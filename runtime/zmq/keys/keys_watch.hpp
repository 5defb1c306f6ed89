// SPDX-License-Identifier: Apache-2.0
// KeysWatch: tells that something in a folder of keys may have changed: at once by inotify, when the process receives SIGHUP
// (which no longer ends it), and by looking now and then, since inotify sees nothing on some file systems. It watches the
// folder, not the files: those are replaced by rename. It never reads them. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

namespace loom {

/// Until a watch exists SIGHUP does nothing, instead of ending the process. For the first line of a daemon's main().
void ignore_hangups();

class KeysWatch {
 public:
  enum class Cause : std::uint8_t {
    written,   ///< a file was written whole, renamed or removed, or its mode changed
    hangup,    ///< SIGHUP: somebody wants it read now
    interval,  ///< a look in passing: a file may just be half written
  };
  using Changed = std::function<void(Cause)>;

  /// Without a folder, or without inotify, the interval is all that is left; a folder that appears is watched from then on.
  KeysWatch(asio::io_context& io, std::filesystem::path folder, Changed changed,
            std::chrono::milliseconds interval = std::chrono::seconds{2});
  ~KeysWatch();

 private:
  class Core;
  std::shared_ptr<Core> core_;  ///< shared with waits under way, which do nothing once the watch is gone
};

}  // namespace loom
