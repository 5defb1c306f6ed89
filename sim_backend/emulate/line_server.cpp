// Sockets on one side, a SimBus of one device on the other.
#include "sim_backend/emulate/line_server.hpp"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/write.hpp>
#include <csignal>
#include <deque>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/process_limits.hpp"
#include "sim_backend/judge/light_log.hpp"

namespace loom {
namespace {

constexpr std::size_t kLineBytesMax = 65'536;
constexpr std::size_t kClientsMax = 16;
/// A line that the model cannot end (a wrong terminator) keeps the device for so long.
constexpr Duration kPatience = std::chrono::seconds{2};

}  // namespace

/// One client: bytes in, whole lines to the server; replies out in their order. One that has said all that it has to say (nc of
/// one line) is still answered.
class LineServer::Client : public std::enable_shared_from_this<Client> {
 public:
  Client(LineServer& server, asio::ip::tcp::socket socket) : server_(server), socket_(std::move(socket)) {}

  void read() {
    socket_.async_read_some(asio::buffer(part_), [self = shared_from_this()](std::error_code error, std::size_t count) {
      if (error == asio::error::eof && self->socket_.is_open()) {
        self->has_ended_ = true;
        self->itself_ = self;  // nobody else holds it while it waits for its answers
        self->close_if_done();
        return;
      }
      if (error || !self->socket_.is_open()) {
        self->close();
        return;
      }
      self->receive({self->part_.data(), count});
    });
  }
  void expect_answer() { ++expected_; }
  /// Empty: the device says nothing.
  void answer(std::string text) {
    --expected_;
    if (!text.empty()) {
      output_.push_back(std::move(text));
      if (output_.size() == 1) {
        write();
      }
    }
    close_if_done();
  }
  void close() {
    const auto last = std::exchange(itself_, nullptr);
    std::error_code ignored;
    socket_.close(ignored);
  }

 private:
  void receive(std::string_view part) {
    input_ += part;
    for (std::size_t end = input_.find('\n'); end != std::string::npos; end = input_.find('\n')) {
      server_.take(shared_from_this(), input_.substr(0, end + 1));
      input_.erase(0, end + 1);
    }
    if (input_.size() > kLineBytesMax) {
      close();
    } else {
      read();
    }
  }
  void write() {
    asio::async_write(socket_, asio::buffer(output_.front()), [self = shared_from_this()](std::error_code error, std::size_t) {
      self->output_.pop_front();
      if (error) {
        self->close();
      } else if (!self->output_.empty()) {
        self->write();
      } else {
        self->close_if_done();
      }
    });
  }
  void close_if_done() {
    if (has_ended_ && expected_ == 0 && output_.empty()) {
      close();
    }
  }

  LineServer& server_;
  asio::ip::tcp::socket socket_;
  std::array<char, 4096> part_{};
  std::string input_;
  std::deque<std::string> output_;
  std::uint32_t expected_ = 0;  ///< lines that were not answered yet
  bool has_ended_ = false;      ///< it says nothing more
  std::shared_ptr<Client> itself_;
};

std::shared_ptr<const Fabric> lone_device(Element element, DeviceRole kind) {
  auto fabric = std::make_shared<Fabric>();
  Node node;
  node.name = "host";
  fabric->nodes.push_back(std::move(node));
  fabric->buses.push_back({BusId{0}, "socket", NodeId{0}, "sim"});
  fabric->devices.push_back({DeviceId{0}, element.name, kind, NodeId{0}, BusId{0}, 1, {ElementId{0}}});
  fabric->elements.push_back(std::move(element));
  build_index(*fabric);
  return fabric;
}

LineServer::LineServer(AsioLoop& loop, std::shared_ptr<const Fabric> device, LineServerOptions options)
    : loop_(loop),
      options_(std::move(options)),
      bus_(loop, std::move(device), {}, {options_.device, false}),
      acceptor_(loop.context()),
      hangup_(loop.context()) {}

LineServer::~LineServer() = default;

Result<std::unique_ptr<LineServer>> LineServer::open(AsioLoop& loop, std::shared_ptr<const Fabric> device,
                                                     LineServerOptions options) {
  std::unique_ptr<LineServer> server(new LineServer(loop, std::move(device), std::move(options)));
  LOOM_TRY(server->open_light_log());
  LOOM_TRY(server->listen());
  for (const DeviceFaultKind kind : server->options_.faults) {
    server->bus_.inject(DeviceId{0}, {.kind = kind});
  }
  return server;
}

Result<void> LineServer::listen() {
  std::error_code error;
  const auto address = asio::ip::make_address(options_.bind, error);
  if (error) {
    return fail(ErrorCode::invalid_argument, format_text("'{}' is no IP address", options_.bind));
  }
  const asio::ip::tcp::endpoint place(address, options_.port);
  acceptor_.open(place.protocol(), error);
  if (!error) {
    acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) {
    acceptor_.bind(place, error);
  }
  if (!error) {
    acceptor_.listen(kClientsMax, error);
  }
  if (!error) {
    hangup_.add(SIGHUP, error);
  }
  if (error) {
    return fail(ErrorCode::conflict, format_text("cannot listen on {}:{}: {}", options_.bind, options_.port, error.message()));
  }
  accept();
  wait_for_hangup();
  return {};
}

Result<void> LineServer::open_light_log() {
  if (options_.light_log.empty()) {
    return {};
  }
  light_log_.open(options_.light_log, std::ios::trunc);
  if (!light_log_) {
    return fail(ErrorCode::storage, format_text("light log {} cannot be written", options_.light_log));
  }
  close_to_others(options_.light_log);
  bus_.on_light([this](const OpticalChange& change) {
    OpticalChange named = change;
    named.device = DeviceId{options_.light_id};
    std::string line;
    append_line(line, named);
    light_log_ << line << std::flush;  // switches move seldom, and whoever replays reads while we run
  });
  return {};
}

std::uint16_t LineServer::port() const {
  std::error_code ignored;
  return acceptor_.local_endpoint(ignored).port();
}

void LineServer::accept() {
  acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
    std::erase_if(clients_, [](const std::weak_ptr<Client>& client) { return client.expired(); });
    if (!error && loop_.now() >= booted_at_ && clients_.size() < kClientsMax) {
      socket.set_option(asio::ip::tcp::no_delay(true), error);
      const auto client = std::make_shared<Client>(*this, std::move(socket));
      clients_.push_back(client);
      client->read();
    }
    accept();
  });
}

void LineServer::wait_for_hangup() {
  hangup_.async_wait([this](std::error_code error, int) {
    if (!error) {
      power_cycle();
      wait_for_hangup();
    }
  });
}

void LineServer::power_cycle() {
  for (const std::weak_ptr<Client>& weak : std::exchange(clients_, {})) {
    if (const auto client = weak.lock()) {
      client->close();
    }
  }
  booted_at_ = loop_.now() + options_.boot;
  DeviceFault reboot;
  reboot.kind = DeviceFaultKind::reboot;
  reboot.until = booted_at_;
  bus_.inject(DeviceId{0}, reboot);
}

void LineServer::take(const std::shared_ptr<Client>& client, std::string line) {
  if (options_.silent) {
    return;
  }
  client->expect_answer();
  const Transaction transaction{DeviceId{0}, 1, Frame{{line.begin(), line.end()}, 0, {}}, kPatience};
  bus_.submit(BusId{0}, transaction, [this, weak = std::weak_ptr(client)](const BusReply& reply) { answer(weak, reply); });
}

void LineServer::answer(const std::weak_ptr<Client>& client, const BusReply& reply) {
  const std::string text = reply.status == BusStatus::ok ? std::string(reply.bytes.begin(), reply.bytes.end()) : std::string{};
  const bool late = !text.empty() && options_.late > Duration{} && (options_.late_count == 0 || replies_ < options_.late_count);
  replies_ += text.empty() ? 0U : 1U;
  loop_.call_at(loop_.now() + (late ? options_.late : Duration{}), Precision::ordinary, [client, text] {
    if (const auto alive = client.lock()) {
      alive->answer(text);
    }
  });
}

}  // namespace loom
