// SPDX-License-Identifier: Apache-2.0
// SharedLight: which fibres and amplifiers light of several jobs passes, for the certificate of the plan that lays it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "controller/plan/light/way_index.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom {

class SharedLight {
 public:
  explicit SharedLight(const Fabric& fabric);
  void add(const Path& path, JobId job);
  /// Precondition: it was added.
  void remove(const Path& path, JobId job);
  void certify(IsolationCertificate& certificate) const;

 private:
  using Shares = std::map<JobId, std::uint32_t>;  ///< lights by job

  /// Of one fibre or amplifier.
  struct Use {
    JobId job;  ///< if it is of one job alone
    std::uint32_t lights = 0;
  };
  /// Those that are of several jobs, by place.
  using Shared = std::map<std::size_t, Shares>;

  static void add(std::size_t place, JobId job, std::vector<Use>& uses, Shared& shared);
  static void remove(std::size_t place, JobId job, std::vector<Use>& uses, Shared& shared);
  template <class Visit>
  void each_place(const Path& path, Visit visit);

  const Fabric& fabric_;
  std::vector<Use> fibres_;      ///< by fibre
  std::vector<Use> amplifiers_;  ///< by element; empty: the fabric has none
  Shared shared_fibres_;
  Shared shared_amplifiers_;
};

}  // namespace loom
