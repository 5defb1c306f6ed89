// SPDX-License-Identifier: Apache-2.0
// libarchive behind a std::streambuf. Only gzip and no filter are switched on: other filters may start programs.
#include "controller/workload/import/trace_archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <streambuf>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kBlockBytes = 65'536;

struct CloseArchive {
  void operator()(archive* opened) const { archive_read_free(opened); }
};
using Archive = std::unique_ptr<archive, CloseArchive>;

std::string reason(archive* opened) {
  const char* text = archive_error_string(opened);
  return text == nullptr ? "unreadable" : text;
}

/// The present member's bytes. Counts them against what is left of the limit; the first error stays in `error()`.
class MemberBuffer : public std::streambuf {
 public:
  MemberBuffer(archive* opened, std::size_t& bytes_left) : archive_(opened), bytes_left_(bytes_left) {}
  const std::optional<Error>& error() const { return error_; }

 protected:
  int_type underflow() override {
    if (error_) {
      return traits_type::eof();
    }
    const la_ssize_t got = archive_read_data(archive_, block_.data(), block_.size());
    if (got < 0) {
      error_ = Error{ErrorCode::malformed, reason(archive_)};
      return traits_type::eof();
    }
    if (static_cast<std::size_t>(got) > bytes_left_) {
      error_ = Error{ErrorCode::out_of_range, "too large once unpacked"};
      return traits_type::eof();
    }
    bytes_left_ -= static_cast<std::size_t>(got);
    setg(block_.data(), block_.data(), block_.data() + got);
    return got == 0 ? traits_type::eof() : traits_type::to_int_type(block_[0]);
  }

 private:
  archive* archive_;
  std::size_t& bytes_left_;
  std::array<char, kBlockBytes> block_{};
  std::optional<Error> error_;
};

std::string place(const std::string& path, const std::string& member) {
  return member.empty() ? path : format_text("{} ({})", path, member);
}

/// raw: the file is no archive; libarchive then calls its one member "data".
std::string member_name(archive* opened, archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  return archive_format(opened) == ARCHIVE_FORMAT_RAW || name == nullptr ? std::string{} : std::string{name};
}

/// "._name": what macOS's tar adds about a file, not a file of the user's.
bool is_shadow(const std::string& member) { return std::filesystem::path{member}.filename().string().starts_with("._"); }

Result<Archive> open_archive(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) {
    return fail(ErrorCode::not_found, path + ": no such file");
  }
  Archive opened{archive_read_new()};
  if (!opened) {
    return fail(ErrorCode::internal, path + ": no memory to read it");
  }
  archive_read_support_filter_gzip(opened.get());
  archive_read_support_format_tar(opened.get());
  archive_read_support_format_raw(opened.get());
  archive_read_support_format_empty(opened.get());
  if (archive_read_open_filename(opened.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    return fail(ErrorCode::malformed, format_text("{}: {}", path, reason(opened.get())));
  }
  return opened;
}

}  // namespace

Result<void> for_each_member(const std::string& path, std::size_t bytes_max,
                             const std::function<Result<void>(const std::string& member, std::istream& stream)>& read) {
  auto opened = open_archive(path);
  if (!opened) {
    return std::unexpected(opened.error());
  }
  std::size_t bytes_left = bytes_max;
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(opened->get(), &entry);
    if (status == ARCHIVE_EOF) {
      return {};
    }
    if (status < ARCHIVE_WARN) {
      return fail(ErrorCode::malformed, format_text("{}: {}", path, reason(opened->get())));
    }
    const std::string member = member_name(opened->get(), entry);
    if (!member.empty() && (archive_entry_filetype(entry) != AE_IFREG || is_shadow(member))) {
      continue;
    }
    const auto buffer = std::make_unique<MemberBuffer>(opened->get(), bytes_left);
    std::istream stream{buffer.get()};
    const Result<void> outcome = read(member, stream);
    if (buffer->error()) {
      const bool large = buffer->error()->code == ErrorCode::out_of_range;
      return fail(buffer->error()->code,
                  format_text("{}: {}{}", place(path, member), buffer->error()->message,
                              large ? format_text(", the limit is {} bytes (kTraceFileBytes)", bytes_max) : std::string{}));
    }
    if (!outcome) {
      return fail(outcome.error().code, format_text("{}: {}", place(path, member), outcome.error().message));
    }
  }
}

}  // namespace loom
