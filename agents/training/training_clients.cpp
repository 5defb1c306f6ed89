// SPDX-License-Identifier: Apache-2.0
// Lines to words and back.
#include "agents/training/training_clients.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Json = nlohmann::json;

/// The value of `key` if it is a whole number in [1, most].
std::optional<std::uint64_t> number_of(const Json& object, const char* key, std::uint64_t most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) {
    return std::nullopt;
  }
  const auto number = found->get<std::uint64_t>();
  return number >= 1 && number <= most ? std::optional(number) : std::nullopt;
}

}  // namespace

TrainingClients::TrainingClients(std::string node, Outlets outlets) : node_(std::move(node)), outlets_(std::move(outlets)) {}

std::string TrainingClients::line_of(const TrainingWord& word, Duration wall_offset, const Client& client) {
  Json object{{"job", word.job.value}, {"revision", word.laid_by.value}};
  switch (word.what) {
    case TrainingWord::What::lit:
      object["lit"] = client.lit;
      object["again"] = word.is_again;
      object["at_ns"] = (word.at.time_since_epoch() + wall_offset).count();
      break;
    case TrainingWord::What::over:
      object[word.iteration == 0 ? "laid" : "over"] = client.lit;
      object["compute_ns"] = word.compute.count();
      break;
    case TrainingWord::What::none:
      object["none"] = true;
      break;
  }
  return object.dump();
}

void TrainingClients::joined(std::uint64_t client) {
  clients_.emplace(client, Client{});
  outlets_.say(client, Json{{"node", node_}}.dump());
}

void TrainingClients::left(std::uint64_t client) {
  clients_.erase(client);
  processes_ = clients_.empty() ? 0 : processes_;
  report_ready();
}

void TrainingClients::refuse(std::uint64_t client, std::string_view line, const std::string& expected) {
  ++counters_.refused;
  const std::string text = Json{{"error", format_text("found {}; expected {}", line.substr(0, 80), expected)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
  outlets_.say(client, text);
}

/// Light that has come answers for good; light that was lost may be asked for again.
void TrainingClients::ask(Client& client, std::uint64_t iteration) {
  if (iteration <= client.lit) {
    ++counters_.old;
    return;
  }
  client.asks = iteration;
  report_ready();
}

void TrainingClients::heard(std::uint64_t client, std::string_view line) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) {
    return;
  }
  ++counters_.lines;
  const Json object = Json::parse(line, nullptr, false);
  const auto most = static_cast<std::uint64_t>(limits::kPasses);
  if (!object.is_object() || object.size() != 1) {
    return refuse(client, line, R"(one of {"ready": N}, {"unsent": N}, {"processes": N} a line)");
  }
  if (const auto ready = number_of(object, "ready", most)) {
    ask(found->second, *ready);
  } else if (const auto unsent = number_of(object, "unsent", most)) {
    if (*unsent == found->second.lit) {
      outlets_.ready({wanted_ - (is_wanted_ ? 1 : 0), true});
    } else {
      ++counters_.old;
    }
  } else if (const auto processes = number_of(object, "processes", limits::kTrainingClients)) {
    processes_ = *processes;
    report_ready();
  } else {
    refuse(client, line,
           format_text(R"("ready" or "unsent" of 1..{}, or "processes" of 1..{})", most, limits::kTrainingClients));
  }
}

/// All of those that it is said to have; where nobody said how many, all that are there.
void TrainingClients::report_ready() {
  const auto asking =
      static_cast<std::uint64_t>(std::ranges::count_if(clients_, [](const auto& each) { return each.second.asks > 0; }));
  if (asking == 0 || asking < (processes_ == 0 ? clients_.size() : processes_)) {
    return;
  }
  wanted_ += is_wanted_ ? 0 : 1;
  is_wanted_ = true;
  outlets_.ready({wanted_, false});
}

/// What was lit and not over is asked for again by whoever needs it.
void TrainingClients::lose_light() {
  for (auto& [id, client] : clients_) {
    client.lit = client.is_over ? client.lit : client.before;
    client.is_over = true;
  }
}

void TrainingClients::tell(const TrainingWord& word, Duration wall_offset) {
  if (word.job != job_) {
    job_ = word.job;
    for (auto& [id, client] : clients_) {
      client = {client.asks};  // another job's processes count anew
    }
  }
  const bool is_lit = word.what == TrainingWord::What::lit;
  const bool is_laid = word.what == TrainingWord::What::over && word.iteration == 0;
  if (is_lit && word.iteration == 0) {
    return;  // light that proves itself once more; nobody has asked for it
  }
  if (word.what == TrainingWord::What::none || is_laid) {
    lose_light();
  }
  is_wanted_ = is_wanted_ && !is_laid && (!is_lit || word.is_again);
  for (auto& [id, client] : clients_) {
    const bool is_concerned = !is_lit || (word.is_again ? client.lit > 0 : client.asks > 0);
    if (is_lit && is_concerned) {
      client.before = word.is_again ? client.before : client.lit;
      client.lit = word.is_again ? client.lit : std::exchange(client.asks, 0);
    }
    client.is_over = !is_lit || (client.is_over && !is_concerned);
    if (is_concerned) {
      outlets_.say(id, line_of(word, wall_offset, client));
    }
  }
  if (is_laid) {
    report_ready();  // the agent has forgotten who wanted light
  }
}

}  // namespace loom
