// SPDX-License-Identifier: Apache-2.0
// Where an emulator is reached: a TCP listener, or a pseudo terminal whose other end a serial driver opens as a tty.
#pragma once

#include <asio/ip/tcp.hpp>
#include <string>

#include "core/result.hpp"
#include "sim_backend/emulate/options.hpp"

namespace loom {

/// Listens. Errors: invalid_argument (the address), conflict (the port is taken).
Result<void> listen_on(asio::ip::tcp::acceptor& acceptor, const EmulatorOptions& options);

/// Both ends of a raw pseudo terminal. It keeps its own descriptor of the far end open, so that clients may come and go.
class PseudoTerminal {
 public:
  /// `link`: a symbolic link to be made, or empty; one that is there is replaced. Errors: internal, conflict (the link's place
  /// is taken by something else).
  static Result<PseudoTerminal> open(const std::string& link);
  PseudoTerminal(PseudoTerminal&& other) noexcept;
  PseudoTerminal& operator=(PseudoTerminal&&) = delete;
  ~PseudoTerminal();

  const std::string& path() const { return path_; }
  /// The near end; the caller closes it.
  int take_master();
  /// Forgets what was written and not yet read, both ways.
  void flush() const;

 private:
  PseudoTerminal() = default;
  int master_ = -1;
  int far_end_ = -1;
  std::string path_;
  std::string link_;
};

}  // namespace loom
