// The simulated disk: durable late, gone after a crash, torn, full.
#include "sim_backend/sim_disk.hpp"

#include <catch2/catch.hpp>

#include "sim_backend/virtual_loop.hpp"

using namespace loom;

namespace {

struct Machine {
  VirtualLoop loop;
  SimDisk disk{loop, DiskOptions{}, 5};
  int durable = 0;
  int failed = 0;

  void append(const std::string& row) {
    disk.append(row, [this](Result<void> result) { ++(result ? durable : failed); });
  }
  void finish() {
    while (loop.run_next()) {
    }
  }
  std::vector<std::string> rows() { return disk.load().value().rows; }
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
  const auto contents = machine.disk.load().value();
  CHECK(contents.rows == std::vector<std::string>{"a"});
  CHECK(contents.damage.find("row 2 is torn") == 0);
}

TEST_CASE("a_full_disk_answers_every_append_with_an_error") {
  Machine machine;
  machine.disk.fail_appends("the disk is full: 0 of 100 MiB left");
  machine.append("a");
  machine.finish();
  CHECK(machine.failed == 1);
  CHECK(machine.rows().empty());
}
