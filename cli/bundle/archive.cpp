// SPDX-License-Identifier: Apache-2.0
// libarchive both ways. Only gzip and tar are switched on: other filters may start programs.
#include "cli/bundle/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <sodium/crypto_hash_sha256.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr std::size_t kBlockBytes = 65'536;

struct CloseReader {
  void operator()(archive* opened) const { archive_read_free(opened); }
};
struct CloseWriter {
  void operator()(archive* opened) const { archive_write_free(opened); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string reason(archive* opened) {
  const char* text = archive_error_string(opened);
  return text == nullptr ? "unreadable" : text;
}

/// What other hands wrote, so that no terminal obeys it.
std::string printable(const std::string& text) {
  std::string safe = text.substr(0, 80);
  std::ranges::replace_if(safe, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return safe;
}

Result<void> check_member(archive_entry* entry, const std::string& name, const BundleContents& before) {
  if (auto checked = check_bundle_path(name); !checked) {
    return checked;
  }
  if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr ||
      archive_entry_symlink(entry) != nullptr) {
    return fail(ErrorCode::refused,
                format_text("{}: a link, folder or device; a bundle holds regular files alone", printable(name)));
  }
  if (before.contains(name)) {
    return fail(ErrorCode::refused, format_text("{}: it comes twice", name));
  }
  if (before.size() == kBundleMembersMax) {
    return fail(ErrorCode::refused, format_text("{}: more than {} files (kBundleMembersMax)", name, kBundleMembersMax));
  }
  return {};
}

Result<std::string> read_member(archive* opened, const std::string& name, std::size_t& total) {
  std::string bytes;
  std::array<char, kBlockBytes> block{};
  for (;;) {
    const la_ssize_t got = archive_read_data(opened, block.data(), block.size());
    if (got < 0) {
      return fail(ErrorCode::malformed, format_text("{}: truncated or damaged ({})", name, reason(opened)));
    }
    if (got == 0) {
      return bytes;
    }
    bytes.append(block.data(), static_cast<std::size_t>(got));
    total += static_cast<std::size_t>(got);
    if (bytes.size() > kBundleMemberBytesMax) {
      return fail(ErrorCode::refused,
                  format_text("{}: more than {} bytes unpacked (kBundleMemberBytesMax)", name, kBundleMemberBytesMax));
    }
    if (total > kBundleBytesMax) {
      return fail(ErrorCode::refused,
                  format_text("{}: with it the bundle unpacks to more than {} bytes (kBundleBytesMax)", name, kBundleBytesMax));
    }
  }
}

Result<BundleContents> read_members(archive* opened) {
  BundleContents contents;
  std::size_t total = 0;
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(opened, &entry);
    if (status == ARCHIVE_EOF) {
      return contents;
    }
    if (status != ARCHIVE_OK) {
      return fail(ErrorCode::malformed, format_text("truncated, damaged or no .tar.gz ({})", reason(opened)));
    }
    const char* raw = archive_entry_pathname(entry);
    const std::string name = raw == nullptr ? "" : raw;
    LOOM_TRY(check_member(entry, name, contents));
    auto bytes = read_member(opened, name, total);
    if (!bytes) {
      return std::unexpected(std::move(bytes).error());
    }
    contents.emplace(name, *std::move(bytes));
  }
}

Result<void> write_member(archive* opened, const std::string& name, const std::string& bytes) {
  const std::unique_ptr<archive_entry, FreeEntry> entry{archive_entry_new()};
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  if (archive_write_header(opened, entry.get()) != ARCHIVE_OK ||
      archive_write_data(opened, bytes.data(), bytes.size()) != static_cast<la_ssize_t>(bytes.size())) {
    return fail(ErrorCode::storage, format_text("{}: {}", name, reason(opened)));
  }
  return {};
}

Result<void> check_limits(const BundleContents& contents) {
  std::size_t total = 0;
  for (const auto& [name, bytes] : contents) {
    LOOM_TRY(check_bundle_path(name));
    if (bytes.size() > kBundleMemberBytesMax) {
      return fail(ErrorCode::refused, format_text("{}: {} bytes; a file of a bundle has at most {} (kBundleMemberBytesMax)",
                                                  name, bytes.size(), kBundleMemberBytesMax));
    }
    total += bytes.size();
  }
  if (total > kBundleBytesMax || contents.size() > kBundleMembersMax) {
    return fail(ErrorCode::refused,
                format_text("{} files of {} bytes; a bundle has at most {} (kBundleMembersMax) of {} (kBundleBytesMax)",
                            contents.size(), total, kBundleMembersMax, kBundleBytesMax));
  }
  return {};
}

}  // namespace

Result<void> check_bundle_path(const std::string& path) {
  const auto refused = [&](const char* why) {
    return fail(ErrorCode::refused, format_text("'{}' is no name for a file of a bundle: {}", printable(path), why));
  };
  if (path.empty() || path.size() > kBundlePathBytesMax) {
    return refused(path.empty() ? "it is empty" : "it is longer than 512 bytes (kBundlePathBytesMax)");
  }
  if (std::ranges::any_of(path, [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; })) {
    return refused("it has a control character or a backslash");
  }
  if (path.starts_with('/')) {
    return refused("it is absolute");
  }
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part == "..") {
      return refused("'..' leads out of the bundle");
    }
    if (part.empty() || part == ".") {
      return refused("one of its parts is empty or '.'");
    }
    begin = end + 1;
  }
  return {};
}

Result<BundleContents> read_bundle(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) {
    return fail(ErrorCode::not_found, path + ": no such file");
  }
  const std::unique_ptr<archive, CloseReader> opened{archive_read_new()};
  archive_read_support_filter_gzip(opened.get());
  archive_read_support_format_tar(opened.get());
  if (archive_read_open_filename(opened.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    return fail(ErrorCode::malformed, format_text("{}: truncated, damaged or no .tar.gz ({})", path, reason(opened.get())));
  }
  auto contents = read_members(opened.get());
  if (!contents) {
    return fail(contents.error().code, format_text("{}: {}", path, contents.error().message));
  }
  return contents;
}

Result<void> write_bundle(const std::string& path, const BundleContents& contents, const std::string& first) {
  LOOM_TRY(check_limits(contents));
  const std::unique_ptr<archive, CloseWriter> opened{archive_write_new()};
  archive_write_add_filter_gzip(opened.get());
  archive_write_set_filter_option(opened.get(), "gzip", "timestamp", nullptr);
  archive_write_set_format_pax_restricted(opened.get());
  const auto failed = [&] {
    return fail(ErrorCode::storage, format_text("cannot write {}: {}", path, reason(opened.get())),
                "give the bundle a path that can be written");
  };
  if (archive_write_open_filename(opened.get(), path.c_str()) != ARCHIVE_OK) {
    return failed();
  }
  LOOM_TRY(write_member(opened.get(), first, contents.at(first)));
  for (const auto& [name, bytes] : contents) {
    if (name != first) {
      LOOM_TRY(write_member(opened.get(), name, bytes));
    }
  }
  return archive_write_close(opened.get()) == ARCHIVE_OK ? Result<void>{} : failed();
}

std::string sha256_of(const std::string& bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace loom::cli
