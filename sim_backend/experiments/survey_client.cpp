// SPDX-License-Identifier: Apache-2.0
// One question at a time; what is not there yet is asked for again.
#include "sim_backend/experiments/survey_client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr TimerId kAgain{1};
constexpr Duration kPollInterval = std::chrono::milliseconds{10};
constexpr Duration kReadingWait = std::chrono::seconds{6};

}  // namespace

SurveyClient::SurveyClient(World& world, What what, std::vector<DeviceId> banks, std::uint32_t number)
    : world_(world), what_(what), banks_(std::move(banks)) {
  const Peer self{Peer::Kind::operator_, number};
  const std::string name = format_text("calibrator-{}", number);  // requests are numbered by principal
  HostSeams seams;
  seams.time = &world.loop();
  seams.messages = &world.network().attach(self, name, Role::operator_, SimNetwork::Faults::spared);
  host_ = std::make_unique<Host>(HostOptions{self, Role::operator_, name}, std::move(seams),
                                 [this](Instant now, const Event& event, EffectSink& sink) { step(now, event, sink); });
}

SurveyClient::~SurveyClient() = default;

void SurveyClient::run(Instant end) {
  constexpr Duration kStride = std::chrono::milliseconds{50};
  begun_ = world_.loop_now();
  if (const auto begun = host_->start(1); !begun) {
    return fail(begun_, begun.error().message);
  }
  while (!is_over() && world_.loop_now() < end) {
    world_.run_until(std::min(end, world_.loop_now() + kStride));
  }
  if (!is_over()) {
    fail(world_.loop_now(), "it took too long");
  }
}

void SurveyClient::fail(Instant now, std::string why) {
  trouble_ = std::move(why);
  stage_ = Stage::over;
  ended_ = now;
}

void SurveyClient::ask(OperatorAsk question, EffectSink& sink) {
  Envelope envelope;
  envelope.role = Role::operator_;
  envelope.clock = kVirtualClock;
  envelope.body = OperatorRequest{++request_.value, std::move(question)};
  sink.emit(Send{controller_peer(), std::move(envelope)});
}

void SurveyClient::wait(Instant now, EffectSink& sink) {
  sink.emit(SetTimer{kAgain, now + kPollInterval, Precision::ordinary});
}

void SurveyClient::step(Instant now, const Event& event, EffectSink& sink) {
  if (std::holds_alternative<Started>(event)) {
    stage_ = what_ == What::rings ? Stage::rings : Stage::ways;
    return ask(Query{what_ == What::rings ? Noun::rings : Noun::ways, {}}, sink);
  }
  if (std::holds_alternative<TimerFired>(event)) {
    if (stage_ == Stage::history || stage_ == Stage::dark || stage_ == Stage::keep) {
      return ask(Query{Noun::history, revision_.value}, sink);
    }
    if (stage_ == Stage::receivers) {
      seen_.clear();
      return ask(Query{Noun::receivers, {}}, sink);
    }
    if (stage_ == Stage::sights) {
      return ask_sights(sink);
    }
  }
  const auto* arrived = std::get_if<MessageArrived>(&event);
  const auto* reply = arrived == nullptr ? nullptr : std::get_if<OperatorReply>(&arrived->envelope.body);
  if (reply != nullptr && reply->request == request_ && stage_ != Stage::over) {
    hear(now, *reply, sink);
  }
}

/// True: these are all of them.
template <class Row>
bool SurveyClient::gather(const OperatorReply& reply, std::vector<Row>& rows, Noun noun, EffectSink& sink) {
  const auto* page = std::get_if<std::vector<Row>>(&reply.rows);
  if (page != nullptr) {
    rows.insert(rows.end(), page->begin(), page->end());
    rows_read_ += page->size();
  }
  if (page == nullptr || page->empty() || rows.size() >= reply.total_rows) {
    return true;
  }
  ask(Query{noun, {}, static_cast<std::uint32_t>(rows.size())}, sink);
  return false;
}

void SurveyClient::hear(Instant now, const OperatorReply& reply, EffectSink& sink) {
  if (!reply.outcome.ok() && stage_ != Stage::light) {
    return fail(now, reply.outcome.error->message);
  }
  switch (stage_) {
    case Stage::rings:
      if (gather(reply, rings_, Noun::rings, sink)) {
        stage_ = Stage::known;
        ask(Query{Noun::calibrations, {}}, sink);
      }
      return;
    case Stage::known:
      if (gather(reply, known_, Noun::calibrations, sink)) {
        std::vector<DeviceCalibration> before;
        for (const CalibrationReport& row : known_) {
          if (row.in_force) {
            before.push_back(row.calibration);
          }
        }
        std::erase_if(
            rings_, [&](const RingReport& ring) { return !banks_.empty() && !std::ranges::binary_search(banks_, ring.bank); });
        campaign_.emplace(rings_, before);
        next(sink);
      }
      return;
    case Stage::ways:
      if (gather(reply, ways_, Noun::ways, sink)) {
        if (what_ == What::lasers) {
          lasers_.emplace(ways_);
        } else {
          fibres_.emplace(ways_);
        }
        next(sink);
      }
      return;
    case Stage::sights:
      if (gather(reply, ways_, Noun::ways, sink)) {
        const bool is_whole = add_ways(ways_, lights_);
        if (!is_whole && now - lit_at_ < kReadingWait) {
          return wait(now, sink);
        }
        survey().take(lights_);
        next(sink);
      }
      return;
    case Stage::light:
      return on_light(now, reply, sink);
    case Stage::receivers:
      return on_receivers(now, reply, sink);
    case Stage::history:
    case Stage::dark:
    case Stage::keep:
      return on_history(now, reply, sink);
    case Stage::over:
      return;
  }
}

LightSurvey& SurveyClient::survey() {
  if (lasers_) {
    return *lasers_;
  }
  return campaign_ ? static_cast<LightSurvey&>(*campaign_) : *fibres_;
}

void SurveyClient::next(EffectSink& sink) {
  if (!survey().is_over()) {
    stage_ = Stage::light;
    return ask(survey().ask(), sink);
  }
  stage_ = Stage::dark;
  ask(ProbeLight{}, sink);
}

void SurveyClient::begin_look(Instant now, EffectSink& sink) {
  lit_at_ = now;
  returned_ = 0;
  stage_ = Stage::receivers;
  wait(now, sink);
}

void SurveyClient::ask_sights(EffectSink& sink) {
  stage_ = Stage::sights;
  ways_.clear();
  ask(Query{Noun::ways, {}}, sink);
}

void SurveyClient::on_light(Instant now, const OperatorReply& reply, EffectSink& sink) {
  if (!reply.outcome.ok()) {
    survey().refused(*reply.outcome.error);
    return next(sink);
  }
  revision_ = reply.revision;
  if (revision_.value == 0) {
    return begin_look(now, sink);
  }
  stage_ = Stage::history;
  wait(now, sink);
}

void SurveyClient::on_history(Instant now, const OperatorReply& reply, EffectSink& sink) {
  const auto* rows = std::get_if<std::vector<CommitReport>>(&reply.rows);
  if (rows == nullptr) {
    revision_ = reply.revision;  // the answer to an order
  }
  if (revision_.value == 0) {
    return stands(now, sink);
  }
  if (rows == nullptr || rows->empty()) {
    return wait(now, sink);
  }
  if (rows->front().outcome != CommitOutcome::committed) {
    if (stage_ == Stage::history && ++returned_ < kLookAttempts) {
      stage_ = Stage::light;
      return ask(survey().ask(), sink);
    }
    return fail(now,
                format_text("revision {} was {}: {}", revision_.value, to_string(rows->front().outcome), rows->front().reason));
  }
  stands(now, sink);
}

/// What was ordered is so.
void SurveyClient::stands(Instant now, EffectSink& sink) {
  if (stage_ == Stage::history) {
    return begin_look(now, sink);
  }
  if (stage_ == Stage::dark && campaign_ && !campaign_->calibrations().empty()) {
    stage_ = Stage::keep;
    return ask(Calibrate{campaign_->calibrations(), false, {}}, sink);
  }
  if (stage_ == Stage::dark && lasers_ && !lasers_->measured().empty()) {
    stage_ = Stage::keep;
    return ask(Calibrate{{}, false, lasers_->measured()}, sink);
  }
  stage_ = Stage::over;
  ended_ = now;
}

void SurveyClient::on_receivers(Instant now, const OperatorReply& reply, EffectSink& sink) {
  if (!gather(reply, seen_, Noun::receivers, sink)) {
    return;
  }
  const std::vector<ElementId> wanted = survey().receivers();
  lights_ = lights_at(seen_, wanted);
  if (lights_.size() < wanted.size() && now - lit_at_ < kReadingWait) {
    return wait(now, sink);
  }
  if (survey().wants_ways()) {
    return ask_sights(sink);
  }
  survey().take(lights_);
  next(sink);
}

}  // namespace loom
