// SPDX-License-Identifier: Apache-2.0
// One loop over events. Who runs has the instant at which its phase ends; that moves when the set of running jobs does.
#include "controller/arena/cluster/cluster_play.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <random>
#include <set>

#include "controller/arena/cluster/draws.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double in_ns(Duration duration) { return static_cast<double>(duration.count()); }

/// Streams of one seed: what draws more of one leaves the others as they are.
enum class Stream : std::uint64_t { mix = 1, placement = 2, failures = 3 };
std::mt19937_64 generator(std::uint64_t seed, Stream stream) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(stream)};
  return std::mt19937_64(words);
}

std::vector<PlayedJob> jobs_of(const ClusterSpec& spec) {
  std::mt19937_64 random = generator(spec.seed, Stream::mix);
  std::vector<double> shares;
  for (const ClusterKind& kind : spec.kinds) {
    shares.push_back(kind.share);
  }
  std::vector<PlayedJob> jobs(spec.count);
  double at = 0;
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    jobs[i].kind = static_cast<std::uint32_t>(drawn_by_share(shares, random));
    jobs[i].iterations = spec.kinds[jobs[i].kind].iterations;
    if (spec.arrivals.kind == ArrivalKind::poisson) {
      at += exponential(in_ns(spec.arrivals.interval), unit(random));
    } else if (spec.arrivals.kind == ArrivalKind::regular && i > 0) {
      at += in_ns(spec.arrivals.interval);
    }
    jobs[i].arrival = at;
  }
  return jobs;
}

enum class Phase : std::uint8_t { preparing, iterating, saving };

struct Running {
  std::uint32_t job = 0;
  RunningJob place;
  Phase phase = Phase::preparing;
  double began = 0;          ///< had servers
  double end = 0;            ///< of the phase
  std::int64_t segment = 0;  ///< iterations of the phase
  double spent = 0;          ///< iterating in this segment, up to `since`
  double since = 0;
  double iteration_ns = 0;
};

/// One server's next change.
struct ServerEvent {
  double at = 0;
  std::uint32_t server = 0;
  bool is_failure = false;
  bool operator>(const ServerEvent& other) const { return std::pair{at, server} > std::pair{other.at, other.server}; }
};

class Cluster {
 public:
  Cluster(const ClusterSpec& spec, const ClusterPlay& play)
      : spec_(spec),
        play_(play),
        placing_(generator(spec.seed, Stream::placement)),
        failing_(generator(spec.seed, Stream::failures)),
        saved_(spec.count, 0),
        waits_since_(spec.count, 0),
        has_run_(spec.count, false) {
    outcome_.jobs = jobs_of(spec);
    free_.resize(spec.servers);
    std::iota(free_.begin(), free_.end(), 0U);
    is_down_.assign(spec.servers, false);
    for (std::uint32_t server = 0; spec.failures && server < spec.servers; ++server) {
      changes_.push({time_to_failure(), server, true});
    }
  }

  Result<ClusterOutcome> run() {
    std::uint64_t events = 0;
    while (ended_ < spec_.count) {
      if (++events > kClusterEvents) {
        return fail(ErrorCode::infeasible,
                    format_text("cluster: {} of {} jobs ended within {} events (kClusterEvents); fewer jobs or iterations, a "
                                "larger checkpoint_every, or servers that fail less often",
                                ended_, spec_.count, kClusterEvents));
      }
      advance(next_event());
      if (start_waiting() || has_set_changed_) {
        LOOM_TRY(set_rates());
      }
    }
    finish();
    return std::move(outcome_);
  }

 private:
  double time_to_failure() { return exponential(in_ns(spec_.failures->mtbf), unit(failing_)); }

  double next_event() const {
    double next = arrived_ < spec_.count ? outcome_.jobs[arrived_].arrival : kNever;
    next = changes_.empty() ? next : std::min(next, changes_.top().at);
    for (const Running& each : running_) {
      next = std::min(next, each.end);
    }
    return next;
  }

  /// Everything of one instant: phases end before servers fail, servers come back before others arrive.
  void advance(double now) {
    now_ = now;
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].end > now_ || !end_phase(running_[i])) {
        ++i;
        continue;
      }
      release(i);
    }
    while (!changes_.empty() && changes_.top().at <= now_) {
      const ServerEvent change = changes_.top();
      changes_.pop();
      change.is_failure ? fail_server(change.server) : repair_server(change.server);
    }
    for (; arrived_ < spec_.count && outcome_.jobs[arrived_].arrival <= now_; ++arrived_) {
      waits_since_[arrived_] = now_;
      waiting_.insert(arrived_);
    }
  }

  /// True: the job is over.
  bool end_phase(Running& each) {
    PlayedJob& job = outcome_.jobs[each.job];
    if (each.phase == Phase::iterating) {
      each.spent += now_ - each.since;
      const bool is_over = saved_[each.job] + each.segment == job.iterations;
      if (!is_over) {
        each.phase = Phase::saving;
        each.end = now_ + in_ns(spec_.failures->checkpoint);
        return each.end <= now_ && end_phase(each);
      }
      keep(each);
      ++ended_;
      job.finish = now_;
      if (play_.progress) {
        play_.progress(ended_);
      }
      return true;
    }
    if (each.phase == Phase::saving) {
      keep(each);
    }
    begin_segment(each);
    return false;
  }

  void keep(const Running& each) {
    saved_[each.job] += each.segment;
    outcome_.jobs[each.job].useful += each.spent;
  }

  void begin_segment(Running& each) {
    const std::int64_t left = outcome_.jobs[each.job].iterations - saved_[each.job];
    const std::int64_t every = spec_.failures ? spec_.failures->checkpoint_every : 0;
    each.phase = Phase::iterating;
    each.segment = every == 0 ? left : std::min(left, every);
    each.spent = 0;
    each.since = now_;
    each.end = now_ + static_cast<double>(each.segment) * each.iteration_ns;
  }

  /// Its servers are free again, but for those that are down.
  void release(std::size_t at) {
    Running& each = running_[at];
    PlayedJob& job = outcome_.jobs[each.job];
    const double held = now_ - each.began;
    job.held += held;
    outcome_.server_time += held * static_cast<double>(each.place.servers.size());
    for (const std::uint32_t server : each.place.servers) {
      if (!is_down_[server]) {
        free_.push_back(server);
      }
    }
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
    has_set_changed_ = true;
  }

  void fail_server(std::uint32_t server) {
    ++outcome_.failures;
    is_down_[server] = true;
    changes_.push({now_ + in_ns(spec_.failures->repair), server, false});
    const auto idle = std::find(free_.begin(), free_.end(), server);
    if (idle != free_.end()) {
      free_.erase(idle);
      return;
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const auto& servers = running_[i].place.servers;
      if (std::find(servers.begin(), servers.end(), server) != servers.end()) {
        const std::uint32_t job = running_[i].job;
        ++outcome_.jobs[job].failures;
        waits_since_[job] = now_;
        waiting_.insert(job);
        release(i);
        return;
      }
    }
  }

  void repair_server(std::uint32_t server) {
    is_down_[server] = false;
    free_.push_back(server);
    changes_.push({now_ + time_to_failure(), server, true});
  }

  /// First come first served: whoever is first and does not fit keeps the others waiting. True: somebody began.
  bool start_waiting() {
    bool has_begun = false;
    while (!waiting_.empty()) {
      const std::uint32_t id = *waiting_.begin();
      PlayedJob& job = outcome_.jobs[id];
      const std::uint32_t needed = spec_.kinds[job.kind].graph.nodes;
      if (free_.size() < needed) {
        break;
      }
      waiting_.erase(waiting_.begin());
      Running each;
      each.job = id;
      each.place = {job.kind, take_servers(needed)};
      each.began = now_;
      const bool is_anew = has_run_[id];
      const double lighting = play_.lighting.empty() ? 0 : in_ns(play_.lighting[job.kind]);
      each.end = now_ + lighting + (is_anew ? in_ns(spec_.failures->restart) : 0);
      job.start = is_anew ? job.start : now_;
      job.waiting += now_ - waits_since_[id];
      has_run_[id] = true;
      running_.push_back(std::move(each));
      has_begun = true;
    }
    return has_begun;
  }

  std::vector<std::uint32_t> take_servers(std::uint32_t needed) {
    std::sort(free_.begin(), free_.end());  // so that what was freed in which order does not matter
    if (spec_.placement == ServerPlacement::random) {
      shuffle(free_, placing_);
    }
    const auto end = free_.begin() + static_cast<std::ptrdiff_t>(needed);
    std::vector<std::uint32_t> taken(free_.begin(), end);
    free_.erase(free_.begin(), end);
    return taken;
  }

  Result<void> set_rates() {
    has_set_changed_ = false;
    if (running_.empty()) {
      return {};
    }
    ++outcome_.sets;
    std::vector<RunningJob> set;
    for (const Running& each : running_) {
      set.push_back(each.place);
    }
    const auto times = play_.iteration_ns(set);
    if (!times) {
      return std::unexpected(times.error());
    }
    for (std::size_t i = 0; i < running_.size(); ++i) {
      Running& each = running_[i];
      const double next = std::max((*times)[i], 1.0);
      if (each.phase == Phase::iterating && next != each.iteration_ns) {
        each.spent += now_ - each.since;
        each.end = now_ + (each.end - now_) / each.iteration_ns * next;
        each.since = now_;
      }
      each.iteration_ns = next;
    }
    return {};
  }

  void finish() {
    double last = 0;
    for (const PlayedJob& job : outcome_.jobs) {
      last = std::max(last, job.finish);
      outcome_.useful_time += job.useful * spec_.kinds[job.kind].graph.nodes;
    }
    outcome_.makespan = last - outcome_.jobs.front().arrival;
  }

  const ClusterSpec& spec_;
  const ClusterPlay& play_;
  std::mt19937_64 placing_;
  std::mt19937_64 failing_;
  ClusterOutcome outcome_;
  std::vector<std::int64_t> saved_;  ///< by job: iterations in its last checkpoint
  std::vector<double> waits_since_;
  std::vector<bool> has_run_;
  std::vector<std::uint32_t> free_;
  std::vector<bool> is_down_;
  std::set<std::uint32_t> waiting_;  ///< in order of arrival, whoever comes back too
  std::vector<Running> running_;
  std::priority_queue<ServerEvent, std::vector<ServerEvent>, std::greater<>> changes_;
  std::uint32_t arrived_ = 0;
  std::uint32_t ended_ = 0;
  bool has_set_changed_ = false;
  double now_ = 0;
};

}  // namespace

Result<ClusterOutcome> play_cluster(const ClusterSpec& spec, const ClusterPlay& play) { return Cluster(spec, play).run(); }

}  // namespace loom
