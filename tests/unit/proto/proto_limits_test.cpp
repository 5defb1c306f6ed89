// SPDX-License-Identifier: Apache-2.0
// Every field of everything that the wire and the journal carry, by protobuf reflection: numbers at their extremes,
// enumerations out of range, texts too long, repeated fields too many, sub-messages missing. Each is refused, or listed with
// the reason.
#include "tests/unit/proto/proto_limits.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/codec.hpp"
#include "proto/journal.pb.h"
#include "proto/lightloom.pb.h"
#include "tests/unit/proto/proto_random.hpp"

namespace loom {
namespace {

/// Every number of the wire, and what lies one beside its limits.
__extension__ typedef __int128 Wide;

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using CppType = FieldDescriptor::CppType;

std::string name_of(const FieldDescriptor& field) { return field.containing_type()->name() + "." + field.name(); }

/// How to come from a root to one message inside it.
struct Step {
  const FieldDescriptor* field = nullptr;
  int index = -1;
};
using Path = std::vector<Step>;

/// A lawful message, as bytes, and what judges it.
struct Sample {
  std::string bytes;
  bool is_record = false;

  std::unique_ptr<Message> parse() const {
    std::unique_ptr<Message> root;
    if (is_record) {
      root = std::make_unique<wire::Record>();
    } else {
      root = std::make_unique<wire::Envelope>();
    }
    REQUIRE(root->ParseFromString(bytes));
    return root;
  }
  /// Nothing: it decodes. Else what is wrong with it.
  std::optional<std::string> verdict(const Message& root) const {
    const std::string changed = root.SerializeAsString();
    if (is_record) {
      const auto record = decode_record(changed);
      return record ? std::nullopt : std::optional{record.error().message};
    }
    const auto envelope = decode_envelope(changed);
    return envelope ? std::nullopt : std::optional{envelope.error().message};
  }
};

Message& at(Message& root, const Path& path) {
  Message* here = &root;
  for (const Step& step : path) {
    const Reflection& reflection = *here->GetReflection();
    here = step.index < 0 ? reflection.MutableMessage(here, step.field)
                          : reflection.MutableRepeatedMessage(here, step.field, step.index);
  }
  return *here;
}

/// A field in one of its places: the names of all fields on the way.
struct FieldPlace {
  const Sample* sample = nullptr;
  Path path;
  const FieldDescriptor* field = nullptr;
};

std::string names_of(const Path& path, const FieldDescriptor& field) {
  std::string names;
  for (const Step& step : path) {
    names += step.field->name() + ".";
  }
  return names + field.name();
}

void collect(const Message& here, const Sample& sample, Path& path, std::map<std::string, std::vector<FieldPlace>>& places) {
  constexpr std::size_t kPlaces = 12;  // of one way: enough that a rule about the sample itself does not hide the field's own
  const Descriptor& type = *here.GetDescriptor();
  const Reflection& reflection = *here.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    const int size = field->is_repeated() ? reflection.FieldSize(here, field) : 0;
    const bool is_other_choice = field->real_containing_oneof() != nullptr && !reflection.HasField(here, field);
    const bool is_empty = field->is_repeated() ? size == 0 : field->has_presence() && !reflection.HasField(here, field);
    if (is_other_choice || is_empty) {
      continue;
    }
    auto& known = places[(sample.is_record ? "record." : "envelope.") + names_of(path, *field)];
    if (known.size() < kPlaces) {
      known.push_back({&sample, path, field});
    }
    if (field->message_type() == nullptr) {
      continue;
    }
    // The first and the last one: where rows ascend, only they may be as small or as great as can be.
    for (const int row : field->is_repeated() && size > 1 ? std::vector{0, size - 1} : std::vector{0}) {
      path.push_back({field, field->is_repeated() ? row : -1});
      collect(field->is_repeated() ? reflection.GetRepeatedMessage(here, field, row) : reflection.GetMessage(here, field),
              sample, path, places);
      path.pop_back();
    }
  }
}

/// Random lawful messages, every kind, and every field in every place that they have.
struct World {
  World() {
    constexpr std::uint64_t kSeeds = 160;  // of every kind: some are one of twenty others
    for (std::size_t kind = 0; kind < std::variant_size_v<Body>; ++kind) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        test::Random random(seed);
        samples.push_back({encode(test::random_envelope(random, kind)), false});
      }
    }
    for (std::size_t kind = 0; kind < std::variant_size_v<Record>; ++kind) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        test::Random random(seed);
        samples.push_back({encode(test::random_record(random, kind)), true});
      }
    }
    for (const Sample& sample : samples) {
      Path path;
      collect(*sample.parse(), sample, path, places);
    }
  }
  std::vector<Sample> samples;
  std::map<std::string, std::vector<FieldPlace>> places;  ///< by the names of the fields on the way
};

const World& world() {
  static const World one;
  return one;
}

bool is_number(const FieldDescriptor& field) {
  const CppType type = field.cpp_type();
  return type == FieldDescriptor::CPPTYPE_INT32 || type == FieldDescriptor::CPPTYPE_INT64 ||
         type == FieldDescriptor::CPPTYPE_UINT32 || type == FieldDescriptor::CPPTYPE_UINT64;
}

const std::string_view* exempted(const std::vector<test::Exempt>& list, const FieldDescriptor& field) {
  for (const test::Exempt& group : list) {
    if (std::find(group.fields.begin(), group.fields.end(), name_of(field)) != group.fields.end()) {
      return &group.reason;
    }
  }
  return nullptr;
}

const test::Range* range_of(const FieldDescriptor& field) {
  const std::string name = name_of(field);
  const auto named =
      std::find_if(test::kRanges.begin(), test::kRanges.end(), [&](const test::Range& r) { return r.field == name; });
  if (named != test::kRanges.end()) {
    return &*named;
  }
  const auto by_name = std::find_if(test::kRangesByName.begin(), test::kRangesByName.end(),
                                    [&](const test::Range& r) { return name.ends_with(r.field); });
  return by_name != test::kRangesByName.end() ? &*by_name : nullptr;
}

/// The number, in the field's own type; false: the type cannot say it.
bool set_number(Message& message, const FieldDescriptor& field, Wide value) {
  const Reflection& reflection = *message.GetReflection();
  const auto set = [&]<class Integer>(Integer, auto put, auto put_repeated) {
    if (value < std::numeric_limits<Integer>::min() || value > std::numeric_limits<Integer>::max()) {
      return false;
    }
    const auto narrow = static_cast<Integer>(value);
    if (field.is_repeated()) {
      (reflection.*put_repeated)(&message, &field, 0, narrow);
    } else {
      (reflection.*put)(&message, &field, narrow);
    }
    return true;
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return set(std::int32_t{}, &Reflection::SetInt32, &Reflection::SetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return set(std::int64_t{}, &Reflection::SetInt64, &Reflection::SetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return set(std::uint32_t{}, &Reflection::SetUInt32, &Reflection::SetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return set(std::uint64_t{}, &Reflection::SetUInt64, &Reflection::SetRepeatedUInt64);
    default:
      return false;
  }
}

std::vector<Wide> extremes_of(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return {INT32_MIN, INT32_MAX, 0};
    case FieldDescriptor::CPPTYPE_INT64:
      return {INT64_MIN, INT64_MAX, 0};
    case FieldDescriptor::CPPTYPE_UINT32:
      return {UINT32_MAX, 0};
    default:
      return {UINT64_MAX, 0};
  }
}

/// What the decoder says of the message with one field changed.
std::optional<std::string> verdict_with(const FieldPlace& place, const std::function<void(Message&)>& change) {
  const auto root = place.sample->parse();
  change(at(*root, place.path));
  return place.sample->verdict(*root);
}

using Faults = std::vector<std::string>;

void require_none(const Faults& faults) {
  std::string all;
  for (const std::string& fault : faults) {
    all += "\n  " + fault;
  }
  INFO(all);
  CHECK(faults.empty());
}

std::string text_of(Wide value) {
  return value < 0 ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(static_cast<std::uint64_t>(value));
}

/// Every message type that a root can hold.
void types_of(const Descriptor& type, std::set<const Descriptor*>& types) {
  if (types.insert(&type).second) {
    for (int i = 0; i < type.field_count(); ++i) {
      if (const Descriptor* inner = type.field(i)->message_type()) {
        types_of(*inner, types);
      }
    }
  }
}

std::vector<const FieldDescriptor*> all_fields() {
  std::set<const Descriptor*> types;
  types_of(*wire::Envelope::descriptor(), types);
  types_of(*wire::Record::descriptor(), types);
  std::vector<const FieldDescriptor*> fields;
  for (const Descriptor* type : types) {
    for (int i = 0; i < type->field_count(); ++i) {
      fields.push_back(type->field(i));
    }
  }
  return fields;
}

TEST_CASE("every field of the wire and of the journal is in the random messages, so that it is tried here") {
  std::set<std::string> met;
  for (const auto& [names, places] : world().places) {
    met.insert(name_of(*places.front().field));
  }
  Faults faults;
  for (const FieldDescriptor* field : all_fields()) {
    const bool is_read_only = field->name().starts_with("earlier_");  // nobody writes it any more; a test of its own reads it
    if (!is_read_only && !met.contains(name_of(*field))) {
      faults.push_back(name_of(*field) + " is never set");
    }
  }
  require_none(faults);
}

TEST_CASE("every number is refused beyond its range, in every place that it has, by its name") {
  Faults faults;
  for (const auto& [names, places] : world().places) {
    const FieldDescriptor& field = *places.front().field;
    const test::Range* range = range_of(field);
    if (!is_number(field) || range == nullptr || exempted(test::kAnyValue, field) != nullptr) {
      continue;
    }
    std::vector<Wide> outside{Wide{range->min} - 1, Wide{range->max} + 1};
    for (const Wide value : extremes_of(field)) {
      if (value < range->min || value > range->max) {
        outside.push_back(value);
      }
    }
    if (range->max == test::kAnyNumber) {
      std::erase_if(outside, [&](Wide value) { return value > range->max; });
    }
    for (const Wide value : outside) {
      bool can_say = false;
      const auto why = verdict_with(places.front(), [&](Message& message) { can_say = set_number(message, field, value); });
      if (can_say && (!why || why->find(field.name()) == std::string::npos)) {
        faults.push_back(names + " = " + text_of(value) + (why ? " is refused with other words: " + *why : " is accepted"));
      }
    }
  }
  require_none(faults);
}

TEST_CASE("every number at the ends of its range is accepted somewhere, and so is any value of one that has no range") {
  std::map<std::string, bool> accepted;
  for (const auto& [names, places] : world().places) {
    const FieldDescriptor& field = *places.front().field;
    if (!is_number(field)) {
      continue;
    }
    const bool is_exempt = exempted(test::kAnyValue, field) != nullptr;
    const test::Range* range = is_exempt ? nullptr : range_of(field);
    std::vector<Wide> values;
    if (range != nullptr) {
      values = {range->min, range->max};
    } else if (is_exempt) {
      values = extremes_of(field);
    }
    for (const Wide value : values) {
      bool& one = accepted[name_of(field) + " = " + text_of(value)];
      for (std::size_t i = 0; i < places.size() && !one; ++i) {
        one = !verdict_with(places[i], [&](Message& message) { (void)set_number(message, field, value); });
      }
    }
  }
  Faults faults;
  for (const auto& [what, is_accepted] : accepted) {
    // Versions are equal or refused; a wait of kForever is the greatest value of its field and the only lawful one up there.
    const bool has_own_test = what.find("wire_version_number") != std::string::npos ||
                              what.find("hold_ns") != std::string::npos || what.find("ForwardingTable.") != std::string::npos;
    if (!is_accepted && !has_own_test) {
      faults.push_back(what + " is refused everywhere");
    }
  }
  require_none(faults);
}

/// All values of one field, in every place that it has.
void check_values(const std::string& name, const std::vector<Wide>& refused, const std::vector<Wide>& lawful) {
  std::size_t met = 0;
  std::map<std::string, bool> accepted;
  for (const auto& [names, places] : world().places) {
    const FieldDescriptor& field = *places.front().field;
    if (name_of(field) != name) {
      continue;
    }
    ++met;
    INFO(names);
    for (const Wide value : refused) {
      const auto why = verdict_with(places.front(), [&](Message& message) { (void)set_number(message, field, value); });
      INFO(text_of(value));
      REQUIRE(why.has_value());
      CHECK(why->find(field.name()) != std::string::npos);
    }
    for (const Wide value : lawful) {
      for (const FieldPlace& place : places) {
        accepted[text_of(value)] |= !verdict_with(place, [&](Message& message) { (void)set_number(message, field, value); });
      }
    }
  }
  CHECK(met > 0);
  for (const auto& [value, is_accepted] : accepted) {
    INFO(value);
    CHECK(is_accepted);
  }
}

TEST_CASE("a hold is a length of time or for ever") {
  for (const char* field : {"TimedSetpoint.hold_ns", "Timeslot.hold_ns"}) {
    check_values(field, {-1, limits::kDurationNs + 1, INT64_MAX - 1, INT64_MIN}, {0, limits::kDurationNs, INT64_MAX});
  }
}

TEST_CASE("a forwarding table names its own rows, ranks and paths") {
  for (const char* field : {"row_numbers", "destination_counts", "destination_numbers", "path_numbers", "hop_numbers"}) {
    check_values(std::string("ForwardingTable.") + field, {UINT32_MAX, limits::kCircuits}, {0});
  }
  check_values("ForwardingTable.hop_counts", {UINT32_MAX, limits::kCircuits, 0}, {1});
}

TEST_CASE("every number has a range or a reason to have none, and not both") {
  Faults faults;
  for (const FieldDescriptor* field : all_fields()) {
    if (!is_number(*field)) {
      continue;
    }
    const bool is_exempt = exempted(test::kAnyValue, *field) != nullptr;
    const bool is_named = std::any_of(test::kRanges.begin(), test::kRanges.end(),
                                      [&](const test::Range& range) { return range.field == name_of(*field); });
    if (!is_exempt && range_of(*field) == nullptr) {
      faults.push_back(name_of(*field) + ": give it a range in proto_limits.hpp and in the codec, or a reason");
    }
    if (is_exempt && is_named) {
      faults.push_back(name_of(*field) + " has a range and a reason to have none");
    }
  }
  require_none(faults);
}

TEST_CASE("no list of limits names a field that does not exist") {
  std::set<std::string> known;
  for (const FieldDescriptor* field : all_fields()) {
    known.insert(name_of(*field));
  }
  Faults faults;
  const auto must_exist = [&](std::string_view name) {
    if (!known.contains(std::string(name))) {
      faults.push_back(std::string(name));
    }
  };
  for (const test::Range& range : test::kRanges) {
    must_exist(range.field);
  }
  for (const test::Most& most : test::kMost) {
    must_exist(most.field);
  }
  for (const auto& list : {test::kAnyValue, test::kAnyCount, test::kMayBeAbsent}) {
    for (const test::Exempt& group : list) {
      std::for_each(group.fields.begin(), group.fields.end(), must_exist);
    }
  }
  require_none(faults);
}

TEST_CASE("every enumeration is one of its words, in every place that it has") {
  Faults faults;
  for (const auto& [names, places] : world().places) {
    const FieldDescriptor& field = *places.front().field;
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_ENUM) {
      continue;
    }
    const int last = field.enum_type()->value(field.enum_type()->value_count() - 1)->number();
    for (const int value : {-1, 0, last + 1, INT32_MAX}) {
      const auto why = verdict_with(places.front(),
                                    [&](Message& message) { message.GetReflection()->SetEnumValue(&message, &field, value); });
      if (!why || why->find(field.name()) == std::string::npos) {
        faults.push_back(names + " = " + std::to_string(value) +
                         (why ? " is refused with other words: " + *why : " is accepted"));
      }
    }
  }
  require_none(faults);
}

TEST_CASE("every text is limited and well-formed, in every place that it has") {
  Faults faults;
  for (const auto& [names, places] : world().places) {
    const FieldDescriptor& field = *places.front().field;
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      continue;
    }
    for (const std::string& value : {std::string(limits::kTextBytes + 1, 'x'), std::string{"\xff"}}) {
      const auto why = verdict_with(places.front(), [&](Message& message) {
        if (field.is_repeated()) {
          message.GetReflection()->SetRepeatedString(&message, &field, 0, value);
        } else {
          message.GetReflection()->SetString(&message, &field, value);
        }
      });
      if (!why || why->find(field.name()) == std::string::npos) {
        faults.push_back(names + " of " + std::to_string(value.size()) + " bytes is accepted or refused with other words");
      }
    }
  }
  require_none(faults);
}

/// One element more than there are; the content does not matter, since they are counted first.
void grow(Message& message, const FieldDescriptor& field, std::size_t count) {
  const Reflection& reflection = *message.GetReflection();
  for (auto size = static_cast<std::size_t>(reflection.FieldSize(message, &field)); size < count; ++size) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        reflection.AddMessage(&message, &field);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        reflection.AddInt32(&message, &field, 0);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection.AddInt64(&message, &field, 0);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        reflection.AddUInt32(&message, &field, 0);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        reflection.AddUInt64(&message, &field, 0);
        break;
      default:
        reflection.AddString(&message, &field, "");
        break;
    }
  }
}

TEST_CASE("every repeated field is refused with one element too many, by the limit") {
  Faults faults;
  std::set<std::string> tried;
  for (const auto& [names, places] : world().places) {
    const FieldDescriptor& field = *places.front().field;
    const auto most = std::find_if(test::kMost.begin(), test::kMost.end(),
                                   [&](const test::Most& each) { return each.field == name_of(field); });
    // Small ones everywhere; a large one once, since it is the same function that counts.
    if (!field.is_repeated() || most == test::kMost.end() || (most->count > 5'000 && !tried.insert(name_of(field)).second)) {
      continue;
    }
    const auto why = verdict_with(places.front(), [&](Message& message) { grow(message, field, most->count + 1); });
    const std::string rule = " = " + std::to_string(most->count + 1) + ": must be 0.." + std::to_string(most->count);
    const bool is_too_long_for_a_message = why && why->find("the limit is") != std::string::npos && most->count > 1'000'000;
    if (!why || (why->find(rule) == std::string::npos && !is_too_long_for_a_message)) {
      faults.push_back(names + " of " + std::to_string(most->count + 1) +
                       (why ? " is refused with other words: " + *why : " is accepted"));
    }
  }
  require_none(faults);
}

TEST_CASE("every repeated field has a limit or a reason to have none") {
  Faults faults;
  for (const FieldDescriptor* field : all_fields()) {
    const bool has_limit = std::any_of(test::kMost.begin(), test::kMost.end(),
                                       [&](const test::Most& most) { return most.field == name_of(*field); });
    if (field->is_repeated() && has_limit == (exempted(test::kAnyCount, *field) != nullptr)) {
      faults.push_back(name_of(*field) +
                       (has_limit ? " has a limit and a reason to have none" : " has neither limit nor reason"));
    }
  }
  require_none(faults);
}

TEST_CASE("every sub-message must be there, or is listed as one that may be absent") {
  Faults faults;
  for (const auto& [names, places] : world().places) {
    const FieldDescriptor& field = *places.front().field;
    if (field.message_type() == nullptr || field.is_repeated() || field.real_containing_oneof() != nullptr) {
      continue;
    }
    std::size_t accepted = 0;
    for (const FieldPlace& place : places) {
      const auto why = verdict_with(place, [&](Message& message) { message.GetReflection()->ClearField(&message, &field); });
      accepted += why ? 0 : 1;
    }
    if (accepted > 0 && exempted(test::kMayBeAbsent, field) == nullptr) {
      faults.push_back(names + " is accepted without it");
    }
  }
  require_none(faults);
}

}  // namespace
}  // namespace loom
