// SPDX-License-Identifier: Apache-2.0
// libarchive both ways, with tar alone: other formats and filters stay off.
#include "runtime/state/key_bundle.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "core/text/format_text.hpp"
#include "runtime/zmq/keys/keyring.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom {
namespace {

constexpr const char* kWhose = "bundle";  // the member that says of which host: "HOST PROCESS\n", or "relay-0 relay-0\n"
constexpr const char* kKeyring = "keyring";
constexpr const char* kController = "controller.pub";
constexpr std::size_t kMemberBytesMax = 1u << 20;
constexpr std::size_t kMembersMax = 8'192;
constexpr std::size_t kBundleBytesMax = 16u << 20;

struct CloseReader {
  void operator()(archive* opened) const { archive_read_free(opened); }
};
struct CloseWriter {
  void operator()(archive* opened) const { archive_write_free(opened); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string public_file(const std::string& key) { return format_text("public {}\n", key); }

bool is_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

constexpr std::string_view kAgents = "agents-";
constexpr std::string_view kRelay = "relay-";

/// "agents-7" or "relay-7": of an agent process, or of a relay.
bool is_own_name(std::string_view name) {
  return (name.starts_with(kAgents) && is_number(name.substr(kAgents.size()))) ||
         (name.starts_with(kRelay) && is_number(name.substr(kRelay.size())));
}

/// The same, or the file of its public half.
bool names_process(std::string_view name) {
  constexpr std::string_view kPublic = ".pub";
  return is_own_name(name.ends_with(kPublic) ? name.substr(0, name.size() - kPublic.size()) : name);
}

/// The name of the pair of a host, or of a relay that is called by it. Errors: as process_of().
Result<std::string> own_of(const StateFolder& files, const std::string& host) {
  std::error_code ignored;
  if (host.starts_with(kRelay) && is_own_name(host) && std::filesystem::exists(files.key(host), ignored)) {
    return host;
  }
  if (host.starts_with(kRelay) && is_own_name(host)) {
    return fail(ErrorCode::not_found, format_text("{} has no pair of {}; keys were made for fewer relays", files.keys(), host),
                "loom keys generate SCENARIO");
  }
  const auto process = process_of(files, host);
  return process ? Result<std::string>(format_text("{}{}", kAgents, *process)) : std::unexpected(process.error());
}

/// Whom an agent listens to: its like, and whoever may order darkness.
Keyring keyring_for_agents(const Keyring& all) {
  Keyring chosen;
  for (const Grant& grant : all.grants()) {
    if (grant.role != Role::viewer) {
      LOOM_ASSERT(chosen.add(grant).has_value());
    }
  }
  return chosen;
}

std::string reason(archive* opened) {
  const char* text = archive_error_string(opened);
  return text == nullptr ? "unreadable" : text;
}

Result<void> add_member(archive* opened, const std::string& name, const std::string& text) {
  const std::unique_ptr<archive_entry, FreeEntry> entry{archive_entry_new()};
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0600);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
  const bool is_written = archive_write_header(opened, entry.get()) == ARCHIVE_OK &&
                          archive_write_data(opened, text.data(), text.size()) == static_cast<la_ssize_t>(text.size());
  return is_written ? Result<void>{} : fail(ErrorCode::storage, format_text("cannot pack {}: {}", name, reason(opened)));
}

Result<std::string> packed(const KeyBundle& bundle) {
  std::size_t room = 1u << 20;
  for (const auto& [name, text] : bundle.files) {
    room += text.size() + 2'048;
  }
  std::string bytes(room, '\0');
  std::size_t used = 0;
  const std::unique_ptr<archive, CloseWriter> opened{archive_write_new()};
  archive_write_set_format_ustar(opened.get());
  if (archive_write_open_memory(opened.get(), bytes.data(), bytes.size(), &used) != ARCHIVE_OK) {
    return fail(ErrorCode::storage, "cannot pack keys: " + reason(opened.get()));
  }
  LOOM_TRY(add_member(
      opened.get(), kWhose,
      format_text("{} {}\n", bundle.host, bundle.own.starts_with(kAgents) ? bundle.own.substr(kAgents.size()) : bundle.own)));
  for (const auto& [name, text] : bundle.files) {
    LOOM_TRY(add_member(opened.get(), name, text));
  }
  if (archive_write_close(opened.get()) != ARCHIVE_OK) {
    return fail(ErrorCode::storage, "cannot pack keys: " + reason(opened.get()));
  }
  bytes.resize(used);
  return bytes;
}

/// Whatever lies around it: the file itself is nobody else's.
Result<std::string> private_bytes(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    return errno == ENOENT
               ? fail(ErrorCode::not_found, file.string() + " does not exist", "loom keys bundle HOST -o FILE")
               : fail(ErrorCode::refused, format_text("{} cannot be opened: {}", file.string(), std::strerror(errno)));
  }
  struct stat status{};
  const bool is_known = ::fstat(descriptor, &status) == 0;
  ::close(descriptor);
  if (!is_known || !S_ISREG(status.st_mode) || (status.st_mode & 0077U) != 0 || status.st_uid != ::geteuid()) {
    return fail(ErrorCode::refused,
                format_text("{} holds a secret key and is not a file of this user alone (mode 600)", file.string()),
                "chmod 600 " + file.string());
  }
  if (static_cast<std::size_t>(status.st_size) > kBundleBytesMax) {
    return fail(ErrorCode::malformed,
                format_text("{} has {} bytes, a key bundle at most {}", file.string(), status.st_size, kBundleBytesMax));
  }
  std::ifstream stream(file, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(stream), {}};
}

bool may_be_member(std::string_view name) {
  return name == kWhose || name == kKeyring || name == kController || names_process(name);
}

Result<std::string> read_member(archive* opened, const std::string& name) {
  std::string text;
  std::array<char, 4'096> block{};
  for (la_ssize_t got = 1; got > 0;) {
    got = archive_read_data(opened, block.data(), block.size());
    if (got < 0 || text.size() > kMemberBytesMax) {
      return fail(ErrorCode::malformed, got < 0 ? format_text("{}: {}", name, reason(opened))
                                                : format_text("{} has more than {} bytes", name, kMemberBytesMax));
    }
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Result<std::map<std::string, std::string>> members_of(const std::string& bytes) {
  const std::unique_ptr<archive, CloseReader> opened{archive_read_new()};
  archive_read_support_format_tar(opened.get());
  if (archive_read_open_memory(opened.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    return fail(ErrorCode::malformed, "no key bundle: " + reason(opened.get()));
  }
  std::map<std::string, std::string> members;
  archive_entry* entry = nullptr;
  for (int status = archive_read_next_header(opened.get(), &entry); status != ARCHIVE_EOF;
       status = archive_read_next_header(opened.get(), &entry)) {
    if (status != ARCHIVE_OK) {
      return fail(ErrorCode::malformed, "no key bundle, or a damaged one: " + reason(opened.get()));
    }
    const char* raw = archive_entry_pathname(entry);
    const std::string name = raw == nullptr ? "" : raw;
    const bool is_file = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
    if (!is_file || !may_be_member(name) || members.contains(name) || members.size() == kMembersMax) {
      return fail(ErrorCode::malformed, "no key bundle: it has a member that none has, or one twice");
    }
    auto text = read_member(opened.get(), name);
    if (!text) {
      return std::unexpected(std::move(text).error());
    }
    members.emplace(name, *std::move(text));
  }
  return members;
}

}  // namespace

std::optional<std::uint32_t> KeyBundle::process() const {
  std::uint32_t number = 0;
  const std::string_view digits = std::string_view(own).substr(std::min(own.size(), kAgents.size()));
  (void)std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return own.starts_with(kAgents) ? std::optional(number) : std::nullopt;
}

Result<KeyBundle> make_key_bundle(const StateFolder& files, const std::string& host) {
  auto called = own_of(files, host);
  if (!called) {
    return std::unexpected(called.error());
  }
  KeyBundle bundle{host, *std::move(called), {}};
  std::string missing;
  const auto keyring = load_keyring(files.keyring());
  const auto own = load_keys(files.key(bundle.own));
  const auto controller = load_public_key(files.controller_key() + ".pub");
  for (const auto& [found, name] :
       {std::pair{keyring.has_value(), files.keyring()}, std::pair{own.has_value(), files.key(bundle.own)},
        std::pair{controller.has_value(), files.controller_key() + ".pub"}}) {
    missing += found ? "" : (missing.empty() ? "" : ", ") + name;
  }
  if (!missing.empty()) {
    return fail(ErrorCode::not_found, format_text("a bundle for host '{}' lacks: {}; nothing was written", host, missing),
                "loom keys generate SCENARIO");
  }
  const Grant* grant = keyring->find(own->public_key);
  if (grant == nullptr || grant->role != Role::agent) {
    return fail(ErrorCode::refused, format_text("the keyring does not grant the key of {} to an agent", bundle.own),
                format_text("loom keys grant {} --role {} --nodes FIRST-LAST", bundle.own,
                            bundle.own.starts_with(kRelay) ? "relay" : "agent"));
  }
  bundle.files[bundle.own] = format_text("public {}\nsecret {}\n", own->public_key, own->secret_key);
  bundle.files[kController] = public_file(*controller);
  const Keyring known = keyring_for_agents(*keyring);
  bundle.files[kKeyring] = known.to_text();
  for (const Grant& each : known.grants()) {
    if (each.role == Role::agent && is_own_name(each.principal)) {
      bundle.files[each.principal + ".pub"] = public_file(each.public_key);
    }
  }
  return bundle;
}

Result<void> write_key_bundle(const std::filesystem::path& file, const KeyBundle& bundle) {
  const auto bytes = packed(bundle);
  if (!bytes) {
    return std::unexpected(bytes.error());
  }
  return write_whole_file({file, *bytes, 0600, false});
}

Result<KeyBundle> read_key_bundle(const std::filesystem::path& file) {
  const auto bytes = private_bytes(file);
  if (!bytes) {
    return std::unexpected(bytes.error());
  }
  auto members = members_of(*bytes);
  if (!members) {
    return fail(members.error().code, format_text("{}: {}", file.string(), members.error().message));
  }
  const std::string whose = (*members)[kWhose];
  members->erase(kWhose);
  const auto blank = whose.find(' ');
  std::string own = blank == std::string::npos ? "" : whose.substr(blank + 1, whose.find('\n') - blank - 1);
  own = is_number(own) ? std::string(kAgents) + own : own;
  if (!is_own_name(own) || !members->contains(own) || !members->contains(kKeyring) || !members->contains(kController)) {
    return fail(ErrorCode::malformed, format_text("{}: no key bundle: it has no own pair, no keyring, no controller's key, or "
                                                  "does not say of which host it is",
                                                  file.string()));
  }
  return KeyBundle{whose.substr(0, blank), std::move(own), *std::move(members)};
}

Result<std::vector<std::string>> unpack(const KeyBundle& bundle, const StateFolder& files) {
  const auto has_file = [&](const std::string& name) {
    std::error_code ignored;
    return std::filesystem::exists(files.key(name), ignored);
  };
  std::error_code problem;
  for (std::filesystem::directory_iterator it(files.keys(), problem), end; !problem && it != end; it.increment(problem)) {
    const std::string name = it->path().filename().string();
    if (is_own_name(name) && name != bundle.own) {
      return fail(ErrorCode::refused,
                  format_text("{} has the pair of {} already; the bundle is of host '{}', {}; nothing was changed",
                              files.keys(), name, bundle.host, bundle.own),
                  "give each host a state folder of its own: --state DIR");
    }
  }
  std::vector<std::string> changed;
  for (const auto& [name, text] : bundle.files) {
    std::ifstream before(files.key(name), std::ios::binary);
    if (has_file(name) && text == std::string{std::istreambuf_iterator<char>(before), {}}) {
      continue;
    }
    LOOM_TRY(write_whole_file({files.key(name), text, 0600, true}));
    changed.push_back(name);
  }
  return changed;
}

}  // namespace loom
