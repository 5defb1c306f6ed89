// SPDX-License-Identifier: Apache-2.0
// Accept, read a line, write what is waiting.
#include "runtime/training/training_socket.hpp"

#include <sys/stat.h>

#include <asio/local/stream_protocol.hpp>
#include <asio/read_until.hpp>
#include <asio/streambuf.hpp>
#include <asio/write.hpp>
#include <filesystem>
#include <istream>
#include <map>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Protocol = asio::local::stream_protocol;

/// Nobody answers at `path`: what an agent that was killed leaves behind.
bool is_abandoned(asio::io_context& context, const std::string& path) {
  Protocol::socket probe(context);
  asio::error_code problem;
  probe.connect(Protocol::endpoint(path), problem);
  return problem == asio::error::connection_refused;
}

}  // namespace

class TrainingSocket::Core : public std::enable_shared_from_this<TrainingSocket::Core> {
 public:
  Core(asio::io_context& context, std::string path, TrainingListener listener)
      : acceptor_(context), path_(std::move(path)), listener_(std::move(listener)) {}

  Result<void> open() {
    asio::error_code problem;
    const Protocol::endpoint endpoint(path_);
    acceptor_.open(endpoint.protocol(), problem);
    if (!problem) {
      acceptor_.bind(endpoint, problem);
    }
    if (!problem) {
      is_bound_ = true;
      acceptor_.listen(asio::socket_base::max_listen_connections, problem);
    }
    // Whoever may reach the folder may speak: training runs under a user of its own.
    if (problem || chmod(path_.c_str(), 0666) != 0) {
      return fail(ErrorCode::storage, format_text("the socket {} cannot be made: {}", path_,
                                                  problem ? problem.message() : std::string("its mode cannot be set")));
    }
    accept();
    return {};
  }

  void close() {
    is_closed_ = true;
    asio::error_code ignored;
    acceptor_.close(ignored);
    clients_.clear();
    std::error_code unlinked;
    if (is_bound_) {
      std::filesystem::remove(path_, unlinked);
    }
  }

  void say(std::uint64_t id, const std::string& line) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) {
      return;
    }
    Client& client = *found->second;
    if (client.waiting.size() + line.size() > limits::kTrainingBacklogBytes) {
      return drop(id);
    }
    client.waiting += line;
    client.waiting += '\n';
    write(found->second);
  }

  TrainingSocketCounters counters_;

 private:
  struct Client {
    Client(std::uint64_t number, Protocol::socket connected) : id(number), socket(std::move(connected)) {}
    std::uint64_t id;
    Protocol::socket socket;
    asio::streambuf input{limits::kTrainingLineBytes};
    std::string waiting;  ///< to be written
    std::string written;  ///< is being written
  };

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](const asio::error_code& problem, Protocol::socket socket) {
      if (self->is_closed_) {
        return;
      }
      if (!problem) {
        self->join(std::move(socket));
      }
      self->accept();
    });
  }

  void join(Protocol::socket socket) {
    ++counters_.clients;
    if (clients_.size() >= limits::kTrainingClients) {
      ++counters_.dropped;
      return;  // the socket closes
    }
    const auto client = std::make_shared<Client>(++joined_, std::move(socket));
    clients_.emplace(client->id, client);
    listener_.joined(client->id);
    read(client);
  }

  void read(const std::shared_ptr<Client>& client) {
    asio::async_read_until(client->socket, client->input, '\n',
                           [self = shared_from_this(), client](const asio::error_code& problem, std::size_t) {
                             if (self->is_closed_ || !self->clients_.contains(client->id)) {
                               return;
                             }
                             if (problem) {  // gone, or a line without an end
                               self->counters_.dropped += problem == asio::error::not_found ? 1 : 0;
                               return self->leave(client->id);
                             }
                             std::istream stream(&client->input);
                             std::string line;
                             std::getline(stream, line);
                             self->listener_.heard(client->id, line);
                             if (self->clients_.contains(client->id)) {
                               self->read(client);
                             }
                           });
  }

  void write(const std::shared_ptr<Client>& client) {
    if (!client->written.empty() || client->waiting.empty()) {
      return;
    }
    client->written.swap(client->waiting);
    asio::async_write(client->socket, asio::buffer(client->written),
                      [self = shared_from_this(), client](const asio::error_code& problem, std::size_t) {
                        client->written.clear();
                        if (!problem && !self->is_closed_) {
                          self->write(client);
                        }
                      });
  }

  void drop(std::uint64_t id) {
    ++counters_.dropped;
    leave(id);
  }

  /// Told in a task of its own: whoever is told may be speaking to this client.
  void leave(std::uint64_t id) {
    const auto found = clients_.find(id);
    asio::error_code ignored;
    found->second->socket.close(ignored);
    clients_.erase(found);
    asio::post(acceptor_.get_executor(), [self = shared_from_this(), id] {
      if (!self->is_closed_) {
        self->listener_.left(id);
      }
    });
  }

  Protocol::acceptor acceptor_;
  std::string path_;
  TrainingListener listener_;
  std::map<std::uint64_t, std::shared_ptr<Client>> clients_;
  std::uint64_t joined_ = 0;
  bool is_bound_ = false;
  bool is_closed_ = false;
};

Result<std::unique_ptr<TrainingSocket>> TrainingSocket::open(asio::io_context& context, const std::string& path,
                                                             TrainingListener listener) {
  if (path.size() > limits::kSocketPathBytes) {
    return fail(ErrorCode::invalid_argument, format_text("the socket's path {} has {} bytes; a socket's has at most {}", path,
                                                         path.size(), limits::kSocketPathBytes));
  }
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  if (std::filesystem::exists(std::filesystem::symlink_status(path, problem))) {
    if (!std::filesystem::is_socket(path, problem)) {
      return fail(ErrorCode::conflict, format_text("{} is there and is no socket; remove it, or name another folder", path));
    }
    if (!is_abandoned(context, path)) {
      return fail(ErrorCode::conflict, format_text("another process serves the socket {}", path));
    }
    std::filesystem::remove(path, problem);
  }
  auto core = std::make_shared<Core>(context, path, std::move(listener));
  if (auto opened = core->open(); !opened) {
    core->close();
    return std::unexpected(std::move(opened).error());
  }
  return std::unique_ptr<TrainingSocket>(new TrainingSocket(std::move(core)));
}

TrainingSocket::TrainingSocket(std::shared_ptr<Core> core) : core_(std::move(core)) {}

TrainingSocket::~TrainingSocket() { core_->close(); }

void TrainingSocket::say(std::uint64_t client, const std::string& line) { core_->say(client, line); }

TrainingSocketCounters TrainingSocket::counters() const { return core_->counters_; }

}  // namespace loom
