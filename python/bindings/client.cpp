// SPDX-License-Identifier: Apache-2.0
// One operator's connection to a running controller: requests in, JSON of `loom ... --json` out.
#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/connection.hpp"
#include "cli/render/json.hpp"
#include "cli/workloads.hpp"
#include "core/text/format_text.hpp"
#include "python/bindings/module.hpp"

namespace loom::python {
namespace {

namespace py = pybind11;

constexpr std::array kNouns{std::pair{"status", Noun::status},
                            std::pair{"nodes", Noun::nodes},
                            std::pair{"devices", Noun::devices},
                            std::pair{"circuits", Noun::circuits},
                            std::pair{"jobs", Noun::jobs},
                            std::pair{"history", Noun::history},
                            std::pair{"alarms", Noun::alarms},
                            std::pair{"audit", Noun::audit},
                            std::pair{"schedules", Noun::schedules},
                            std::pair{"calibrations", Noun::calibrations},
                            std::pair{"rings", Noun::rings},
                            std::pair{"receivers", Noun::receivers},
                            std::pair{"ways", Noun::ways}};

Result<Noun> noun_of(std::string_view word) {
  const auto* const found = std::ranges::find_if(kNouns, [&](const auto& each) { return each.first == word; });
  if (found == kNouns.end()) {
    return fail(ErrorCode::invalid_argument, format_text("a controller has no '{}'", word.substr(0, 64)));
  }
  return found->second;
}

/// A request at a time, from whichever thread: a connection is one socket.
class Client {
 public:
  Client(const std::string& state, const std::string& endpoint, const std::string& as, double timeout_s) {
    cli::Globals globals;
    globals.state_dir = state;
    globals.endpoint = endpoint;
    globals.as = as;
    globals.timeout = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(timeout_s));
    globals.is_interrupted = [this] { return closing_.load(); };
    connection_ = std::make_unique<cli::Connection>(value_of(cli::Connection::open(globals)));
  }

  std::string rows(const std::string& noun, std::optional<std::uint64_t> id) {
    const auto reply = ask(Query{value_of(noun_of(noun)), id});
    std::string text = "null";
    std::visit(
        [&](const auto& rows) {
          if constexpr (requires { cli::json_of(rows); }) {
            text = cli::json_of(rows).dump();
          }
        },
        reply.rows);
    return text;
  }
  std::pair<std::uint64_t, std::uint64_t> submit(const std::string& workload, std::uint32_t nodes, const std::string& name,
                                                 const Settings& settings) {
    auto spec = value_of(cli::read_job({workload, nodes, settings, name}));
    const auto reply = ask(SubmitJob{std::move(spec), false});
    return {reply.job.value, reply.revision.value};
  }
  std::uint64_t cancel(std::uint64_t job) { return ask(CancelJob{JobId{job}, false}).revision.value; }
  /// Whoever waits comes back, interrupted.
  void close() {
    closing_ = true;
    const std::lock_guard lock(mutex_);
    connection_.reset();
  }

 private:
  OperatorReply ask(OperatorAsk what) {
    const std::lock_guard lock(mutex_);
    if (connection_ == nullptr) {
      throw Failure{{ErrorCode::unreachable, "this client is closed"}};
    }
    return value_of(connection_->ask(std::move(what)));
  }

  std::mutex mutex_;
  std::atomic<bool> closing_{false};
  std::unique_ptr<cli::Connection> connection_;
};

}  // namespace

void bind_client(py::module_& module) {
  py::class_<Client>(module, "Client")
      .def(py::init([](const std::string& state, const std::string& endpoint, const std::string& as, double timeout_s) {
             return unlocked([&] { return std::make_unique<Client>(state, endpoint, as, timeout_s); });
           }),
           py::arg("state"), py::arg("endpoint"), py::arg("as_"), py::arg("timeout_s"))
      .def(
          "rows",
          [](Client& client, const std::string& noun, std::optional<std::uint64_t> id) {
            return unlocked([&] { return client.rows(noun, id); });
          },
          py::arg("noun"), py::arg("id") = std::nullopt)
      .def(
          "submit",
          [](Client& client, const std::string& workload, std::uint32_t nodes, const std::string& name,
             const Settings& settings) { return unlocked([&] { return client.submit(workload, nodes, name, settings); }); },
          py::arg("workload"), py::arg("nodes"), py::arg("name"), py::arg("settings"))
      .def(
          "cancel", [](Client& client, std::uint64_t job) { return unlocked([&] { return client.cancel(job); }); },
          py::arg("job"))
      .def("close", [](Client& client) { unlocked([&] { client.close(); }); });
}

}  // namespace loom::python
