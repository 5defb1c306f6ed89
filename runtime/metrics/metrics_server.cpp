// SPDX-License-Identifier: Apache-2.0
// A connection is one request: its head is read, the loop is asked for its counters, the text is written, the connection
// closed.
#include "runtime/metrics/metrics_server.hpp"

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"
#include "runtime/log.hpp"

namespace loom {
namespace {

using asio::ip::tcp;

constexpr std::size_t kHeadBytes = 8'192;
constexpr std::size_t kConnections = 8;
constexpr auto kPatience = std::chrono::seconds{5};  ///< from the accepting of a connection to its end

Error bad_address(const std::string& address, ErrorCode code, const std::string& why,
                  const std::string& nearest = "127.0.0.1:9101") {
  return {code, format_text("--metrics {}: {}; nearest: --metrics {}", address, why, nearest), "--metrics " + nearest};
}

Result<tcp::endpoint> endpoint_of(const std::string& address) {
  const auto place = parse_host_port(address, PortZero::taken);
  asio::error_code unreadable;
  const auto ip = asio::ip::make_address(!place || place->host == "localhost" ? "127.0.0.1" : place->host, unreadable);
  if (!place || unreadable) {
    return std::unexpected(
        bad_address(address, ErrorCode::invalid_argument, "not ADDRESS:PORT with a numeric address and a port of 0 to 65535"));
  }
  if (!ip.is_loopback()) {
    return std::unexpected(bad_address(address, ErrorCode::refused,
                                       "metrics are given to whoever asks, so only on loopback (127.0.0.1 or [::1]); what "
                                       "authenticates its readers may carry them further"));
  }
  return tcp::endpoint(ip, place->port);
}

std::string response(std::string_view status, std::string_view type, std::string_view body, std::string_view more = "") {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\nContent-Type: ").append(type);
  text.append("\r\nContent-Length: ").append(std::to_string(body.size()));
  return text.append("\r\nConnection: close\r\n").append(more).append("\r\n").append(body);
}

constexpr std::string_view kPlain = "text/plain; charset=utf-8";

/// What a request's first line gets at once; none: it asks for the metrics.
std::optional<std::string> refusal(std::string_view line) {
  const auto method_end = line.find(' ');
  const auto path_end = line.find(' ', method_end == std::string_view::npos ? line.size() : method_end + 1);
  if (path_end == std::string_view::npos) {
    return response("400 Bad Request", kPlain, "this is no HTTP request\n");
  }
  if (line.substr(0, method_end) != "GET") {
    return response("405 Method Not Allowed", kPlain, "metrics are read only: GET /metrics\n", "Allow: GET\r\n");
  }
  std::string_view path = line.substr(method_end + 1, path_end - method_end - 1);
  path = path.substr(0, path.find('?'));
  if (path != "/metrics") {
    return response("404 Not Found", kPlain, "there is only /metrics\n");
  }
  return std::nullopt;
}

}  // namespace

class MetricsServer::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const Metrics& metrics, Post to_loop) : metrics_(metrics), to_loop_(std::move(to_loop)) {}

  Result<tcp::endpoint> listen(const std::string& address, const tcp::endpoint& at) {
    asio::error_code problem;
    acceptor_.open(at.protocol(), problem);
    if (!problem) acceptor_.set_option(tcp::acceptor::reuse_address(true), problem);
    if (!problem) acceptor_.bind(at, problem);
    if (!problem) acceptor_.listen(static_cast<int>(kConnections), problem);
    if (problem) {
      const bool is_taken = problem == asio::error::address_in_use;
      const std::string why = is_taken ? "another program listens on that port" : "cannot listen there: " + problem.message();
      return std::unexpected(
          bad_address(address, ErrorCode::unreachable, why, "127.0.0.1:0, which takes any free port and says which"));
    }
    accept();
    thread_ = std::thread([this] { context_.run(); });
    return acceptor_.local_endpoint();
  }

  void stop() {
    context_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 private:
  struct Connection {
    explicit Connection(tcp::socket&& accepted, asio::io_context& context) : socket(std::move(accepted)), end(context) {}
    tcp::socket socket;
    asio::steady_timer end;
    asio::streambuf head{kHeadBytes};
    std::string answer;
  };
  using Held = std::shared_ptr<Connection>;

  void accept() {
    acceptor_.async_accept([this](const asio::error_code& problem, tcp::socket socket) {
      if (!problem && open_ < kConnections) {
        serve(std::make_shared<Connection>(std::move(socket), context_));
      }
      if (problem) {  // no descriptors left: asked again at once, this would turn as fast as it can
        retry_.expires_after(std::chrono::milliseconds{100});
        retry_.async_wait([this](const asio::error_code&) { accept(); });
        return;
      }
      accept();
    });
  }

  void serve(const Held& connection) {
    ++open_;
    connection->end.expires_after(kPatience);
    connection->end.async_wait([this, connection](const asio::error_code&) {
      asio::error_code ignored;
      connection->socket.close(ignored);
      --open_;
    });
    asio::async_read_until(connection->socket, connection->head, "\r\n\r\n",
                           [this, connection](const asio::error_code& problem, std::size_t) {
                             if (problem) {
                               connection->end.cancel();
                               return;
                             }
                             answer(connection);
                           });
  }

  void answer(const Held& connection) {
    const std::string head(asio::buffers_begin(connection->head.data()), asio::buffers_end(connection->head.data()));
    if (auto refused = refusal(std::string_view(head).substr(0, head.find("\r\n")))) {
      return write(connection, std::move(*refused));
    }
    // The counters belong to the loop's thread: it copies them, and the text is made here.
    to_loop_([weak = weak_from_this(), asked = std::weak_ptr(connection)] {
      const auto core = weak.lock();
      if (const Held still = core ? asked.lock() : nullptr) {
        core->collected(still);
      }
    });
  }

  /// The loop's thread.
  void collected(const Held& connection) {
    asio::post(context_, [this, connection, list = metrics_.collect()] {
      write(connection, response("200 OK", "text/plain; version=0.0.4; charset=utf-8", prometheus_text(list)));
    });
  }

  void write(const Held& connection, std::string text) {
    connection->answer = std::move(text);
    asio::async_write(connection->socket, asio::buffer(connection->answer),
                      [connection](const asio::error_code&, std::size_t) { connection->end.cancel(); });
  }

  const Metrics& metrics_;
  Post to_loop_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer retry_{context_};
  std::size_t open_ = 0;
  std::thread thread_;
};

MetricsServer::MetricsServer(std::shared_ptr<Core> core, std::string url) : core_(std::move(core)), url_(std::move(url)) {}
MetricsServer::~MetricsServer() { core_->stop(); }

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address, const Metrics& metrics, Post to_loop) {
  const auto wanted = endpoint_of(address);
  if (!wanted) {
    return std::unexpected(wanted.error());
  }
  auto core = std::make_shared<Core>(metrics, std::move(to_loop));
  const auto bound = core->listen(address, *wanted);
  if (!bound) {
    return std::unexpected(bound.error());
  }
  const HostPort place{bound->address().to_string(), bound->port()};
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(core), format_text("http://{}/metrics", to_string(place))));
}

Result<std::unique_ptr<MetricsServer>> serve_if_wanted(const std::string& address, const Metrics& metrics, Post to_loop,
                                                       const std::string& program) {
  if (address.empty()) {
    return nullptr;
  }
  auto server = MetricsServer::open(address, metrics, std::move(to_loop));
  if (server) {
    log_info(format_text("{}: metrics at {}", program, (*server)->url()));
  }
  return server;
}

PublishedUrl::PublishedUrl(const MetricsServer* server, std::string file) : file_(std::move(file)) {
  std::remove(file_.c_str());
  const std::string draft = file_ + ".new";
  if (server != nullptr && (!(std::ofstream(draft) << server->url() << "\n"
                                                   << std::flush) ||
                            std::rename(draft.c_str(), file_.c_str()) != 0)) {
    log_warning(format_text("{} cannot be written: {}", file_, std::strerror(errno)));
  }
}

PublishedUrl::~PublishedUrl() { std::remove(file_.c_str()); }

}  // namespace loom
