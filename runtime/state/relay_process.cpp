// SPDX-License-Identifier: Apache-2.0
// Keys, two transports and a loop.
#include "runtime/state/relay_process.hpp"

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics/metrics.hpp"
#include "runtime/metrics/metrics_server.hpp"
#include "runtime/metrics/process_metrics.hpp"
#include "runtime/program/process_lock.hpp"
#include "runtime/program/service_notifier.hpp"
#include "runtime/state/uplink.hpp"
#include "runtime/zmq/keys/keyring_file.hpp"
#include "runtime/zmq/keys/keys_watch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/relay/relay.hpp"
#include "runtime/zmq/transport_metrics.hpp"

namespace loom {
namespace {

struct RelayKeys {
  KeyPair own;
  std::string controller;
  Keyring keyring;
};

Result<RelayKeys> load_relay_keys(const StateFolder& files, std::uint32_t relay) {
  auto own = load_keys(RelayFiles(files, relay).key());
  auto controller = own ? load_public_key(files.controller_key() + ".pub") : std::unexpected(own.error());
  auto keyring = controller ? load_keyring(files.keyring()) : std::unexpected(controller.error());
  if (!keyring) {
    return std::unexpected(with_key_command(std::move(keyring).error(), key_command(RelayFiles(files, relay), files)));
  }
  return RelayKeys{*std::move(own), *std::move(controller), *std::move(keyring)};
}

RelayOptions options_of(const RelayKeys& keys, std::string listens_at, const Uplink& controller, const OwnKey& own) {
  RelayOptions options;
  options.agents.endpoints = {std::move(listens_at)};
  options.agents.keys = keys.own;
  options.agents.keyring = keys.keyring;
  options.agents.now = steady_now;
  options.controller = transport_options(controller, own);
  options.controller.keys = keys.own;
  options.controller.controller_key = keys.controller;
  options.turned_away = [](const MessageRefused& refused) {
    log_warning(format_text("refused {} of {}: {}", refused.count, refused.principal.empty() ? "?" : refused.principal,
                            refused.error.message));
  };
  return options;
}

/// One that runs, with the keys that are in force. What stands in the keyring file is in force at once. Another pair of its
/// own, which the keyring has to grant, is taken up by opening it anew at the same place: its connections are made again.
class RunningRelay {
 public:
  RunningRelay(asio::io_context& io, const StateFolder& files, std::uint32_t number, RelayKeys keys)
      : io_(io), files_(files), number_(number), keys_(std::move(keys)), keyring_(files.keyring(), keys_.keyring) {}

  Result<void> open(const std::string& listens_at, Uplink controller) {
    controller_ = std::move(controller);
    if (const auto found = controller_.find ? controller_.find() : Result<std::string>(controller_.endpoint)) {
      controller_.endpoint = *found;  // by now
    }
    const RelayFiles its(files_, number_);
    const OwnKey own{its.name(), "relay", its.key(), key_command(its, files_)};
    auto opened = Relay::open(io_, options_of(keys_, listens_at, controller_, own));
    if (!opened) {
      return std::unexpected(std::move(opened).error());
    }
    relay_ = *std::move(opened);
    endpoint_ = relay_->endpoints().front();
    return {};
  }

  void look(KeysWatch::Cause cause) {
    if (const auto changed = keyring_.look(cause)) {
      if (changed->problem) {
        return log_warning(format_text("{} (try: {})", changed->problem->message, changed->problem->next_command));
      }
      keys_.keyring = keyring_.in_force();
      relay_->replace_keyring(keys_.keyring);
      log_info("lightloom-agent: keys: " + sentence_of(*changed));
    }
    // Files of pairs are replaced by rename, which the folder's time shows: no reason to read them every two seconds.
    std::error_code unknown;
    const auto written = std::filesystem::last_write_time(files_.keys(), unknown);
    const bool is_known = std::exchange(folder_seen_, written) == written && !unknown;
    if (cause != KeysWatch::Cause::interval || !is_known) {
      look_at_pair();
    }
  }

  const std::string& endpoint() const { return endpoint_; }
  void add_to(MetricList& list) const {
    if (relay_) {
      add_metrics(list, relay_->from_agents(), relay_->to_controller());
    }
  }
  std::string status_line() const {
    return relay_ == nullptr ? "closed"
                             : format_text("{} messages of agents, {} of the controller passed on",
                                           relay_->to_controller().envelopes_out, relay_->to_controller().envelopes_in);
  }
  /// Why it passes on nothing any more, and has asked its process to end.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  /// Another pair, or another controller's key: taken up if the keyring grants the pair.
  void look_at_pair() {
    auto fresh = load_relay_keys(files_, number_);
    const Grant* grant = fresh ? keys_.keyring.find(fresh->own.public_key) : nullptr;
    if (grant == nullptr || !grant->is_relay || (fresh->own == keys_.own && fresh->controller == keys_.controller)) {
      return;
    }
    const RelayKeys before = std::exchange(keys_, {fresh->own, fresh->controller, keys_.keyring});
    relay_.reset();  // its port is free again
    auto opened = open(endpoint_, controller_);
    if (opened) {
      const bool is_ours = keys_.own != before.own;
      return log_info(format_text("lightloom-agent: {} key is {} from now on", is_ours ? "our" : "the controller's",
                                  fingerprint_of(is_ours ? keys_.own.public_key : keys_.controller)));
    }
    log_warning("our keys stay as they were: " + opened.error().message);
    keys_ = before;
    opened = open(endpoint_, controller_);
    if (!opened) {
      failure_ = opened.error();
      std::raise(SIGTERM);
    }
  }

  asio::io_context& io_;
  const StateFolder& files_;
  std::uint32_t number_;
  RelayKeys keys_;
  KeyringFile keyring_;
  std::string endpoint_;
  Uplink controller_;
  std::unique_ptr<Relay> relay_;
  std::optional<Error> failure_;
  std::filesystem::file_time_type folder_seen_{};
};

/// One process a relay and state folder, before anything is written there. Where no keys are and none are brought, no folder
/// and no lock is made.
Result<UniqueDescriptor> take_place(const RelayOrder& order, const StateFolder& files) {
  const auto keys = order.take_bundle ? Result<RelayKeys>{} : load_relay_keys(files, order.relay);
  if (!keys) {
    return std::unexpected(keys.error());
  }
  std::error_code problem;  // the lock tells of it
  std::filesystem::create_directories(files.folder(), problem);
  const RelayFiles its(files, order.relay);
  auto lock = take_process_lock(its.lock(), format_text("{} of {}", its.name(), files.folder()));
  if (lock && order.take_bundle) {
    LOOM_TRY(order.take_bundle());
  }
  return lock;
}

}  // namespace

Result<void> run_relay(const RelayOrder& order, const Scenario& scenario, const StateFolder& files, AsioLoop& loop) {
  const RelayFiles its(files, order.relay);
  const auto lock = take_place(order, files);
  if (!lock) {
    return std::unexpected(lock.error());
  }
  Metrics metrics;
  const auto served = serve_if_wanted(order.metrics, metrics, loop.poster(), "lightloom-agent");
  if (!served) {
    return std::unexpected(served.error());
  }
  const std::string& listens_at = order.listen.empty() ? scenario.agents.relays[order.relay] : order.listen;
  const auto keys = load_relay_keys(files, order.relay);
  const auto controller =
      keys ? uplink_of(order.controller, scenario, files, std::nullopt) : Result<Uplink>(std::unexpected(keys.error()));
  if (!controller) {
    return std::unexpected(controller.error());
  }
  RunningRelay relay(loop.context(), files, order.relay, *keys);
  LOOM_TRY(relay.open(listens_at, *controller));
  const KeysWatch watch(loop.context(), files.keys(), [&](KeysWatch::Cause cause) {
    const bool is_told = cause == KeysWatch::Cause::hangup && order.take_bundle;
    if (const auto taken = is_told ? order.take_bundle() : Result<void>{}; !taken) {
      log_warning(taken.error().message);
    }
    relay.look(cause);
  });
  metrics.add([&](MetricList& list) {
    add_build_info(list, "lightloom-agent");
    relay.add_to(list);
    add_metrics(list, loop.counters());
  });
  const PublishedUrl url(served->get(), its.metrics());
  LOOM_TRY(write_whole_file({its.address(), relay.endpoint() + "\n", 0600, true}));
  log_info(
      format_text("lightloom-agent: {} at {}, for the controller at {}", its.name(), relay.endpoint(), controller->endpoint));
  run_until_signalled(loop, [&relay] { return relay.status_line(); });
  log_info("lightloom-agent: stopped; agents keep their light");
  return relay.failure() ? Result<void>(std::unexpected(*relay.failure())) : Result<void>{};
}

}  // namespace loom
