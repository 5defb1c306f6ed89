// SPDX-License-Identifier: Apache-2.0
// The simulated disk: durable late, gone after a crash, torn, full.
#include "sim_backend/world/sim_disk.hpp"

#include <catch2/catch.hpp>

#include "sim_backend/world/virtual_loop.hpp"

using namespace loom;

namespace {

struct Machine {
  VirtualLoop loop;
  SimDisk disk{loop, DiskOptions{}, 5};
  int durable = 0;
  int failed = 0;

  void append(const std::string& row, StorageSeam::RowKind kind = StorageSeam::RowKind::addition) {
    disk.append(row, kind, [this](Result<void> result) { ++(result ? durable : failed); });
  }
  void finish() {
    while (loop.run_next()) {
    }
  }
  std::vector<std::string> rows() {
    std::vector<std::string> rows;
    damage = disk.load([&](std::uint64_t number, std::string_view row) -> Result<void> {
                   if (row == refuses) {
                     return fail(ErrorCode::malformed, "of no use");
                   }
                   first = rows.empty() ? number : first;
                   rows.emplace_back(row);
                   return {};
                 })
                 .value()
                 .damage;
    return rows;
  }
  std::string refuses = "what its reader cannot use";
  std::string damage;
  std::uint64_t first = 0;
};

}  // namespace

TEST_CASE("a_row_is_durable_after_its_latency_and_not_before") {
  Machine machine;
  machine.append("a");
  CHECK(machine.durable == 0);
  CHECK(machine.rows().empty());
  machine.finish();
  CHECK(machine.durable == 1);
  CHECK(machine.rows() == std::vector<std::string>{"a"});
  CHECK(machine.loop.now() >= Instant{DiskOptions{}.latency_min});
}

TEST_CASE("rows_that_arrive_during_a_flush_share_the_next_one") {
  Machine machine;
  machine.append("a");
  machine.append("b");
  machine.append("c");
  machine.loop.run_next();
  CHECK(machine.durable == 1);
  machine.loop.run_next();
  CHECK(machine.durable == 3);
  CHECK(machine.rows().size() == 3);
}

TEST_CASE("a_crash_forgets_what_was_not_durable_and_never_calls_back") {
  Machine machine;
  machine.append("a");
  machine.finish();
  machine.append("b");
  machine.disk.crash();
  machine.finish();
  CHECK(machine.durable == 1);
  CHECK(machine.rows() == std::vector<std::string>{"a"});
  machine.append("c");
  machine.finish();
  CHECK(machine.rows() == std::vector<std::string>{"a", "c"});
}

TEST_CASE("a_torn_row_is_named_and_what_was_before_it_is_kept") {
  Machine machine;
  machine.append("a");
  machine.append("b");
  machine.finish();
  machine.disk.tear_last_row();
  CHECK(machine.rows() == std::vector<std::string>{"a"});
  CHECK(machine.damage.find("row 2 is torn") == 0);
}

TEST_CASE("nothing_is_taken_behind_a_row_that_its_reader_refuses_until_it_is_restored") {
  Machine machine;
  machine.append("a");
  machine.append("b");
  machine.append("c");
  machine.finish();
  machine.refuses = std::string("b");
  CHECK(machine.rows() == std::vector<std::string>{"a"});
  CHECK(machine.damage.find("row 2 cannot be used: of no use") == 0);
  machine.append("d");
  machine.finish();
  CHECK(machine.failed == 1);
  machine.disk.restore_at_next_load();
  CHECK(machine.rows() == std::vector<std::string>{"a"});
  machine.append("d");
  machine.finish();
  CHECK(machine.rows() == std::vector<std::string>{"a", "d"});
  CHECK(machine.damage.empty());
}

TEST_CASE("a_snapshot_takes_the_place_of_all_rows_before_it_once_it_is_durable") {
  Machine machine;
  machine.append("a");
  machine.finish();
  machine.append("b");
  machine.append("S", StorageSeam::RowKind::snapshot);
  machine.append("c");
  CHECK(machine.rows() == std::vector<std::string>{"a"});
  machine.loop.run_next();
  CHECK(machine.rows() == std::vector<std::string>{"a", "b"});
  machine.finish();
  CHECK(machine.rows() == std::vector<std::string>{"S", "c"});
  CHECK(machine.first == 3);
  CHECK(machine.disk.durable_rows() == 4);
}

TEST_CASE("a_crash_before_a_snapshot_is_durable_leaves_what_it_stands_for") {
  Machine machine;
  machine.append("a");
  machine.finish();
  machine.append("S", StorageSeam::RowKind::snapshot);
  machine.disk.crash();
  machine.finish();
  CHECK(machine.rows() == std::vector<std::string>{"a"});
}

TEST_CASE("a_copy_of_the_disk_brings_back_what_it_was") {
  Machine machine;
  machine.append("a");
  machine.append("S", StorageSeam::RowKind::snapshot);
  machine.finish();
  const DiskImage copy = machine.disk.image();
  machine.append("b");
  machine.finish();
  machine.disk.replace(copy);
  CHECK(machine.rows() == std::vector<std::string>{"S"});
  CHECK(machine.first == 2);
}

TEST_CASE("a_full_disk_answers_every_append_with_an_error") {
  Machine machine;
  machine.disk.fail_appends("the disk is full: 0 of 100 MiB left");
  machine.append("a");
  machine.finish();
  CHECK(machine.failed == 1);
  CHECK(machine.rows().empty());
}
