// SPDX-License-Identifier: Apache-2.0
// Names and meanings of what every daemon counts.
#include "runtime/metrics/process_metrics.hpp"

#include <algorithm>

#include "core/text/version.hpp"
#include "runtime/metrics/metrics.hpp"

namespace loom {

void add_build_info(MetricList& list, const std::string& program) {
  list.gauge("lightloom_build_info", "Always 1; its labels say what runs.", 1,
             {{"program", program}, {"version", std::string(build_version())}});
}

void add_metrics(MetricList& list, const LoopCounters& loop) {
  list.counter("lightloom_loop_tasks_total", "Timed tasks that the loop has run.", loop.tasks);
  list.counter("lightloom_loop_exact_tasks_total", "Timed tasks whose instant mattered (firing, timeslots).", loop.exact_tasks);
  list.gauge("lightloom_loop_longest_exact_lateness_seconds", "Latest that an exact task began after its instant, since start.",
             in_seconds(loop.exact_lateness_max));
}

void add_metrics(MetricList& list, const ClockCounters& clock) {
  list.gauge("lightloom_clock_is_tai", "1: instants are of this host's TAI; 0: of its monotonic clock.", clock.is_tai ? 1 : 0);
  list.gauge("lightloom_clock_synchronised", "1: this host's clock may time a commit; 0: it lost its synchronisation.",
             clock.is_good ? 1 : 0);
  if (clock.is_tai) {
    list.gauge("lightloom_clock_max_error_seconds", "How far the kernel says that its clock may be off at most (maxerror).",
               in_seconds(clock.max_error));
    list.gauge("lightloom_clock_tai_offset_seconds", "TAI minus UTC, as the kernel has it.", clock.offset_seconds);
    list.counter("lightloom_clock_losses_total", "Times that this host's clock lost its synchronisation.", clock.losses);
  }
}

void add_metrics(MetricList& list, const HostCounters& hosts) {
  list.counter("lightloom_events_total", "Events that step machines were given.", hosts.events);
  list.counter("lightloom_effects_total", "Effects that step machines asked for.", hosts.effects);
  list.counter("lightloom_messages_total", "Messages of step machines.", hosts.sent, {{"direction", "sent"}});
  list.counter("lightloom_messages_total", "Messages of step machines.", hosts.received, {{"direction", "received"}});
  list.counter("lightloom_messages_malformed_total", "Messages that did not decode.", hosts.malformed);
  list.counter("lightloom_transactions_total", "Bus transactions that step machines asked for.", hosts.transactions);
  list.gauge("lightloom_longest_step_seconds", "Longest step of a machine since start.", in_seconds(hosts.longest_step));
}

void add_metrics(MetricList& list, const BusLaneCounters& lanes) {
  list.counter("lightloom_bus_transactions_total", "Transactions that real buses have carried out.", lanes.executed);
  list.counter("lightloom_bus_overruns_total", "Transactions that found a bus's queue full and were refused.", lanes.overruns);
  list.counter("lightloom_bus_late_total", "Transactions that took longer than their deadline.", lanes.late);
  list.gauge("lightloom_bus_waiting_most", "Most transactions that ever waited for one bus.",
             static_cast<double>(lanes.waiting_max));
  list.gauge("lightloom_bus_longest_transaction_seconds", "Longest transaction on a bus since start.",
             in_seconds(lanes.longest));
}

void add_metrics(MetricList& list, const JournalSize& journal) {
  list.gauge("lightloom_journal_rows", "Rows that the journal holds, snapshots included.", static_cast<double>(journal.rows));
  list.gauge("lightloom_journal_bytes", "Size on disk of the journal's database and of its write-ahead log.",
             static_cast<double>(journal.bytes));
}

void sum(HostCounters& total, const HostCounters& one) {
  total.events += one.events;
  total.effects += one.effects;
  total.sent += one.sent;
  total.received += one.received;
  total.malformed += one.malformed;
  total.transactions += one.transactions;
  total.longest_step = std::max(total.longest_step, one.longest_step);
}

void sum(BusLaneCounters& total, const BusLaneCounters& one) {
  total.executed += one.executed;
  total.overruns += one.overruns;
  total.late += one.late;
  total.waiting_max = std::max(total.waiting_max, one.waiting_max);
  total.longest = std::max(total.longest, one.longest);
}

}  // namespace loom
