// SPDX-License-Identifier: Apache-2.0
// Sockets by asio, terminals by POSIX.
#include "sim_backend/emulate/transport.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <asio/ip/v6_only.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

constexpr int kBacklog = 64;

std::unexpected<Error> failed(const char* what) {
  return fail(ErrorCode::internal, format_text("a pseudo terminal cannot be opened: {}: {}", what, std::strerror(errno)));
}

Result<void> make_link(const std::string& target, const std::string& link) {
  struct stat there{};
  if (lstat(link.c_str(), &there) == 0 && !S_ISLNK(there.st_mode)) {
    return fail(ErrorCode::conflict, format_text("{} is there and is no symbolic link", link));
  }
  unlink(link.c_str());
  if (symlink(target.c_str(), link.c_str()) != 0) {
    return fail(ErrorCode::conflict, format_text("{} cannot be made: {}", link, std::strerror(errno)));
  }
  return {};
}

}  // namespace

Result<void> listen_on(asio::ip::tcp::acceptor& acceptor, const EmulatorOptions& options) {
  std::error_code error;
  const auto host = parse_host(options.bind);
  const auto address = asio::ip::make_address(host ? *host : options.bind, error);
  if (error) {
    return fail(ErrorCode::invalid_argument,
                format_text("--bind '{}' is no IP address, as 127.0.0.1 and ::1 are", options.bind));
  }
  const asio::ip::tcp::endpoint place(address, options.port);
  acceptor.open(place.protocol(), error);
  if (!error) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error && address.is_v6()) {
    acceptor.set_option(asio::ip::v6_only(false), error);  // :: is every interface of both families, whatever sysctl says
  }
  if (!error) {
    acceptor.bind(place, error);
  }
  if (!error) {
    acceptor.listen(kBacklog, error);
  }
  if (error) {
    return fail(ErrorCode::conflict, format_text("cannot listen on {}: {}",
                                                 to_string(HostPort{address.to_string(), options.port}), error.message()));
  }
  return {};
}

Result<PseudoTerminal> PseudoTerminal::open(const std::string& link) {
  PseudoTerminal terminal;
  terminal.master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal.master_ < 0 || grantpt(terminal.master_) != 0 || unlockpt(terminal.master_) != 0) {
    return failed("/dev/ptmx");
  }
  std::array<char, 128> name{};
  if (ptsname_r(terminal.master_, name.data(), name.size()) != 0) {
    return failed("ptsname");
  }
  terminal.path_ = name.data();
  terminal.far_end_ = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios raw{};
  if (terminal.far_end_ < 0 || tcgetattr(terminal.far_end_, &raw) != 0) {
    return failed(name.data());
  }
  cfmakeraw(&raw);  // nothing is echoed and no byte means anything, whoever opens it
  if (tcsetattr(terminal.far_end_, TCSANOW, &raw) != 0) {
    return failed(name.data());
  }
  if (!link.empty()) {
    LOOM_TRY(make_link(terminal.path_, link));
    terminal.link_ = link;
  }
  return terminal;
}

PseudoTerminal::PseudoTerminal(PseudoTerminal&& other) noexcept
    : master_(std::exchange(other.master_, -1)),
      far_end_(std::exchange(other.far_end_, -1)),
      path_(std::move(other.path_)),
      link_(std::exchange(other.link_, {})) {}

PseudoTerminal::~PseudoTerminal() {
  if (master_ >= 0) {
    ::close(master_);
  }
  if (far_end_ >= 0) {
    ::close(far_end_);
  }
  std::array<char, 256> target{};
  const ssize_t length = link_.empty() ? -1 : readlink(link_.c_str(), target.data(), target.size() - 1);
  if (length > 0 && path_ == target.data()) {  // somebody else's by now is left alone
    unlink(link_.c_str());
  }
}

int PseudoTerminal::take_master() { return std::exchange(master_, -1); }

void PseudoTerminal::flush() const { tcflush(far_end_, TCIOFLUSH); }

}  // namespace loom
