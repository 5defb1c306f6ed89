// SPDX-License-Identifier: Apache-2.0
// Alarms in words.
#include "cli/reference/pages.hpp"

namespace loom::cli {

std::vector<AlarmWords> alarm_words() {
  return {
      {AlarmCode::agent_dead, "nothing has come from an agent for `dead_after`",
       "its process or host has ended or hangs, or the network between is cut; its light stays as it was",
       "start the process again (`loom lab restart`, systemd); `loom node show NODE` says since when. It clears by itself when "
       "the agent is back"},
      {AlarmCode::agent_duplicate, "a second process claims a node's name, or an address",
       "two hosts were given one key, or an old process still runs",
       "end one of them; the controller goes on with the one that it had"},
      {AlarmCode::stale_term, "a message of a controller that was fenced off came in",
       "an older incarnation of the controller is still alive",
       "end it. This version counts such messages and does not raise it"},
      {AlarmCode::device_failed, "a device follows no order, or cannot be reached, and its driver has given up",
       "a cable, a power supply, a wrong serial number, a fault of its own; the evidence has its last answer",
       "`loom device show DEVICE`, put it right, then `loom device reset DEVICE`; plans do without it until then"},
      {AlarmCode::commit_returned, "a change failed after it had begun, and the light before it was restored",
       "a device that refused, or an agent that fell silent, between arm and relight",
       "`loom schedule history` names the stage and the reason; a job that was refused for it is submitted again when it is "
       "put right"},
      {AlarmCode::fire_underflow, "a setpoint or an `Arm` came too late for its instant",
       "a busy host, or clocks further apart than `clock_error` says",
       "nothing, if it stays alone: the change is made again. Often: free the host, or raise `lead_margin`"},
      {AlarmCode::lasers_off, "lasers of a node are latched off",
       "an operator's `loom lasers off`, an interlock contact that is open or cannot be read, or maintenance",
       "see why it is dark, close the contact, then `loom lasers rearm`"},
      {AlarmCode::journal_damaged, "a journal does not hold what was written, or refuses rows",
       "a full or faulty disk, a copy that is older than what was confirmed",
       "free the disk and restart the process; a journal that is lost comes back from `loom backup`"},
      {AlarmCode::malformed_message, "messages came in that do not decode, or that nobody with that key may send",
       "another version, a foreign program, or an attack",
       "`loom status` counts them by kind, `loom audit` names keys; revoke a key that should not be there: `loom keys revoke`"},
      {AlarmCode::clock_unsynchronised, "a host's clock may not time a commit",
       "PTP or NTP has lost its source, or has not found it yet",
       "see to its time service ([hosts](../hosts.md)); light stays, and changes go on when the clock is back"},
      {AlarmCode::drift, "a device is not what is desired of it: missing, foreign, detuned, dim or stale",
       "somebody changed it, it lost its power, or it aged; the evidence has desired, observed and limit",
       "nothing, where the policy repairs it; else `loom device show DEVICE`, then `loom device reset DEVICE`, or `set` what "
       "shall be"},
      {AlarmCode::plan_refused, "no lawful plan was found for what is asked",
       "a job that the fabric has no room for, a fabric file whose light does not reach, a schedule that breaks a rule",
       "`loom schedule history` has the sentence; `loom plan` says the same without a lab"},
      {AlarmCode::confirm_overdue, "a schedule on trial was not confirmed in time and has been taken back",
       "nobody typed `loom schedule confirm` within `--confirm-within`", "apply it again if it was meant to stay"},
      {AlarmCode::job_not_quiet, "an attended job was not quiet in time before its light went dark",
       "its launcher's `--on-quiesce` hangs, failed, or takes longer than `quiesce_deadline`",
       "see the hook's output; raise `quiesce_deadline` if it needs the time"},
      {AlarmCode::demand_unsteady, "a job's demand changes faster than its light may follow",
       "traffic that alternates; light is held meanwhile",
       "`loom job show JOB` has declared and measured demand; `loom job adapt JOB --off` stops following"},
      {AlarmCode::receiver_withheld, "a receiver is granted to nobody, since a laser that was granted it may still be lit",
       "an agent that was granted light fell silent",
       "bring that node's agent back, or darken the node: `loom node maintenance NODE on`"},
  };
}

}  // namespace loom::cli
