// SPDX-License-Identifier: Apache-2.0
// Whole numbers under linear limits, by CBC (ADR 0017), and the climb from level to level that every max-min optimum is found
// by. For the oracles in this folder only.
#pragma once

#include <coin/Cbc_C_Interface.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace loom {

/// Any numbers that fit will do.
class Programme {
 public:
  Programme() : model_(Cbc_newModel()) { Cbc_setLogLevel(model_, 0); }
  ~Programme() { Cbc_deleteModel(model_); }
  Programme(const Programme&) = delete;
  Programme& operator=(const Programme&) = delete;

  int add_count(double most) {
    Cbc_addCol(model_, "n", 0, most, 0, 1, 0, nullptr, nullptr);
    return columns_++;
  }
  /// The columns' sum; sense 'L': at most, 'G': at least.
  void add_limit(const std::vector<int>& columns, char sense, double limit) {
    const std::vector<double> ones(columns.size(), 1);
    Cbc_addRow(model_, "r", static_cast<int>(columns.size()), columns.data(), ones.data(), sense, limit);
  }

  enum class Answer : std::uint8_t { fits, fits_not, unknown };
  Answer solve(double seconds) {
    Cbc_setMaximumSeconds(model_, seconds);
    Cbc_solve(model_);
    if (Cbc_isProvenOptimal(model_) != 0) {
      return Answer::fits;
    }
    return Cbc_isProvenInfeasible(model_) != 0 ? Answer::fits_not : Answer::unknown;
  }
  std::uint32_t value(int column) const { return static_cast<std::uint32_t>(std::lround(Cbc_getColSolution(model_)[column])); }

 private:
  Cbc_Model* model_;
  int columns_ = 0;
};

/// Bisection over ascending levels; `attempt(level)` says whether one fits. False: one was neither reached nor ruled out.
template <class Attempt>
bool climb(const std::vector<double>& levels, const Attempt& attempt) {
  std::size_t fits = 0;  // the first so many levels do
  std::size_t fits_not = levels.size();
  while (fits < fits_not) {
    const std::size_t middle = (fits + fits_not) / 2;
    const Programme::Answer answer = attempt(levels[middle]);
    if (answer == Programme::Answer::unknown) {
      return false;
    }
    (answer == Programme::Answer::fits ? fits : fits_not) = answer == Programme::Answer::fits ? middle + 1 : middle;
  }
  return true;
}

}  // namespace loom
