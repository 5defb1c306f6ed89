// SPDX-License-Identifier: Apache-2.0
// The real driver over the real bus against an emulated module in a process of its own: a FUSE file. And Python's os.pread, dd
// and xxd as clients of the same file, which know nothing of us.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/stream.hpp"
#include "drivers/pluggable/cmis.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

class MountedModule {
 public:
  explicit MountedModule(std::vector<std::string> options = {}) {
    std::string name = (std::filesystem::temp_directory_path() / "loom-module-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    std::array<int, 2> out{};
    REQUIRE(pipe(out.data()) == 0);
    std::vector<std::string> words{LOOM_EMULATE_PROGRAM, "cmis", "--mount", name};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      dup2(out[1], STDOUT_FILENO);
      close(out[0]);
      close(out[1]);
      execv(arguments.front(), arguments.data());
      _exit(127);
    }
    close(out[1]);
    std::array<char, 256> line{};
    std::FILE* told = fdopen(out[0], "r");
    is_there_ = std::fgets(line.data(), line.size(), told) != nullptr && std::string_view(line.data()).starts_with("file ");
    std::fclose(told);
  }
  MountedModule(const MountedModule&) = delete;
  MountedModule& operator=(const MountedModule&) = delete;
  ~MountedModule() {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove(folder_, ignored);
  }
  bool is_there() const { return is_there_; }
  std::string path() const { return (folder_ / "eeprom").string(); }
  void power_cycle() const { kill(process_, SIGHUP); }

 private:
  std::filesystem::path folder_;
  pid_t process_ = -1;
  bool is_there_ = false;
};

constexpr const char* kNoFuse = "no FUSE here: it takes /dev/fuse, fusermount3 (package fuse3) and the right to mount";

CmisProfile profile() {
  CmisProfile profile;
  profile.name = "module";
  profile.bus_address = kModuleAddress;
  profile.channels = {{-280, 4}, 8, 96};
  profile.power_min = Dbm{-1'500};
  profile.power_max = Dbm{-700};
  profile.retune_max = std::chrono::milliseconds{600};
  profile.blank_max = std::chrono::milliseconds{100};
  profile.enable_max = std::chrono::milliseconds{400};
  return profile;
}

/// Runs a driver over a real bus until it wants nothing more.
void run(Driver& driver, BusDevice& bus) {
  Step step = driver.step(steady_now(), nullptr);
  while (step.transaction || step.wake != kNever) {
    if (step.transaction) {
      const BusReply reply = bus.execute(*step.transaction);
      step = driver.step(steady_now(), &reply);
    } else {
      const std::int64_t rest_ns = std::max<std::int64_t>((step.wake - steady_now()).count(), 0);
      const timespec rest{rest_ns / 1'000'000'000, rest_ns % 1'000'000'000};
      ppoll(nullptr, 0, &rest, nullptr);
      step = driver.step(steady_now(), nullptr);
    }
  }
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) {
    text += part.data();
  }
  pclose(pipe);
  return text;
}

}  // namespace

TEST_CASE("a_module_behind_a_file_is_lit_retuned_and_blanked_by_the_real_driver") {
  const MountedModule module({"--retune-ms", "600", "--serial", "ZR0042"});
  if (!module.is_there()) {
    testing::skip(kNoFuse);
    return;
  }
  const auto bus = make_bus("optoe://" + module.path()).value();
  CmisDriver driver(profile());
  for (const TransmitterSetpoint& setpoint :
       {TransmitterSetpoint{{-272, 4}, Dbm{-1'000}, true}, TransmitterSetpoint{{-240, 4}, Dbm{-1'000}, true},
        TransmitterSetpoint{{-240, 4}, Dbm{-1'000}, false}}) {
    REQUIRE(driver.check(setpoint).has_value());
    driver.stage(setpoint);
    driver.fire();
    run(driver, *bus);
    INFO(driver.observe().fault);
    REQUIRE(driver.activity() == DriverActivity::settled);
    const auto reading = std::get<TransmitterObservation>(driver.observe().reading);
    CHECK(reading.frequency == centre_of(setpoint.slot));
    CHECK(reading.emitting == setpoint.emit);
  }
  CHECK(driver.observe().identity.serial == "ZR0042");
}

TEST_CASE("a_module_behind_a_file_that_lost_its_power_is_told_by_an_audit") {
  const MountedModule module({"--retune-ms", "600", "--boot-ms", "0"});
  if (!module.is_there()) {
    testing::skip(kNoFuse);
    return;
  }
  const auto bus = make_bus("optoe://" + module.path()).value();
  CmisDriver driver(profile());
  driver.stage(TransmitterSetpoint{{-272, 4}, Dbm{-1'000}, true});
  driver.fire();
  run(driver, *bus);
  REQUIRE(driver.activity() == DriverActivity::settled);
  module.power_cycle();
  while (driver.activity() == DriverActivity::settled) {  // until the signal has arrived
    driver.poll();
    run(driver, *bus);
  }
  CHECK(driver.activity() == DriverActivity::idle);
  CHECK_FALSE(std::get<TransmitterObservation>(driver.observe().reading).emitting);
}

TEST_CASE("strangers_read_and_write_a_module_as_a_file") {
  const MountedModule module({"--serial", "ZR0042"});
  if (!module.is_there()) {
    testing::skip(kNoFuse);
    return;
  }
  const std::string read = "import os,sys\nfd=os.open('" + module.path() + "',os.O_RDWR)\n";
  CHECK(output_of("python3 -c \"" + read + "print(os.pread(fd,6,166).decode())\"") == "ZR0042\n");
  // A write, a refusal while the module is busy, and at last what was written.
  CHECK(output_of("python3 -c \"" + read +
                  "os.pwrite(fd,bytes([1]),18*128-128+2)\nwhile True:\n  try:\n    print(os.pread(fd,1,18*128-128+2).hex())\n"
                  "    break\n  except OSError as error:\n    assert error.errno==121\n\"") == "01\n");
  CHECK(output_of("dd if=" + module.path() + " bs=1 skip=0 count=2 status=none | od -An -tx1") == " 19 50\n");
  const std::string all = output_of("dd if=" + module.path() + " bs=33152 count=1 status=none | wc -c");
  CHECK(std::stoi(all) >= 128);
}

}  // namespace loom
