// SPDX-License-Identifier: Apache-2.0
// Why a SiP-ML schedule is as good as it is: the worst-served pair, and the segment of ring or the node's ports that keep it
// from getting more. Reads a finished schedule and changes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/sip_ring/waves.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

/// One pair of a job; `z`: circuits over demand, the job's largest demand being 1.
struct PairAccount {
  JobId job;
  NodeId source;
  NodeId destination;
  double bits = 0;  ///< of one iteration
  std::uint32_t circuits = 0;
  double z = 0;
};

/// What lies in the worst pair's way in one direction.
struct WayAccount {
  std::uint32_t hops = 0;
  NodeId from;  ///< the segment with the fewest free wavelengths, in the direction of light
  NodeId to;
  std::uint32_t free = 0;      ///< wavelengths there
  std::uint32_t channels = 0;  ///< wavelengths of that direction, all rings
  std::uint32_t open = 0;      ///< free all the way, so that one more circuit would fit
};

struct RingAccount {
  PairAccount worst;  ///< of all jobs; of equal ones the lowest (job, source, destination)
  WayAccount shorter;
  WayAccount longer;
  std::uint32_t pairs = 0;
  std::uint32_t reach = 0;        ///< hops that the link budget carries
  std::uint32_t wavelengths = 0;  ///< (ring, direction, wavelength) that are lit anywhere
  std::uint32_t wavelengths_of = 0;
  std::vector<NodeId> nodes;                     ///< along the ring
  std::vector<RingBus> buses;                    ///< as read off the fabric
  std::vector<std::vector<std::uint32_t>> load;  ///< [bus][segment k, between nodes k and k + 1]: lit wavelengths
};

/// `demand`: what the schedule was made for. Errors: those of read_sip_ring and traffic_of.
Result<RingAccount> account_of_rings(const Fabric& fabric, const Demand& demand, const Schedule& schedule);

struct OcsAccount {
  PairAccount worst;
  std::uint32_t pairs = 0;
  std::uint32_t switches = 0;  ///< Q
  NodeId busiest;              ///< with the most peers
  std::uint32_t peers = 0;     ///< its
  std::uint32_t sends = 0;     ///< ports in use of the worst pair's source
  std::uint32_t receives = 0;  ///< and of its destination
  std::uint32_t circuits = 0;  ///< of all jobs
};

/// Errors: those of traffic_of.
Result<OcsAccount> account_of_switches(const Fabric& fabric, const Demand& demand, const Schedule& schedule);

}  // namespace loom
