// SPDX-License-Identifier: Apache-2.0
// The list of facts, and how texts are put together.
#include "drivers/transceiver/itla_facts.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom::itla {
namespace {

constexpr unsigned kLosses = 12;  ///< of one fact: three exchanges that failed in all their tries

struct Fact {
  Register reg;
  bool is_text;
  unsigned group;
};
/// Who it is comes first, then what it can do.
constexpr std::array<Fact, 16> kFacts{{{Register::serial, true, 0},
                                       {Register::first1, false, 1},
                                       {Register::first2, false, 1},
                                       {Register::first3, false, 1},
                                       {Register::last1, false, 2},
                                       {Register::last2, false, 2},
                                       {Register::last3, false, 2},
                                       {Register::opsl, false, 3},
                                       {Register::opsh, false, 3},
                                       {Register::trim_max, false, 3},
                                       {Register::least_grid, false, 4},
                                       {Register::least_grid2, false, 4},
                                       {Register::maker, true, 5},
                                       {Register::model, true, 6},
                                       {Register::device_type, true, 7},
                                       {Register::release, true, 8}}};

constexpr std::size_t place_of(Register reg) {
  return static_cast<std::size_t>(std::ranges::find(kFacts, reg, &Fact::reg) - kFacts.begin());
}

/// Up to its zero, without blanks around it; what is no printable character becomes '?'.
std::string printable(std::string text) {
  text.resize(std::min(text.find('\0'), text.size()));
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string{} : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

DeviceIdentity identity_of(const Facts& facts) {
  std::string text;
  const auto add = [&](std::string_view word, const std::string& value) {
    text += value.empty() ? std::string{} : format_text("{}{}{}", text.empty() ? "" : ", ", word, value);
  };
  add("", facts.maker);
  add("type ", facts.device_type);
  add("", facts.model);
  add("release ", facts.release);
  return {facts.serial, text};
}

std::optional<Request> FactsReader::next() const {
  if (cursor_ >= kFacts.size()) {
    return std::nullopt;
  }
  return text_bytes_ > 0 ? Request{false, Register::extended, 0, asks_again_} : Request{false, kFacts[cursor_].reg, 0, false};
}

unsigned FactsReader::group() const { return cursor_ < kFacts.size() ? kFacts[cursor_].group : kFacts.back().group + 1; }

void FactsReader::absorb(const Response& response) {
  asks_again_ = false;
  if (cursor_ >= kFacts.size()) {
    return;
  }
  if (text_bytes_ > 0) {
    text_ += static_cast<char>(response.data >> 8);
    text_ += static_cast<char>(response.data & 0xFF);
    if (text_.size() >= text_bytes_) {
      text_.resize(text_bytes_);
      store(std::exchange(text_, {}));
    }
  } else if (!kFacts[cursor_].is_text) {
    words_[cursor_] = response.data;
    advance();
  } else if (response.status == Status::extended_address && response.data > 0) {
    text_bytes_ = std::min<std::size_t>(response.data, kTextBytes);
    text_.clear();
  } else {
    store({});  // none, or a number where a text was asked
  }
}

void FactsReader::absorb_refusal() {
  if (cursor_ < kFacts.size() && kFacts[cursor_].is_text) {
    store(std::exchange(text_, {}));
  } else {
    advance();
  }
}

void FactsReader::absorb_loss(Loss loss) {
  const bool is_answer_unknown = loss == Loss::silence || (loss == Loss::unread_request && asks_again_);
  asks_again_ = loss == Loss::damaged_answer && text_bytes_ > 0;
  if (is_answer_unknown || loss == Loss::overtaken) {
    text_bytes_ = 0;
    text_.clear();
  }
  if (is_answer_unknown && ++losses_ >= kLosses) {
    absorb_refusal();
  }
}

void FactsReader::recheck() {
  resume_ = std::max(cursor_, resume_);
  cursor_ = 0;
  text_bytes_ = 0;
  losses_ = 0;
}

void FactsReader::forget() { *this = FactsReader(expected_); }

std::string FactsReader::stranger() const {
  return !is_stranger_ ? std::string{}
         : facts_.serial.empty()
             ? format_text("it does not say its serial number; the inventory expects '{}'", expected_)
             : format_text("its serial number is '{}'; the inventory expects '{}'", facts_.serial, expected_);
}

/// A text has been read, all of it.
void FactsReader::store(std::string text) {
  text = printable(std::move(text));
  switch (kFacts[cursor_].reg) {
    case Register::serial:
      absorb_serial(std::move(text));
      return;
    case Register::maker:
      facts_.maker = std::move(text);
      break;
    case Register::model:
      facts_.model = std::move(text);
      break;
    case Register::device_type:
      facts_.device_type = std::move(text);
      break;
    default:
      facts_.release = std::move(text);
  }
  advance();
}

/// Four bits of parity let one damaged frame in sixteen pass: nobody is called a stranger for what was read once.
void FactsReader::absorb_serial(std::string text) {
  text_bytes_ = 0;
  losses_ = 0;
  const bool is_other = !expected_.empty() && text != expected_;
  if (is_other && !is_stranger_ && !std::exchange(is_doubted_, true)) {
    return;
  }
  is_stranger_ = is_other;
  is_doubted_ = is_other;
  const bool is_the_same = !text.empty() && text == facts_.serial;
  if (!is_the_same) {
    facts_ = {};
    words_ = {};
    resume_ = 0;
  }
  facts_.serial = std::move(text);
  cursor_ = std::max<std::size_t>(std::exchange(resume_, 0), 1);
}

void FactsReader::advance() {
  ++cursor_;
  text_bytes_ = 0;
  losses_ = 0;
  collect_numbers();
}

/// What the numbers that are there come to.
void FactsReader::collect_numbers() {
  const auto word = [this](Register reg) { return words_[place_of(reg)]; };
  const auto frequency = [&](Register thz, Register decigig, Register mhz) -> std::optional<Frequency> {
    if (!word(thz) || !word(decigig) || *word(thz) == 0) {
      return std::nullopt;
    }
    return Frequency{*word(thz) * 1'000'000LL + *word(decigig) * 100LL + word(mhz).value_or(0)};
  };
  const auto signed_word = [&](Register reg) { return static_cast<std::int16_t>(word(reg).value_or(0)); };
  const auto first = frequency(Register::first1, Register::first2, Register::first3);
  const auto last = frequency(Register::last1, Register::last2, Register::last3);
  if (first && last && *first <= *last) {
    facts_.first = first;
    facts_.last = last;
  }
  if (word(Register::opsl) && word(Register::opsh) && signed_word(Register::opsl) < signed_word(Register::opsh)) {
    facts_.power_min = Dbm{signed_word(Register::opsl)};
    facts_.power_max = Dbm{signed_word(Register::opsh)};
  }
  if (word(Register::trim_max)) {
    facts_.trim_max = FrequencyOffset{signed_word(Register::trim_max)};
  }
  const std::int64_t grid = signed_word(Register::least_grid) * 100LL + signed_word(Register::least_grid2);
  if (word(Register::least_grid) && cursor_ > place_of(Register::least_grid2) && grid > 0) {
    facts_.grid = FrequencyOffset{grid};
  }
}

}  // namespace loom::itla
