// SPDX-License-Identifier: Apache-2.0
// Phases, and what stays lit between two topologies.
#include "controller/predict/engine/reconfiguration.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

double ns(Duration duration) { return static_cast<double>(duration.count()); }

using Ends = std::pair<std::uint32_t, std::uint32_t>;

std::map<Ends, double> rates_of(const Network& network) {
  std::map<Ends, double> rates;
  for (const NetworkLink& link : network.links) {
    rates[{link.from, link.to}] += link.bytes_per_ns;
  }
  return rates;
}

/// The end points of `to`, and no way between them.
Network unlit(const Network& to) {
  Network standing;
  standing.name = to.name;
  standing.end_points = to.end_points;
  standing.vertices = to.vertices;
  standing.links = to.links;
  for (NetworkLink& link : standing.links) {
    link.bytes_per_ns = 0;
  }
  standing.step_latency_ns = to.step_latency_ns;
  standing.forward_ns = to.forward_ns;
  standing.packets = to.packets;
  standing.waits_for_path = true;
  standing.routes = PairRoutes{std::vector<std::uint32_t>(to.end_points + 1, 0), {}, {0}, {}, {0}, {}};
  return standing;
}

/// The routes of `to` over links that `from` has as well, at the lower of both rates.
Network standing_between(const Network& from, const Network& to) {
  Network standing = to;
  standing.waits_for_path = true;
  standing.is_uniform = false;
  const std::map<Ends, double> before = rates_of(from);
  for (NetworkLink& link : standing.links) {
    const auto old = before.find({link.from, link.to});
    link.bytes_per_ns = old == before.end() ? 0 : std::min(old->second, link.bytes_per_ns);
  }
  PairRoutes routes;
  routes.first_destination = {0};
  routes.first_path = {0};
  routes.first_hop = {0};
  for (std::uint32_t source = 0; source < to.end_points; ++source) {
    for (std::uint32_t destination = 0; destination < to.end_points; ++destination) {
      if (destination == source) {
        continue;
      }
      const std::size_t first = routes.shares.size();
      for_each_path(to, source, destination, 0, [&](std::span<const std::uint32_t> path, double share) {
        if (std::any_of(path.begin(), path.end(),
                        [&](std::uint32_t link) { return !(standing.links[link].bytes_per_ns > 0); })) {
          return;
        }
        routes.hops.insert(routes.hops.end(), path.begin(), path.end());
        routes.first_hop.push_back(static_cast<std::uint32_t>(routes.hops.size()));
        routes.shares.push_back(share);
      });
      if (routes.shares.size() > first) {
        double sum = 0;
        for (std::size_t i = first; i < routes.shares.size(); ++i) {
          sum += routes.shares[i];
        }
        for (std::size_t i = first; i < routes.shares.size(); ++i) {
          routes.shares[i] /= sum;
        }
        routes.destinations.push_back(destination);
        routes.first_path.push_back(static_cast<std::uint32_t>(routes.shares.size()));
      }
    }
    routes.first_destination.push_back(static_cast<std::uint32_t>(routes.destinations.size()));
  }
  standing.routes = std::move(routes);
  return standing;
}

}  // namespace

ReconfigurationTerms ocs_reconfig_terms(Duration delay) { return {.live = 4 * delay, .dark = delay}; }

ReconfigurationTerms periodic_terms(Duration interval, Duration reconfiguration) {
  return {.live = interval, .dark = reconfiguration};
}

Reconfiguration::Reconfiguration(Reconfiguration&& other) noexcept { *this = std::move(other); }

Reconfiguration& Reconfiguration::operator=(Reconfiguration&& other) noexcept {
  const bool is_standing = other.current_ == &other.standing_;
  recorded_ = std::move(other.recorded_);
  playing_ = other.playing_;
  terms_ = other.terms_;
  policy_ = std::move(other.policy_);
  phase_ = other.phase_;
  next_ = other.next_;
  dark_since_ = other.dark_since_;
  live_ = std::move(other.live_);
  coming_ = std::move(other.coming_);
  standing_ = std::move(other.standing_);
  is_dark_ = std::move(other.is_dark_);
  dark_ns_ = std::move(other.dark_ns_);
  changes_ = other.changes_;
  dark_spans_ = std::move(other.dark_spans_);
  dark_kept_ = other.dark_kept_;
  forgot_dark_ = other.forgot_dark_;
  current_ = is_standing ? &standing_ : !recorded_.empty() ? &recorded_[playing_].network : &live_;
  return *this;
}

Result<Reconfiguration> Reconfiguration::recorded(std::vector<RecordedNetwork> networks) {
  if (networks.empty()) {
    return fail(ErrorCode::invalid_argument, "reconfiguration: no network was recorded");
  }
  for (RecordedNetwork& each : networks) {
    each.network.waits_for_path = true;
    LOOM_TRY(check(each.network));
    if (each.network.end_points != networks.front().network.end_points) {
      return fail(ErrorCode::invalid_argument, format_text("reconfiguration: networks of {} and of {} nodes",
                                                           each.network.end_points, networks.front().network.end_points));
    }
  }
  Reconfiguration made;
  made.dark_ns_.assign(networks.front().network.end_points, 0);
  made.is_dark_.assign(networks.front().network.end_points, false);
  made.recorded_ = std::move(networks);
  made.next_ = made.recorded_.size() > 1 ? made.recorded_[1].at : std::numeric_limits<double>::infinity();
  made.current_ = &made.recorded_.front().network;
  return made;
}

Result<Reconfiguration> Reconfiguration::make(const ReconfigurationTerms& terms, Network first, TopologyPolicy policy) {
  if (terms.live <= Duration{} || terms.drain < Duration{} || terms.dark < Duration{} || terms.link_up < Duration{}) {
    return fail(
        ErrorCode::out_of_range,
        format_text("reconfiguration: live {} ns, drain {} ns, dark {} ns: live must be above 0, the others not below it",
                    terms.live.count(), terms.drain.count(), terms.dark.count()));
  }
  LOOM_TRY(check(first));
  Reconfiguration made;
  made.terms_ = terms;
  made.policy_ = std::move(policy);
  made.next_ = ns(terms.live);
  made.live_ = std::move(first);
  made.live_.waits_for_path = true;
  made.current_ = &made.live_;
  made.is_dark_.assign(made.live_.end_points, false);
  made.dark_ns_.assign(made.live_.end_points, 0);
  return made;
}

void Reconfiguration::go_dark() {
  const std::map<Ends, double> before = rates_of(live_);
  const std::map<Ends, double> after = rates_of(coming_);
  std::fill(is_dark_.begin(), is_dark_.end(), terms_.all_stop);
  const auto mark = [&](const std::map<Ends, double>& some, const std::map<Ends, double>& others) {
    for (const auto& [ends, rate] : some) {
      const auto other = others.find(ends);
      if (other == others.end() || other->second != rate) {
        for (const std::uint32_t end : {ends.first, ends.second}) {
          if (end < is_dark_.size()) {
            is_dark_[end] = true;
          }
        }
      }
    }
  };
  mark(before, after);
  mark(after, before);
  standing_ = terms_.all_stop ? unlit(coming_) : standing_between(live_, coming_);
  current_ = &standing_;
}

void Reconfiguration::add_dark(double now) {
  DarkSpan span{dark_since_, now, {}};
  bool all = true;
  for (std::size_t node = 0; node < is_dark_.size(); ++node) {
    if (is_dark_[node]) {
      dark_ns_[node] += now - dark_since_;
      span.nodes.push_back(static_cast<std::uint32_t>(node));
    }
    all = all && is_dark_[node];
  }
  if (span.nodes.empty() || !(span.from < span.to)) {
    return;
  }
  if (all) {
    span.nodes = {};
  }
  dark_kept_ += 1 + span.nodes.size();
  forgot_dark_ = forgot_dark_ || dark_kept_ > kDarkSpansMax;
  if (!forgot_dark_) {
    dark_spans_.push_back(std::move(span));
  }
}

void Reconfiguration::end(double now) {
  if (phase_ == LightPhase::dark || phase_ == LightPhase::link_up) {
    add_dark(now);
    dark_since_ = now;
  }
}

Result<void> Reconfiguration::step(double now, std::span<const Transfers::Left> residual) {
  if (!recorded_.empty()) {
    LOOM_ASSERT(playing_ + 1 < recorded_.size());
    current_ = &recorded_[++playing_].network;
    next_ = playing_ + 1 < recorded_.size() ? recorded_[playing_ + 1].at : std::numeric_limits<double>::infinity();
    ++changes_;
    return {};
  }
  switch (phase_) {
    case LightPhase::live:
      if (terms_.drain > Duration{}) {
        phase_ = LightPhase::drain;
        next_ = now + ns(terms_.drain);
        return {};
      }
      [[fallthrough]];
    case LightPhase::drain: {
      auto coming = policy_(now, residual);
      if (!coming) {
        return std::unexpected(coming.error());
      }
      if (coming->end_points != live_.end_points) {
        return fail(ErrorCode::invalid_argument, format_text("reconfiguration: a topology of {} nodes after one of {}",
                                                             coming->end_points, live_.end_points));
      }
      coming_ = std::move(*coming);
      coming_.waits_for_path = true;
      go_dark();
      ++changes_;
      phase_ = LightPhase::dark;
      dark_since_ = now;
      next_ = now + ns(terms_.dark);
      return {};
    }
    case LightPhase::dark:
      phase_ = LightPhase::link_up;
      next_ = now + ns(terms_.link_up);
      return {};
    case LightPhase::link_up:
      add_dark(now);
      live_ = std::move(coming_);
      current_ = &live_;
      phase_ = LightPhase::live;
      next_ = now + ns(terms_.live);
      return {};
  }
  return {};
}

TopologyPolicy cycle_policy(const NetworkTerms& terms, std::vector<Matching> cycle) {
  return [terms, cycle = std::move(cycle), next = std::size_t{0}](double, std::span<const Transfers::Left>) mutable {
    next = (next + 1) % cycle.size();
    return make_matchings(terms, std::span{&cycle[next], 1});
  };
}

}  // namespace loom
