// SPDX-License-Identifier: Apache-2.0
// Prediction and replay over a direct-connect topology in which servers forward (TopoOpt): circuits become links between ranks,
// the schedule's forwarding table their paths, and the engine plays one iteration on them. A fluid: a server passes bytes on
// while they come in, so a way of several links moves at the rate of its slowest, and what a link carries of everybody shares
// it max-min. Nothing is stored: forwarding costs `forward` a server, and where one link of a way is dark, the whole way waits.
#pragma once

#include "controller/predict/engine/network.hpp"
#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"
#include "controller/workload/task_graph.hpp"

namespace loom {

/// The links of the schedule's first stage at the circuits' rates, between ranks. Pairs take their circuit, else the schedule's
/// route, else (collectives that the scheduler did not know of) the way with the fewest links. `timings.latency` a link.
/// Errors: invalid_argument (a circuit or route of a node that the job does not have, no circuits), those of connect().
Result<Network> network_of(const JobSpec& job, const JobSchedule& schedule, const ScheduleTimings& timings);

/// The job's iteration as it is carried on `schedule`: every ring collective over all rings of its group whose links all have
/// circuits, in equal shares; without such a ring, over those whose pairs have routes. Errors: as graph_of.
Result<TaskGraph> graph_on(const JobSpec& job, const JobSchedule& schedule);

/// Errors: those of network_of and of the engine.
Result<Prediction> predict_forwarded(const JobSpec& job, const JobSchedule& schedule, const ScheduleTimings& timings);

/// `options.schedule` says who forwards; `light` what was lit. Errors: as predict_forwarded; infeasible, naming circuits that
/// never get light.
Result<Replay> replay_forwarded(const JobSpec& job, const LightTimeline& light, const ReplayOptions& options);

}  // namespace loom
