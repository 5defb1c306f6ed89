// SPDX-License-Identifier: Apache-2.0
// Two fabrics are told apart by what plans rest on, and the first thing that differs has a name.
#include "core/fabric/fabric_identity.hpp"

#include <catch2/catch.hpp>

#include "controller/architectures/oddl/fabric.hpp"

namespace loom {
namespace {

Fabric eight() {
  OddlParameters parameters;
  parameters.nodes = 8;
  parameters.group_size = 4;
  Fabric fabric = make_oddl(parameters);
  fabric.name = "eight";
  build_index(fabric);
  return fabric;
}

TEST_CASE("the_same_fabric_has_one_digest_wherever_its_buses_are") {
  Fabric here = eight();
  Fabric there = eight();
  there.buses.front().endpoint = "serial:///dev/ttyUSB0?baud=9600";
  CHECK(identity_of(here) == identity_of(there));
  CHECK(difference_between(here, identity_of(there)).empty());
  CHECK(difference_between(here, FabricIdentity{}).empty());
  CHECK(identity_of(here).digest != 0);
  CHECK(identity_of(here).marks.size() <= kFabricMarks);
  CHECK(identity_of(here).nodes == 8);
}

TEST_CASE("whatever_a_plan_rests_on_is_in_the_digest") {
  const Fabric here = eight();
  Fabric there = eight();
  SECTION("a node's name") { there.nodes[3].name = "other"; }
  SECTION("an element's loss") { there.elements[5].insertion_loss.centi += 1; }
  SECTION("a time of a laser") {
    std::get<Transmitter>(there.elements[there.nodes[0].transmitters[0].value].kind).retune_max += Duration{1};
  }
  SECTION("a fibre's end") { std::swap(there.fibres[0].to, there.fibres[1].to); }
  SECTION("a fibre's length") { there.fibres[2].length_mm += 1; }
  SECTION("who drives a device") { there.devices[1].agent = NodeId{7}; }
  SECTION("a device's serial number") { there.devices[1].serial = "AB12"; }
  SECTION("a device's profile") { there.devices[1].profile.push_back({"scale", std::int64_t{3}}); }
  SECTION("a time of the installation") { there.times.clock_error += Duration{1}; }
  SECTION("a power limit") { there.power_limit = Dbm{1'000}; }
  CHECK(identity_of(here).digest != identity_of(there).digest);
  const std::string sentence = difference_between(here, identity_of(there));
  CHECK_THAT(sentence, Catch::Contains(digest_text(identity_of(here).digest)));
  CHECK_THAT(sentence, Catch::Contains(digest_text(identity_of(there).digest)));
}

TEST_CASE("a_difference_is_named_by_counts_and_place") {
  const Fabric here = eight();
  SECTION("one node more") {
    Fabric there = eight();
    there.nodes.push_back(there.nodes.back());
    CHECK_THAT(difference_between(here, identity_of(there)), Catch::Contains("8 nodes here and 9 there"));
  }
  SECTION("an element in the middle: the block that holds it") {
    Fabric there = eight();
    const std::size_t place = there.elements.size() / 2;
    there.elements[place].name += "-renamed";
    const std::string sentence = difference_between(here, identity_of(there));
    CHECK_THAT(sentence, Catch::Contains("the first difference is"));
    CHECK_THAT(sentence, Catch::Contains("element '"));
  }
  SECTION("a small fabric: the very one") {
    Fabric small;
    small.name = "small";
    for (std::uint32_t i = 0; i < 4; ++i) {
      Node node;
      node.id = NodeId{i};
      node.name = "n" + std::to_string(i);
      small.nodes.push_back(node);
    }
    Fabric there = small;
    there.nodes[2].group = 9;
    CHECK_THAT(difference_between(small, identity_of(there)), Catch::EndsWith("the first difference is node 'n2'"));
  }
  SECTION("nothing but the whole's") {
    Fabric there = eight();
    there.times.agent_trip += Duration{1};
    CHECK_THAT(difference_between(here, identity_of(there)), Catch::Contains("a time or a limit of the whole fabric"));
  }
  SECTION("other names") {
    Fabric there = eight();
    there.name = "nine";
    CHECK_THAT(difference_between(here, identity_of(there)), Catch::Contains("'eight', theirs 'nine'"));
  }
}

TEST_CASE("marks_that_a_stranger_made_up_are_only_a_difference") {
  const Fabric here = eight();
  FabricIdentity theirs = identity_of(here);
  theirs.digest += 1;
  theirs.marks.clear();
  CHECK_FALSE(difference_between(here, theirs).empty());
  theirs.nodes = theirs.elements = theirs.fibres = theirs.devices = ~0U;
  CHECK_FALSE(difference_between(here, theirs).empty());
}

}  // namespace
}  // namespace loom
