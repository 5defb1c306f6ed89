// SPDX-License-Identifier: Apache-2.0
// Thousands of random words, faults, restarts and latches. An oracle that knows only what was said on the wire decides at
// which instants which laser may be ordered to emit; afterwards the faults stop and a commit must light everything.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <random>

#include "tests/unit/agents/agent_bench.hpp"

using namespace loom;
using namespace loom::test;

namespace {

class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : random_(seed) { bench_.start(); }

  void run(int words) {
    for (int i = 0; i < words; ++i) {
      act();
      observe();
    }
  }

  /// Faults stop; two commits must bring all lasers to light (the first may meet what is left of the chaos).
  void recover() {
    for (auto& [id, device] : bench_.devices) {
      device->refuses.reset();
      device->silent = false;
    }
    bench_.deliver(InterlockChanged{false});
    bench_.term = Term{1000};
    bench_.receive(Revision{}, SetLasers{true, 1'000'000, bench_.agent->interlock().own_latch().number});
    bench_.run_for(seconds{2});
    bench_.commit(bench_.static_plan(1'000'000, 16));
    CHECK(bench_.agent->commit().applied() == Revision{1'000'000});
    for (const DeviceId laser : bench_.lasers) {
      CHECK(bench_.device(laser).emitting);
    }
  }

  std::size_t lights_seen() const { return lights_; }
  std::size_t applied_seen() const { return bench_.count<Applied>(); }

 private:
  struct Permit {
    NodePlan plan;
    Instant start;
  };

  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  NodePlan random_plan(std::uint64_t revision) {
    NodePlan plan = bench_.static_plan(revision, static_cast<std::int32_t>(16 * draw(4)));
    const bool timed = draw(3) == 0;
    plan.cycle = timed ? milliseconds{60} : milliseconds{0};
    plan.cycles = static_cast<std::uint32_t>(draw(4));
    for (const DeviceId laser : bench_.lasers) {
      DevicePlan& part = AgentBench::part(plan, laser);
      part.touched = draw(4) != 0;
      if (timed) {
        part.timeline = {{milliseconds{0}, milliseconds{8}, milliseconds{20}, laser_at(16, draw(2) == 0)},
                         {milliseconds{30}, milliseconds{8}, milliseconds{20}, laser_at(32)}};
      }
    }
    if (draw(20) == 0) {
      plan.devices.pop_back();
    }
    return plan;
  }

  void act() {
    switch (draw(16)) {
      case 0:
        return prepare();
      case 1:
        return upset();
      case 2:
        return lasers();
      case 3:
        bench_.run_for(milliseconds{draw(60)});
        return;
      case 4:
        return strange();
      case 5:
      case 6:
        return request(static_cast<int>(draw(6)));  // out of order, or again
      default:
        // Mostly along the road, sometimes with patience.
        if (draw(3) != 0) {
          advance_pipeline();
        }
        bench_.run_for(microseconds{draw(8'000)});
    }
  }

  void prepare() {
    const std::uint64_t revision = newest_ > 3 && draw(5) == 0 ? newest_ - draw(3) : ++newest_;
    newest_ = std::max(newest_, revision);
    if (!plans_.contains(revision)) {
      plans_[revision] = random_plan(revision);
    }
    const Revision before = bench_.agent->commit().applied();
    const std::size_t answers = bench_.sent.size();
    bench_.receive(Revision{revision}, Prepare{plans_[revision]});
    const Prepared* prepared = nullptr;
    for (std::size_t i = answers; i < bench_.sent.size(); ++i) {
      const auto* answer = std::get_if<Prepared>(&bench_.sent[i].body);
      prepared = answer != nullptr && bench_.sent[i].revision == Revision{revision} ? answer : prepared;
    }
    const bool stale =
        prepared == nullptr || (prepared->outcome.error && prepared->outcome.error->code == ErrorCode::stale_revision);
    if (!stale && revision != in_hand_) {
      if (Revision{in_hand_} != before) {
        withdraw(in_hand_);
      }
      in_hand_ = revision;
      armed_for_ = kNever;
      settled_ = false;
    }
  }

  /// The word that a controller would say next, as far as one can see from outside.
  void advance_pipeline() {
    switch (bench_.agent->commit().state()) {
      case RevisionState::prepared:
        return request(0);
      case RevisionState::armed:
      case RevisionState::dark:
        return request(1);
      case RevisionState::moving:
        return request(2);
      case RevisionState::settled:
        return request(3);
      case RevisionState::lit:
        return request(4);
      case RevisionState::idle:
      case RevisionState::failed:
        return draw(6) == 0 ? prepare() : void();
      default:
        return;
    }
  }

  void request(int word) {
    const std::uint64_t revision = draw(12) == 0 ? draw(newest_ + 2) : in_hand_;
    switch (word) {
      case 0:
        return arm(revision, bench_.now + microseconds{draw(12'000)});
      case 1:
        return bench_.receive(Revision{revision}, Go{});
      case 2:
        return bench_.receive(Revision{revision}, Proceed{CommitPhase::move, {}});
      case 3:
        return relight(revision, bench_.now - milliseconds{5} + microseconds{draw(12'000)});
      case 4:
        return bench_.receive(Revision{revision}, Confirm{});
      default:
        if (draw(8) == 0) {
          const bool lit = bench_.agent->commit().applied() == Revision{revision};
          bench_.receive(Revision{revision}, Abandon{});
          if (revision == in_hand_ && !lit) {
            withdraw(revision);
            in_hand_ = 0;
            armed_for_ = kNever;
          }
        }
    }
  }

  void arm(std::uint64_t revision, Instant fire_at) {
    const std::size_t answers = bench_.sent.size();
    bench_.receive(Revision{revision}, Arm{fire_at});
    const auto* armed = bench_.sent.size() > answers ? std::get_if<Armed>(&bench_.sent[answers].body) : nullptr;
    if (revision == in_hand_ && armed != nullptr && armed->outcome.ok() && armed->slack == fire_at - bench_.now) {
      armed_for_ = fire_at;
    }
  }

  void relight(std::uint64_t revision, Instant at) {
    if (revision == in_hand_ && settled_ && revision != 0) {
      for (const DeviceId laser : bench_.lasers) {
        permit(laser, revision, at);
      }
    }
    bench_.receive(Revision{revision}, Proceed{CommitPhase::relight, at});
  }

  /// An untouched laser may go on with what it plays, a touched one may not; the first relight counts.
  void permit(DeviceId laser, std::uint64_t revision, Instant at) {
    std::vector<Permit>& permits = permits_[laser];
    const auto same = [&](const Permit& each) { return each.plan.revision == Revision{revision}; };
    if (std::any_of(permits.begin(), permits.end(), same)) {
      return;
    }
    if (AgentBench::part(plans_[revision], laser).touched) {
      permits.clear();
    }
    permits.push_back(Permit{plans_[revision], at});
  }

  void lasers() {
    if (draw(4) != 0) {
      return;
    }
    switch (draw(4)) {
      case 0:
        bench_.receive(Revision{}, SetLasers{false, ++order_});
        break;
      case 1:
        bench_.deliver(InterlockChanged{true});

        break;
      default:
        bench_.deliver(InterlockChanged{false});
        bench_.receive(Revision{}, SetLasers{true, ++order_, bench_.agent->interlock().own_latch().number});
        latched_ = false;
        return;
    }
    latched_ = true;
    permits_.clear();
    settled_ = false;
    armed_for_ = kNever;
  }

  void upset() {
    FakeDevice& device = *std::next(bench_.devices.begin(), static_cast<std::ptrdiff_t>(draw(bench_.devices.size())))->second;
    switch (draw(8)) {
      case 0:
        device.silent = true;
        break;
      case 1:
        device.refuses = static_cast<Op>(1 + draw(4));
        break;
      case 2:
        device.settle_time = microseconds{draw(12'000)};
        break;
      case 3:
        device.reply_delay = microseconds{10 + draw(900)};
        break;
      case 4:
        if (draw(6) == 0) {
          restart();
        }
        break;
      default:
        for (auto& [id, each] : bench_.devices) {
          each->silent = false;
          each->refuses.reset();
        }
    }
  }

  void restart() {
    bench_.start(draw(1'000'000));
    permits_.clear();
    in_hand_ = 0;
    settled_ = false;
    armed_for_ = kNever;
  }

  /// Words that no controller should say.
  void strange() {
    const Term term = bench_.term;
    switch (draw(7)) {
      case 0:
        bench_.receive(Revision{draw(newest_ + 1)}, Arm{instant_from_ns(static_cast<std::int64_t>(draw(2)) - 1)});
        break;
      case 1:
        bench_.term = Term{1};
        bench_.receive(Revision{in_hand_}, Proceed{CommitPhase::relight, {}});
        break;
      case 2:
        bench_.receive(Revision{in_hand_}, Hello{});
        break;
      case 3:
        bench_.deliver(TimerFired{TimerId{draw(40)}});
        break;
      case 4:
        bench_.deliver(BusReplied{BusId{static_cast<std::uint32_t>(draw(6))}, TransactionId{1'000'000'000 + draw(4)}, {}});
        break;
      case 5:
        bench_.receive(Revision{}, Welcome{Duration{static_cast<std::int64_t>(draw(3)) - 1}, Revision{draw(newest_ + 1)}});
        break;
      default:
        bench_.deliver(Started{1, kBenchClock, {}});
        bench_.deliver(AppendFailed{});
        restart();
        break;
    }
    bench_.term = term;
  }

  void withdraw(std::uint64_t revision) {
    for (auto& [laser, permits] : permits_) {
      std::erase_if(permits, [&](const Permit& each) { return each.plan.revision == Revision{revision}; });
    }
  }

  /// Judges the lights that were ordered since the last look, then takes note of what the agent said.
  void observe() {
    for (; seen_orders_ < bench_.ordered.size(); ++seen_orders_) {
      const AgentBench::Ordered& each = bench_.ordered[seen_orders_];
      if (each.op == Op::light) {
        ++lights_;
        judge(each);
      }
    }
    for (; seen_words_ < bench_.sent.size(); ++seen_words_) {
      const Envelope& delivered = bench_.sent[seen_words_];
      if (const auto* settled = std::get_if<Settled>(&delivered.body);
          settled != nullptr && delivered.revision == Revision{in_hand_}) {
        settled_ = settled->outcome.ok() && !latched_;
      }
    }
    if (armed_for_ < bench_.now) {
      for (auto& [laser, permits] : permits_) {
        std::erase_if(permits, [&, id = laser](const Permit& each) { return goes_dark(id, each); });
      }
    }
  }

  bool goes_dark(DeviceId laser, const Permit& permit) {
    return permit.plan.revision != Revision{in_hand_} && AgentBench::part(plans_[in_hand_], laser).touched;
  }

  void judge(const AgentBench::Ordered& light) {
    INFO("device " << light.device.value << " at " << ns_of(light.at) << " ns, revision in hand " << in_hand_);
    CHECK_FALSE(latched_);
    const std::vector<Permit>& permits = permits_[light.device];
    CHECK(std::any_of(permits.begin(), permits.end(), [&](const Permit& permit) {
      const bool darkened_since = armed_for_ < light.at && goes_dark(light.device, permit);
      return light.at >= permit.start && !darkened_since && in_window(light, permit);
    }));
  }

  static bool in_window(const AgentBench::Ordered& light, const Permit& permit) {
    NodePlan plan = permit.plan;
    const DevicePlan& part = AgentBench::part(plan, light.device);
    const Duration since = light.at - permit.start;
    const Duration phase = plan.cycle > Duration::zero() ? since % plan.cycle : since;
    return std::any_of(part.timeline.begin(), part.timeline.end(), [&](const TimedSetpoint& entry) {
      const bool in_time =
          entry.hold == kForever || (phase >= entry.offset + entry.guard && phase <= entry.offset + entry.guard + entry.hold);
      return in_time && emits(entry.setpoint) && entry.setpoint == light.setpoint;
    });
  }

  AgentBench bench_;
  std::mt19937_64 random_;
  std::map<std::uint64_t, NodePlan> plans_{{0, {}}};
  std::map<DeviceId, std::vector<Permit>> permits_;
  std::uint64_t newest_ = 0;
  std::uint64_t in_hand_ = 0;
  std::uint64_t order_ = 0;
  Instant armed_for_ = kNever;
  bool settled_ = false;
  bool latched_ = false;
  std::size_t seen_orders_ = 0;
  std::size_t seen_words_ = 0;
  std::size_t lights_ = 0;
};

}  // namespace

TEST_CASE("no_sequence_of_words_lights_a_laser_outside_its_window_or_breaks_the_agent") {
  const char* wanted = std::getenv("LIGHTLOOM_SEED");
  const std::uint64_t first = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1;
  const std::uint64_t seeds = wanted != nullptr ? 1 : 60;
  std::size_t lights = 0;
  std::size_t applied = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    INFO("LIGHTLOOM_SEED=" << seed);
    Chaos chaos(seed);
    chaos.run(2000);
    chaos.recover();
    lights += chaos.lights_seen();
    applied += chaos.applied_seen();
  }
  CHECK(lights > 20 * seeds);  // the chaos does reach light
  CHECK(applied > 5 * seeds);
}
