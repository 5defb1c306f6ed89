// SPDX-License-Identifier: Apache-2.0
// Compute, say so, say it again.
#include "sim_backend/training/training_process.hpp"

#include <utility>

namespace loom {

struct TrainingProcess::Core : std::enable_shared_from_this<TrainingProcess::Core> {
  Core(TimeSeam& of, const TrainingHabits& how, Random drawn, std::function<void(TrainingReady)> to)
      : time(of), habits(how), random(drawn), say(std::move(to)) {}

  static std::uint32_t per_million(double probability) { return static_cast<std::uint32_t>(probability * 1e6); }

  Duration computing(Duration model) {
    const auto spread = Duration{static_cast<std::int64_t>(static_cast<double>(model.count()) * habits.jitter)};
    const Duration computed = random.between(model - spread, model + spread);
    return random.chance(per_million(habits.slow)) ? computed + habits.slow_by : computed;
  }

  void begin(std::uint64_t iteration, Duration model) {
    asks = iteration;
    wait(computing(model));
  }

  void wait(Duration length) {
    time.call_at(time.now() + length, Precision::ordinary, [weak = weak_from_this(), present = ++generation] {
      if (const auto self = weak.lock(); self && self->generation == present) {
        self->speak();
      }
    });
  }

  void speak() {
    constexpr Duration kAgain = std::chrono::milliseconds{100};
    const bool is_heard = !random.chance(per_million(habits.lost));
    const bool is_doubled = random.chance(per_million(habits.doubled));
    wait(kAgain);
    if (is_heard) {
      say({asks, false});
    }
    if (is_heard && is_doubled) {
      say({asks, false});
    }
  }

  TimeSeam& time;
  TrainingHabits habits;
  Random random;
  std::function<void(TrainingReady)> say;
  std::uint64_t asks = 0;        ///< the iteration whose light it wants; 0: none
  std::uint64_t lit = 0;         ///< the last one that was lit
  std::uint64_t generation = 0;  ///< of the last wait: those before it are off
};

TrainingProcess::TrainingProcess(TimeSeam& time, const TrainingHabits& habits, Random random,
                                 std::function<void(TrainingReady ready)> say)
    : core_(std::make_shared<Core>(time, habits, random, std::move(say))) {}

void TrainingProcess::hear(const TrainingWord& word) {
  switch (word.what) {
    case TrainingWord::What::lit:
      core_->lit = word.iteration;
      ++core_->generation;  // answered; or what it had begun to compute rests on bytes that come only now
      return;
    case TrainingWord::What::over:
      // Light that was laid anew has lost the present iteration: its bytes are sent again.
      return core_->begin(word.iteration == 0 && core_->lit > 0 ? core_->lit : word.iteration + 1, word.compute);
    case TrainingWord::What::none:
      ++core_->generation;
      return;
  }
}

}  // namespace loom
