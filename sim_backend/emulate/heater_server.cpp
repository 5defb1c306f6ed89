// poll over the listener and the clients; libmodbus for framing; the register rules decide the answer.
#include "sim_backend/emulate/heater_server.hpp"

#include <arpa/inet.h>
#include <modbus/modbus.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr int kBacklog = 32;
constexpr std::size_t kClientsMax = 64;
constexpr std::size_t kHeader = 7;  // MBAP up to and with the unit

constexpr std::uint8_t kRead = 0x03;
constexpr std::uint8_t kWriteOne = 0x06;
constexpr std::uint8_t kWriteMany = 0x10;

volatile std::sig_atomic_t power_was_cut = 0;

/// SIGHUP is blocked but while the server waits, so that none comes between the look at the flag and the wait.
void catch_hangup() {
  struct sigaction action{};
  action.sa_handler = [](int) { power_was_cut = 1; };
  sigaction(SIGHUP, &action, nullptr);
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  sigprocmask(SIG_BLOCK, &hangup, nullptr);
}

Instant steady_now() { return Instant{Duration{std::chrono::steady_clock::now().time_since_epoch()}}; }

std::uint16_t word_at(const std::vector<std::uint8_t>& frame, std::size_t index) {
  return index + 1 < frame.size() ? static_cast<std::uint16_t>(frame[index] << 8 | frame[index + 1]) : std::uint16_t{0};
}

/// The values of a write request.
std::vector<std::uint16_t> values_of(const std::vector<std::uint8_t>& frame) {
  if (frame[kHeader] == kWriteOne) {
    return {word_at(frame, kHeader + 3)};
  }
  std::vector<std::uint16_t> values;
  const std::size_t count = word_at(frame, kHeader + 3);
  for (std::size_t index = 0; index < count && kHeader + 7 + 2 * index < frame.size(); ++index) {
    values.push_back(word_at(frame, kHeader + 6 + 2 * index));
  }
  return values.size() == count ? values : std::vector<std::uint16_t>{};
}

}  // namespace

void HeaterServer::Closer::operator()(_modbus* context) const {
  modbus_set_socket(context, -1);
  modbus_free(context);
}

Result<HeaterServer> HeaterServer::open(HeaterServerOptions options) {
  std::unique_ptr<_modbus, Closer> context(modbus_new_tcp(options.bind.c_str(), options.port));
  if (!context) {
    return fail(ErrorCode::invalid_argument, format_text("cannot listen on '{}': not an IPv4 address", options.bind));
  }
  modbus_set_indication_timeout(context.get(), 0, 200'000);  // a client that stops within a request is dropped
  const int listener = modbus_tcp_listen(context.get(), kBacklog);
  if (listener < 0) {
    return fail(errno == EADDRINUSE ? ErrorCode::conflict : ErrorCode::internal,
                format_text("cannot listen on {}:{}: {}", options.bind, options.port, modbus_strerror(errno)));
  }
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    ::close(listener);
    return fail(ErrorCode::internal, "the port that was given cannot be read back");
  }
  catch_hangup();
  return HeaterServer(std::move(options), std::move(context), listener, ntohs(address.sin_port));
}

HeaterServer::HeaterServer(HeaterServerOptions options, std::unique_ptr<_modbus, Closer> context, int listener,
                           std::uint16_t port)
    : options_(std::move(options)), context_(std::move(context)), listener_(listener), port_(port), chance_(options_.seed) {
  for (const std::uint8_t unit : options_.units) {
    banks_.emplace_back(options_.bank_channels, unit);
  }
}

HeaterServer::HeaterServer(HeaterServer&& other) noexcept
    : options_(std::move(other.options_)),
      context_(std::move(other.context_)),
      listener_(std::exchange(other.listener_, -1)),
      port_(other.port_),
      clients_(std::exchange(other.clients_, {})),
      waiting_(std::move(other.waiting_)),
      banks_(std::move(other.banks_)),
      chance_(other.chance_),
      replies_(other.replies_) {}

HeaterServer::~HeaterServer() {
  for (const int client : clients_) {
    ::close(client);
  }
  if (listener_ >= 0) {
    ::close(listener_);
  }
}

Result<void> HeaterServer::serve() {
  sigset_t none;
  sigemptyset(&none);
  while (true) {
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    for (const int client : clients_) {
      sockets.push_back({client, POLLIN, 0});
    }
    const Duration wait = rest();
    const timespec timeout{wait.count() / 1'000'000'000, wait.count() % 1'000'000'000};
    if (ppoll(sockets.data(), sockets.size(), waiting_.empty() ? nullptr : &timeout, &none) < 0) {
      if (errno != EINTR) {
        return fail(ErrorCode::internal, "the server's sockets cannot be waited for");
      }
      if (power_was_cut != 0) {
        power_cycle();
      }
      continue;
    }
    for (const pollfd& socket : sockets) {
      if (socket.revents == 0) {
        continue;
      }
      if (socket.fd == listener_) {
        accept_client();
      } else {
        receive_from(socket.fd);
      }
    }
    answer_due();
  }
}

/// Until the next answer is due.
Duration HeaterServer::rest() const {
  return waiting_.empty() ? Duration{} : std::max(waiting_.front().due - steady_now(), Duration{});
}

void HeaterServer::power_cycle() {
  power_was_cut = 0;
  while (!clients_.empty()) {
    drop(clients_.back());
  }
  for (HeaterRegisters& bank : banks_) {
    bank.power_up();
  }
}

void HeaterServer::accept_client() {
  const int client = accept(listener_, nullptr, nullptr);
  if (client < 0) {
    return;
  }
  if (clients_.size() >= kClientsMax) {
    ::close(client);
    return;
  }
  clients_.push_back(client);
}

void HeaterServer::drop(int client) {
  std::erase(clients_, client);
  std::erase_if(waiting_, [client](const Request& request) { return request.client == client; });
  ::close(client);
}

void HeaterServer::receive_from(int client) {
  std::array<std::uint8_t, MODBUS_TCP_MAX_ADU_LENGTH> frame{};
  modbus_set_socket(context_.get(), client);
  const int length = modbus_receive(context_.get(), frame.data());
  if (length < static_cast<int>(kHeader) + 1) {
    drop(client);
    return;
  }
  if (options_.silent) {
    return;
  }
  const bool late = options_.late_count == 0 || replies_ < options_.late_count;
  ++replies_;
  Request request{client, steady_now() + (late ? options_.late : Duration{0}), {frame.begin(), frame.begin() + length}};
  for (const Request& other : waiting_) {
    if (other.client == client) {
      request.due = std::max(request.due, other.due);  // a connection is answered in the order of its requests
    }
  }
  const auto place = std::upper_bound(waiting_.begin(), waiting_.end(), request.due,
                                      [](Instant due, const Request& other) { return due < other.due; });
  waiting_.insert(place, std::move(request));
}

void HeaterServer::answer_due() {
  while (!waiting_.empty() && waiting_.front().due <= steady_now()) {
    const Request request = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    modbus_set_socket(context_.get(), request.client);
    answer(request);
  }
}

// --- one answer ----------------------------------------------------------------------------------------------------------

HeaterRegisters* HeaterServer::bank_of(std::uint8_t unit) {
  const auto found =
      std::find_if(banks_.begin(), banks_.end(), [unit](const HeaterRegisters& bank) { return bank.unit() == unit; });
  return found == banks_.end() ? nullptr : &*found;
}

bool HeaterServer::draws_busy() {
  constexpr double kRange = 18446744073709551616.0;  // 2^64
  return options_.busy > 0 && static_cast<double>(chance_()) < options_.busy * kRange;
}

void HeaterServer::answer(const Request& request) {
  const std::uint8_t function = request.frame[kHeader];
  HeaterRegisters* bank = bank_of(request.frame[kHeader - 1]);
  if (bank == nullptr) {
    refuse(request, ModbusException::gateway_target);
    return;
  }
  if (function != kRead && function != kWriteOne && function != kWriteMany) {
    modbus_flush(context_.get());  // its length is not known
    refuse(request, ModbusException::function);
    return;
  }
  if (draws_busy()) {
    refuse(request, ModbusException::busy);
    return;
  }
  const std::uint16_t address = word_at(request.frame, kHeader + 1);
  const std::vector<std::uint16_t> values = function == kRead ? std::vector<std::uint16_t>{} : values_of(request.frame);
  const auto wrong =
      function == kRead ? bank->check_read(address, word_at(request.frame, kHeader + 3)) : bank->check_write(address, values);
  if (wrong) {
    refuse(request, *wrong);
    return;
  }
  send_values(request, *bank);
  if (function != kRead) {
    bank->write(address, values);
  }
}

/// libmodbus writes the reply from a mapping that covers exactly the registers asked for.
void HeaterServer::send_values(const Request& request, const HeaterRegisters& bank) {
  const std::uint16_t address = word_at(request.frame, kHeader + 1);
  const std::uint16_t count = request.frame[kHeader] == kWriteOne ? std::uint16_t{1} : word_at(request.frame, kHeader + 3);
  const std::unique_ptr<modbus_mapping_t, decltype(&modbus_mapping_free)> mapping(
      modbus_mapping_new_start_address(0, 0, 0, 0, address, count, 0, 0), modbus_mapping_free);
  LOOM_ASSERT(mapping != nullptr);
  const std::vector<std::uint16_t> values = bank.read(address, count);
  std::copy(values.begin(), values.end(), mapping->tab_registers);
  if (modbus_reply(context_.get(), request.frame.data(), static_cast<int>(request.frame.size()), mapping.get()) < 0) {
    drop(request.client);
  }
}

void HeaterServer::refuse(const Request& request, ModbusException exception) {
  if (modbus_reply_exception(context_.get(), request.frame.data(), static_cast<unsigned>(exception)) < 0) {
    drop(request.client);
  }
}

}  // namespace loom
