// SPDX-License-Identifier: Apache-2.0
// Stray light: what leaks of signals at closed switches, gratings and filters, summed element by element in the fabric's
// order, over and over where there are loops, until it changes no more. For verify*.cpp only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "controller/plan/verify/light_field.hpp"
#include "controller/plan/verify/passages.hpp"

namespace loom::verifying {

class StrayLight {
 public:
  /// Leaks lose 20 dB and more at each closed port: a few rounds settle them. Whatever has not settled by then gains.
  static constexpr int kRoundsMax = 64;

  /// All must live as long.
  StrayLight(const Fabric& fabric, const LightOrder& order, const Passages& passages)
      : fabric_(fabric), order_(order), passages_(passages) {
    sum_.fill(std::vector<double>(passages.colours().size()));
  }

  /// Forgets all light.
  void clear() { found_.clear(); }
  /// A signal that comes to an element, and leaks there.
  void leak(ElementId element, const Cell& cell, const Passage& way) {
    if (const std::uint32_t place = order_.place[element.value]; place != LightOrder::kNowhere) {
      found_.push_back({place, {cell, {way.output, 0, way.leak}}});  // what passes is a signal
    }
  }
  /// Of all that leaked: mW at the end of each fibre, of all colours, into `leaks`. False: it still grows after kRoundsMax.
  bool sum(std::vector<double>& leaks);

 private:
  struct Passing {
    Cell cell;
    Passage way;
  };
  struct Stray {
    double mw = 0;
    std::uint16_t colour = 0;
  };
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
    std::uint8_t half = 0;
  };
  /// Light of one colour that leaves an element.
  struct Colour {
    std::uint16_t colour = 0;
    double everywhere = 0;  ///< by each output
    double others = 0;      ///< also by each output that none of the exits is of
    std::uint32_t exit = 0;
    std::uint32_t exits_end = 0;
  };
  /// Of passing_, for one output: ascending colour, output.
  struct Bound {
    std::uint16_t colour = 0;
    std::int32_t output = 0;
    std::uint32_t index = 0;
    auto operator<=>(const Bound&) const = default;
  };
  /// By one output: what passes there, and what leaks there of all that passes elsewhere.
  struct Exit {
    std::int32_t output = 0;
    double passes = 0;
    double leaks = 0;  ///< of its own light, to each other output
    double others = 0;
  };

  std::span<const Passing> leaking_at(std::size_t place) const {
    return {leaking_.data() + leaking_begins_[place], leaking_begins_[place + 1] - leaking_begins_[place]};
  }
  std::span<const Stray> on(FibreId fibre) const {
    const Range& range = ranges_[fibre.value];
    return {strays_[range.half].data() + range.begin, range.count};
  }
  void sort_leaking();
  void pass(std::size_t place, std::vector<double>& leaks);
  void sum_exits(const Element& element);
  void pass_ring(std::size_t place, std::vector<double>& leaks);
  void meet_ring(std::size_t place, std::vector<double>& leaks);
  template <class Emit>
  void leave(FibreId fibre, std::vector<double>& leaks, Emit emit);

  const Fabric& fabric_;
  const LightOrder& order_;
  const Passages& passages_;
  std::vector<std::pair<std::uint32_t, Passing>> found_;  ///< signals that leak, with the places of the elements
  std::vector<Passing> leaking_;                          ///< the same by place
  std::vector<std::uint32_t> leaking_begins_;             ///< by place; one more than order_ has
  std::array<std::vector<Stray>, 2> strays_;  ///< of the round before and of this one, which replaces it fibre by fibre
  std::uint8_t half_ = 0;                     ///< of strays_: this round's
  std::vector<Range> ranges_;                 ///< by fibre
  double round_sum_ = 0;                      ///< of this round, over all fibres
  std::vector<Stray> bus_;                    ///< behind the ring filter under way
  std::vector<Passing> passing_;              ///< scratch
  std::vector<Bound> bound_;                  ///< scratch
  std::vector<Colour> here_;                  ///< scratch: colours of the element under way
  std::vector<Exit> exits_;                   ///< scratch: of here_, ascending output for each
  std::array<std::vector<double>, 2> sum_;    ///< scratch, [output of a ring][colour]
};

}  // namespace loom::verifying
