// SPDX-License-Identifier: Apache-2.0
// Nine whole numbers a line; instants in ns of the agents' clock.
#include "runtime/state/grant_log.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

Duration percentile(std::vector<Duration> values, std::size_t per_cent) {
  if (values.empty()) {
    return {};
  }
  const auto rank = static_cast<std::ptrdiff_t>((values.size() - 1) * per_cent / 100);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

}  // namespace

void append_line(std::string& text, const GrantTimes& times) {
  const std::array<std::int64_t, 9> numbers{static_cast<std::int64_t>(times.stream.collective),
                                            times.stream.source.value,
                                            times.stream.destination.value,
                                            ns_of(times.asked),
                                            ns_of(times.received),
                                            ns_of(times.granted),
                                            ns_of(times.lit_from),
                                            ns_of(times.dark_from),
                                            times.sent.count};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += (i > 0 ? " " : "") + std::to_string(numbers[i]);
  }
  text += '\n';
}

Result<std::vector<GrantTimes>> read_grant_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, format_text("grant log {} cannot be opened", path));
  }
  std::vector<GrantTimes> grants;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line) && !file.eof(); ++number) {
    std::istringstream words(line);
    std::array<std::int64_t, 9> numbers{};
    bool is_lawful = true;
    for (std::int64_t& each : numbers) {
      is_lawful = is_lawful && static_cast<bool>(words >> each) && each >= 0;
    }
    if (!is_lawful) {
      return fail(ErrorCode::malformed, format_text("{}:{}: nine whole numbers were expected", path, number));
    }
    GrantTimes times;
    times.stream = {JobId{}, static_cast<std::uint64_t>(numbers[0]), NodeId{static_cast<std::uint32_t>(numbers[1])},
                    NodeId{static_cast<std::uint32_t>(numbers[2])}};
    times.asked = instant_from_ns(numbers[3]);
    times.received = instant_from_ns(numbers[4]);
    times.granted = instant_from_ns(numbers[5]);
    times.lit_from = instant_from_ns(numbers[6]);
    times.dark_from = instant_from_ns(numbers[7]);
    times.sent = Bytes{numbers[8]};
    grants.push_back(times);
  }
  return grants;
}

ControlTimes control_times_of(const std::vector<GrantTimes>& grants, BitRate rate, const IsAcross& is_across) {
  ControlTimes result;
  std::vector<Duration> answers;
  std::vector<Duration> across;
  std::vector<Duration> waits;
  Duration occupied{};
  for (const GrantTimes& each : grants) {
    ++result.grants;
    waits.push_back(each.granted - each.asked);
    if (each.received != kNever) {
      answers.push_back(each.received - each.asked);
      if (is_across(each.stream.source, each.stream.destination)) {
        across.push_back(answers.back());
      }
    }
    if (each.lit_from >= each.dark_from) {
      ++result.dark;
      continue;
    }
    result.sent = result.sent + each.sent;
    occupied += each.dark_from - each.asked;
  }
  result.answer_p50 = percentile(answers, 50);
  result.answer_p99 = percentile(answers, 99);
  result.answers_across = across.size();
  result.across_p50 = percentile(across, 50);
  result.across_p99 = percentile(across, 99);
  result.grant_p50 = percentile(waits, 50);
  result.grant_p99 = percentile(waits, 99);
  if (result.grants > result.dark && occupied > Duration::zero()) {
    result.stream_mean = Bytes{result.sent.count / static_cast<std::int64_t>(result.grants - result.dark)};
    result.used = static_cast<double>(result.sent.count) * 8 / static_cast<double>(rate.bits_per_second) / seconds_of(occupied);
  }
  return result;
}

}  // namespace loom
