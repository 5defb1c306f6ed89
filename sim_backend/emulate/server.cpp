// SPDX-License-Identifier: Apache-2.0
// Clients on one side, a SimBus on the other.
#include "sim_backend/emulate/server.hpp"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/write.hpp>
#include <csignal>
#include <cstdio>
#include <deque>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/process_limits.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/modbus_framing.hpp"
#include "sim_backend/judge/light_log.hpp"

namespace loom {
namespace {

constexpr std::size_t kClientsMax = 64;
/// Requests of a client that wait for their answer; a client that says more is not listened to meanwhile.
constexpr std::size_t kRequestsMax = 32;
/// How long a model may take, which no emulator limits: the client has a patience of its own.
constexpr Duration kPatience = std::chrono::hours{1};

}  // namespace

/// One client: bytes in, whole requests to the server; replies out in the order of the requests. One that has said all that it
/// has to say (nc of one line) is still answered.
class EmulatorServer::Client : public std::enable_shared_from_this<EmulatorServer::Client> {
 public:
  Client(EmulatorServer& server, bool is_line)
      : server_(server), framing_(server.protocol_.framing(server.options_)), is_line_(is_line) {}
  virtual ~Client() = default;

  /// Goes on as far as it can: asks, reads, writes, ends.
  void go_on() {
    ask_whole_requests();
    if (!is_open()) {
      return;
    }
    if (framing_->is_lost()) {
      forget_input();
    } else if (!is_reading_ && !has_ended_ && waiting_.size() < kRequestsMax) {
      is_reading_ = true;
      read();
    }
    if (has_ended_ && waiting_.empty() && !is_writing_) {
      close();
    }
  }
  void answer(std::uint64_t number, const BusReply& reply) {
    if (number < first_ || number - first_ >= waiting_.size()) {
      return;  // of before a power cycle
    }
    Waiting& answered = waiting_[number - first_];
    answered.bytes = framing_->answer(answered.request, reply);
    write_answers();
    go_on();
  }
  virtual void close() = 0;

 protected:
  void was_read(std::error_code error, std::span<const std::uint8_t> part) {
    is_reading_ = false;
    if (!is_open()) {
      return;
    }
    if (!error) {
      framing_->take(part, server_.loop_.now());
    } else if (is_end_of_file(error)) {
      has_ended_ = true;
    } else {
      close();
      return;
    }
    go_on();
  }
  void was_written(std::error_code error) {
    is_writing_ = false;
    if (!is_open()) {
      return;
    }
    if (error || (ends_after_ && waiting_.empty())) {
      close();
      return;
    }
    write_answers();
    go_on();
  }
  /// What waits for an answer gets none, and the server knows it no more.
  void forget() {
    first_ += waiting_.size();
    waiting_.clear();
    std::erase(server_.clients_, shared_from_this());
  }
  virtual bool is_open() const = 0;
  virtual bool is_end_of_file(std::error_code error) const = 0;
  virtual void read() = 0;
  virtual void write(std::vector<std::uint8_t> bytes) = 0;

 private:
  struct Waiting {
    EmulatedRequest request;
    std::optional<std::vector<std::uint8_t>> bytes{};
  };

  void ask_whole_requests() {
    while (is_open() && waiting_.size() < kRequestsMax) {
      auto request = framing_->next();
      if (!request) {
        return;
      }
      waiting_.push_back({*request});
      server_.ask(shared_from_this(), first_ + waiting_.size() - 1, std::move(*request));
    }
  }
  void write_answers() {
    while (!is_writing_ && !waiting_.empty() && waiting_.front().bytes) {
      std::vector<std::uint8_t> bytes = std::move(*waiting_.front().bytes);
      waiting_.pop_front();
      ++first_;
      if (!bytes.empty()) {
        ends_after_ = framing_->ends_after_answer();
        is_writing_ = true;
        write(std::move(bytes));
      }
    }
  }
  /// A connection that no request can follow on ends; a serial line goes on.
  void forget_input() {
    if (is_line_) {
      framing_ = server_.protocol_.framing(server_.options_);
      go_on();
    } else {
      close();
    }
  }

  EmulatorServer& server_;
  std::unique_ptr<Framing> framing_;
  bool is_line_;
  std::deque<Waiting> waiting_;
  std::uint64_t first_ = 0;  ///< number of waiting_.front()
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool has_ended_ = false;  ///< it says nothing more
  bool ends_after_ = false;
};

template <class Stream>
class EmulatorServer::StreamClient final : public EmulatorServer::Client {
 public:
  StreamClient(EmulatorServer& server, Stream stream, bool is_line) : Client(server, is_line), stream_(std::move(stream)) {}

  void close() override {
    const auto last = shared_from_this();  // the server lets go of it
    forget();
    std::error_code ignored;
    stream_.close(ignored);
  }

 private:
  bool is_open() const override { return stream_.is_open(); }
  bool is_end_of_file(std::error_code error) const override { return error == asio::error::eof; }
  void read() override {
    stream_.async_read_some(asio::buffer(part_), [this, self = shared_from_this()](std::error_code error, std::size_t count) {
      was_read(error, std::span(part_).first(count));
    });
  }
  void write(std::vector<std::uint8_t> bytes) override {
    output_ = std::move(bytes);
    asio::async_write(stream_, asio::buffer(output_),
                      [this, self = shared_from_this()](std::error_code error, std::size_t) { was_written(error); });
  }

  Stream stream_;
  std::array<std::uint8_t, 4096> part_{};
  std::vector<std::uint8_t> output_;
};

// --- the server ------------------------------------------------------------------------------------------------------------

EmulatorServer::EmulatorServer(AsioLoop& loop, std::unique_ptr<EmulatedBus> bus, EmulatedProtocol protocol,
                               EmulatorOptions options)
    : loop_(loop),
      options_(std::move(options)),
      protocol_(std::move(protocol)),
      bus_(std::move(bus)),
      acceptor_(loop.context()),
      hangup_(loop.context()) {
  bus_->look_through(protocol_.sight);
}

EmulatorServer::~EmulatorServer() = default;

Result<std::unique_ptr<EmulatorServer>> EmulatorServer::open(AsioLoop& loop, EmulatedDevices devices,
                                                             const SimDeviceOptions& models, EmulatedProtocol protocol,
                                                             EmulatorOptions options) {
  auto bus = EmulatedBus::open(loop, std::move(devices), models, options);
  if (!bus) {
    return std::unexpected(bus.error());
  }
  std::unique_ptr<EmulatorServer> server(new EmulatorServer(loop, std::move(*bus), std::move(protocol), std::move(options)));
  LOOM_TRY(server->open_place());
  return server;
}

Result<void> EmulatorServer::open_place() {
  std::error_code error;
  hangup_.add(SIGHUP, error);
  if (error) {
    return fail(ErrorCode::internal, "SIGHUP cannot be waited for: " + error.message());
  }
  wait_for_hangup();
  if (!options_.pty) {
    LOOM_TRY(listen_on(acceptor_, options_));
    accept();
    return {};
  }
  auto terminal = PseudoTerminal::open(options_.link);
  if (!terminal) {
    return std::unexpected(terminal.error());
  }
  terminal_.emplace(std::move(*terminal));
  serve_terminal();
  return {};
}

std::string EmulatorServer::place() const {
  if (terminal_) {
    return "pty " + terminal_->path();
  }
  std::error_code ignored;
  return format_text("port {}", acceptor_.local_endpoint(ignored).port());
}

void EmulatorServer::accept() {
  acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
    if (!error && !is_booting() && clients_.size() < kClientsMax) {
      socket.set_option(asio::ip::tcp::no_delay(true), error);
      const auto client = std::make_shared<StreamClient<asio::ip::tcp::socket>>(*this, std::move(socket), false);
      clients_.push_back(client);
      client->go_on();
    }
    accept();
  });
}

void EmulatorServer::serve_terminal() {
  const auto client = std::make_shared<StreamClient<asio::posix::stream_descriptor>>(
      *this, asio::posix::stream_descriptor(loop_.context(), terminal_->take_master()), true);
  clients_.push_back(client);
  client->go_on();
}

void EmulatorServer::wait_for_hangup() {
  hangup_.async_wait([this](std::error_code error, int) {
    if (!error) {
      power_cycle();
      wait_for_hangup();
    }
  });
}

/// A terminal stays, as a serial line does: what was on it is lost, and a device that boots does not answer.
void EmulatorServer::lose_connections() {
  if (terminal_) {
    terminal_->flush();
  } else {
    for (const std::shared_ptr<Client>& client : std::vector(clients_)) {
      client->close();
    }
  }
  booted_at_ = loop_.now() + std::chrono::milliseconds{options_.boot_ms};
}

void EmulatorServer::power_cycle() {
  lose_connections();
  bus_->power_cycle(booted_at_);
}

const Device* EmulatorServer::addressed(const EmulatedRequest& request) const {
  for (const DeviceId id : bus_->devices()) {
    const Device& device = bus_->fabric().device(id);
    if (!request.bus_address || device.bus_address == *request.bus_address) {
      return &device;
    }
  }
  return nullptr;
}

void EmulatorServer::ask(const std::shared_ptr<Client>& client, std::uint64_t number, EmulatedRequest request) {
  const auto answer = [this, number, weak = std::weak_ptr(client)](const EmulatedRequest& asked, BusReply reply) {
    if (reply.status == BusStatus::lost) {
      lose_connections();  // its power was cut
      return;
    }
    if (protocol_.amend) {
      reply = protocol_.amend(asked, std::move(reply));
    }
    if (const auto alive = weak.lock()) {
      alive->answer(number, reply);
    }
  };
  const Device* device = addressed(request);
  if (device == nullptr) {
    BusReply nobody;
    nobody.status = BusStatus::exception;
    nobody.exception = static_cast<std::uint8_t>(ModbusException::gateway_target);
    loop_.call_at(loop_.now(), Precision::ordinary, [answer, request, nobody] { answer(request, nobody); });
    return;
  }
  const Transaction transaction{device->id, device->bus_address, request.order, kPatience};
  bus_->submit(device->bus, transaction,
               [answer, request = std::move(request)](BusReply reply) { answer(request, std::move(reply)); });
}

int run_emulator(const Result<EmulatedDevices>& devices, const SimDeviceOptions& models, EmulatedProtocol protocol,
                 const EmulatorOptions& options) {
  const auto complain = [](const Error& error) {
    std::fprintf(stderr, "lightloom-emulate: %s\n", error.message.c_str());
    return 1;
  };
  if (!devices) {
    return complain(devices.error());
  }
  auto loop = AsioLoop::open();
  if (!loop) {
    return complain(loop.error());
  }
  SimDeviceOptions seeded = models;
  seeded.seed = options.seed;
  auto server = EmulatorServer::open(**loop, *devices, seeded, std::move(protocol), options);
  if (!server) {
    return complain(server.error());
  }
  std::printf("%s\n", (*server)->place().c_str());
  std::fflush(stdout);
  (*loop)->on_signal({});
  (*loop)->run();
  return 0;
}

}  // namespace loom
