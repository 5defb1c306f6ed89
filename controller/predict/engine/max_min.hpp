// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates of flows over links, exact, by progressive filling; a change re-solves only the links whose level it
// moves. Flows of one route are one class with a multiplicity; a flow may take more of one link than of another (a collective
// played as one fluid). Knows nothing of time or bytes.
//
// A link's level is the rate of the flows that it holds back; a flow's rate is the lowest level on its way. After a change,
// links are filled anew in order of level, beginning with those of the changed classes. A class drags its other links in only
// when it is known to leave its former rate: at the new rate when it is held back earlier than before, at the former rate when
// its former bottleneck lets it rise. Whatever lies below the current level is final and stays as it was.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace loom {

class MaxMin {
 public:
  using Class = std::uint32_t;

  MaxMin() = default;
  /// Forgets all classes. Capacities in any unit, >= 0; a flow over a link of capacity 0 has rate 0.
  void reset(std::size_t link_count);
  void set_capacity(std::uint32_t link, double capacity);
  void reserve(std::size_t classes, std::size_t hops);

  /// A class of multiplicity 0. `links` not empty, each below link_count, each once. `weights`: what a flow of rate 1 takes of
  /// each link, > 0; empty: 1.
  Class add(std::span<const std::uint32_t> links, std::span<const float> weights = {});
  std::uint32_t multiplicity(Class of) const { return classes_[of].multiplicity; }
  /// Takes effect with resolve(); back and forth before it is no change.
  void set_multiplicity(Class of, std::uint32_t multiplicity);
  bool is_dirty() const { return !pending_.empty() || !dirty_links_.empty(); }

  /// Makes all rates right again. Returns the classes whose rate moved (by more than 1e-12 of itself), valid until the next
  /// call. O(what moves); O(links x flows a link) at worst.
  std::span<const Class> resolve();

  /// What resolve() has cost so far, in looks at a class on a link.
  std::uint64_t looks() const { return looks_; }
  /// Of each flow of the class, as of the last resolve().
  double rate(Class of) const { return classes_[of].rate; }
  std::uint32_t hop_count(Class of) const { return classes_[of].hops; }
  std::uint32_t hop(Class of, std::uint32_t index) const { return hops_[classes_[of].first_hop + index].link; }
  float weight(Class of, std::uint32_t index) const { return weights_.empty() ? 1 : weights_[classes_[of].first_hop + index]; }

 private:
  static constexpr double kNoLevel = std::numeric_limits<double>::infinity();
  static constexpr double kSame = 1e-12;
  static constexpr std::uint32_t kNoLink = 0xffffffff;

  struct Route {
    double rate = 0;
    std::uint32_t multiplicity = 0;  ///< wanted
    std::uint32_t solved = 0;        ///< of the last resolve()
    std::uint32_t first_hop = 0;
    std::uint32_t bottleneck = kNoLink;
    std::uint32_t mark = 0;  ///< 2 x epoch: open; 2 x epoch + 1: settled; less: untouched
    std::uint32_t hops : 31 = 0;
    std::uint32_t is_pending : 1 = 0;
  };
  struct Hop {
    std::uint32_t link = 0;
    std::uint32_t position = 0;  ///< in the link's list
  };
  struct Share {
    double rate = 0;
    float solved = 0;  ///< flows x weight
    std::uint32_t mark = 0;
  };
  struct Member {
    Class of = 0;
    std::uint32_t hop = 0;  ///< index into hops_
  };
  struct Link {
    double capacity = 0;
    double level = kNoLevel;
    double full = 0;          ///< level at which it is full, as of the last look
    bool has_risen = false;   ///< its former level has been passed
    double least = 0;         ///< Filling::least of the last look
    bool is_stale = false;    ///< a share has changed since the last look
    std::uint32_t epoch = 0;  ///< touched in this resolve()
    bool is_done = false;
    bool is_dirty = false;
    std::vector<Share> shares;    ///< what filling needs of each class, side by side
    std::vector<Member> members;  ///< beside `shares`
  };
  struct Event {
    double level = 0;
    std::uint32_t order = 0;  ///< fills before rises of one level
    std::uint32_t link = 0;
    bool operator>(const Event& other) const {
      return level != other.level ? level > other.level : order != other.order ? order > other.order : link > other.link;
    }
  };
  struct Filling {
    double fixed = 0;
    double open = 0;
    double least = kNoLevel;  ///< lowest rate of an untouched class that counts as open
  };

  void attach(Class of);
  void detach(Class of);
  void detach_many(bool all);
  void settle(Class of, std::uint32_t link, double level);
  bool is_open(const Share& share, double below) const {
    const std::uint32_t open = 2 * epoch_;
    return (share.mark == open) | ((share.mark < open) & (share.rate >= below));
  }
  void push(Event event);
  void await(std::uint32_t link);
  /// What `link` carries at fill level `level`: classes that stay as they are below it, and those still open.
  Filling filling(const Link& link, double level);
  void touch(std::uint32_t link, double level);
  void touch_others(Class of, std::uint32_t link, double level);
  void fill(std::uint32_t link, double level);
  void rise(std::uint32_t link);
  void open(Class of);
  double begin();

  std::vector<Link> links_;
  std::vector<Route> classes_;
  std::vector<Hop> hops_;
  std::vector<float> weights_;  ///< beside hops_; empty: all 1
  std::vector<Class> pending_;
  std::vector<std::uint32_t> dirty_links_;
  std::vector<Class> moved_;
  std::size_t attached_ = 0;
  std::vector<Event> events_;
  std::uint32_t epoch_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace loom
