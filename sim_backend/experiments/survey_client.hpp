// SPDX-License-Identifier: Apache-2.0
// SurveyClient: who types `loom device calibrate` or `loom fibre check` in a simulated world. A peer like any other: it asks
// for rings, ways, light and readings over the operator's protocol, in virtual time, and knows nothing of what is there in
// truth.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/calibrate/campaign.hpp"
#include "controller/calibrate/fibre_check.hpp"
#include "controller/calibrate/laser_survey.hpp"
#include "runtime/host.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {

class SurveyClient {
 public:
  enum class What : std::uint8_t { rings, fibres, lasers };
  /// `banks`: ascending; none: all. Joins the world's network as the operator of this number.
  SurveyClient(World& world, What what, std::vector<DeviceId> banks = {}, std::uint32_t number = 7);
  ~SurveyClient();

  /// Begins now. Runs until is_over() or `end`.
  void run(Instant end);
  bool is_over() const { return stage_ == Stage::over; }
  /// Empty: all is well.
  const std::string& trouble() const { return trouble_; }
  /// Precondition: What::rings, and they were listed; likewise fibres() and lasers().
  const Campaign& campaign() const { return *campaign_; }
  const FibreCheck& fibres() const { return *fibres_; }
  const LaserSurvey& lasers() const { return *lasers_; }
  Duration took() const { return ended_ - begun_; }
  std::uint64_t rows_read() const { return rows_read_; }

 private:
  enum class Stage : std::uint8_t { rings, known, ways, light, history, receivers, sights, dark, keep, over };

  void step(Instant now, const Event& event, EffectSink& sink);
  void hear(Instant now, const OperatorReply& reply, EffectSink& sink);
  void ask(OperatorAsk question, EffectSink& sink);
  void wait(Instant now, EffectSink& sink);
  void next(EffectSink& sink);
  void ask_sights(EffectSink& sink);
  void begin_look(Instant now, EffectSink& sink);
  void stands(Instant now, EffectSink& sink);
  LightSurvey& survey();
  void fail(Instant now, std::string why);
  void on_light(Instant now, const OperatorReply& reply, EffectSink& sink);
  void on_history(Instant now, const OperatorReply& reply, EffectSink& sink);
  void on_receivers(Instant now, const OperatorReply& reply, EffectSink& sink);
  template <class Row>
  bool gather(const OperatorReply& reply, std::vector<Row>& rows, Noun noun, EffectSink& sink);

  World& world_;
  What what_;
  std::vector<DeviceId> banks_;
  std::unique_ptr<Host> host_;
  Stage stage_ = Stage::rings;
  RequestId request_{};
  Revision revision_{};
  Instant begun_{};
  Instant ended_{};
  Instant lit_at_{};  ///< the ask was confirmed
  int returned_ = 0;  ///< how often this look was not
  std::vector<RingReport> rings_;
  std::vector<CalibrationReport> known_;
  std::vector<ReceiverReport> seen_;
  ReceivedLights lights_;  ///< of the look under way
  std::vector<WayReport> ways_;
  std::optional<Campaign> campaign_;
  std::optional<FibreCheck> fibres_;
  std::optional<LaserSurvey> lasers_;
  std::string trouble_;
  std::uint64_t rows_read_ = 0;
};

}  // namespace loom
