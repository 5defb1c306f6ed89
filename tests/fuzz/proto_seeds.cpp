// SPDX-License-Identifier: Apache-2.0
// Writes one lawful envelope of every body and one record of every kind into the folders ARGV[1]/envelope and ARGV[1]/record:
// a corpus from which the fuzzers begin.
#include <filesystem>
#include <fstream>
#include <string>

#include "proto/codec.hpp"
#include "tests/unit/proto/proto_random.hpp"

int main(int argc, char** argv) {
  const std::filesystem::path root = argc > 1 ? argv[1] : "corpus";
  std::filesystem::create_directories(root / "envelope");
  std::filesystem::create_directories(root / "record");
  for (std::size_t i = 0; i < std::variant_size_v<loom::Body>; ++i) {
    loom::test::Random random(i);
    std::ofstream(root / "envelope" / std::to_string(i), std::ios::binary)
        << loom::encode(loom::test::random_envelope(random, i));
  }
  for (std::size_t i = 0; i < std::variant_size_v<loom::Record>; ++i) {
    loom::test::Random random(i);
    std::ofstream(root / "record" / std::to_string(i), std::ios::binary) << loom::encode(loom::test::random_record(random, i));
  }
}
