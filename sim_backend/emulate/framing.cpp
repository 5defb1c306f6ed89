// SPDX-License-Identifier: Apache-2.0
// Lines, and frames of a fixed length.
#include "sim_backend/emulate/framing.hpp"

#include <algorithm>
#include <string_view>

#include "drivers/transceiver/itla_frame.hpp"

namespace loom {
namespace {

constexpr std::size_t kLineBytesMax = 65'536;

/// Requests up to and with a character.
class TextFraming : public Framing {
 public:
  explicit TextFraming(char end) : end_(end) {}
  void take(std::span<const std::uint8_t> bytes, Instant) override { input_.insert(input_.end(), bytes.begin(), bytes.end()); }
  std::optional<EmulatedRequest> next() override {
    const auto end = std::find(input_.begin() + static_cast<std::ptrdiff_t>(begin_), input_.end(), end_);
    if (end == input_.end()) {
      input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
      return std::nullopt;
    }
    EmulatedRequest request;
    request.order = Frame{{input_.begin() + static_cast<std::ptrdiff_t>(begin_), end + 1}, 0, {}};
    begin_ = static_cast<std::size_t>(end + 1 - input_.begin());
    return request;
  }
  std::vector<std::uint8_t> answer(const EmulatedRequest&, const BusReply& reply) override {
    return reply.status == BusStatus::ok ? reply.bytes : std::vector<std::uint8_t>{};
  }
  bool is_lost() const override { return input_.size() - begin_ > kLineBytesMax; }

 private:
  char end_;
  std::vector<std::uint8_t> input_;
  std::size_t begin_ = 0;  ///< of what was not asked for yet
};

/// The device knows no connections, so the first thing that each says is for nobody: it ends the session before.
class Tl1Framing final : public TextFraming {
 public:
  Tl1Framing() : TextFraming(';') {}
  std::optional<EmulatedRequest> next() override {
    if (has_begun_) {
      return TextFraming::next();
    }
    has_begun_ = true;
    constexpr std::string_view kEnd = "CANC-USER::::;";
    EmulatedRequest request;
    request.order = Frame{{kEnd.begin(), kEnd.end()}, 0, {}};
    request.frame = {kEnd.begin(), kEnd.end()};
    return request;
  }
  std::vector<std::uint8_t> answer(const EmulatedRequest& request, const BusReply& reply) override {
    return request.frame.empty() ? TextFraming::answer(request, reply) : std::vector<std::uint8_t>{};
  }

 private:
  bool has_begun_ = false;
};

class ItlaFraming final : public Framing {
 public:
  void take(std::span<const std::uint8_t> bytes, Instant now) override {
    if (now - heard_ > kItlaGap && input_.size() - begin_ < kFrame) {
      begin_ = input_.size();  // a whole frame that waits its turn is no rest of an old one
    }
    heard_ = now;
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    input_.insert(input_.end(), bytes.begin(), bytes.end());
  }
  std::optional<EmulatedRequest> next() override {
    if (input_.size() - begin_ < kFrame) {
      return std::nullopt;
    }
    const auto first = input_.begin() + static_cast<std::ptrdiff_t>(begin_);
    EmulatedRequest request;
    request.order = Frame{{first, first + kFrame}, kFrame, {}};
    begin_ += kFrame;
    return request;
  }
  std::vector<std::uint8_t> answer(const EmulatedRequest&, const BusReply& reply) override {
    return reply.status == BusStatus::ok ? reply.bytes : std::vector<std::uint8_t>{};
  }

 private:
  static constexpr std::uint16_t kFrame = std::tuple_size_v<itla::FrameBytes>;
  std::vector<std::uint8_t> input_;
  std::size_t begin_ = 0;
  Instant heard_{};
};

}  // namespace

std::unique_ptr<Framing> make_line_framing() { return std::make_unique<TextFraming>('\n'); }
std::unique_ptr<Framing> make_tl1_framing() { return std::make_unique<Tl1Framing>(); }
std::unique_ptr<Framing> make_itla_framing() { return std::make_unique<ItlaFraming>(); }

}  // namespace loom
