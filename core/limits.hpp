// A limit on every input, in one place. Whoever refuses something prints the limit and its name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loom::limits {

inline constexpr std::size_t kNodes = 65'536;
inline constexpr std::size_t kElements = 4'194'304;
inline constexpr std::size_t kFibres = 8'388'608;
inline constexpr std::size_t kDevicesPerNode = 256;
inline constexpr std::size_t kTimelineEntries = 4'096;      ///< timeslots of one device in one revision
inline constexpr std::size_t kWssRoutes = 1'024;            ///< frequency slots of one WSS
inline constexpr std::size_t kRingsPerBank = 64;
inline constexpr std::size_t kMessageBytes = 4u << 20;      ///< one envelope on the wire
inline constexpr std::size_t kFrameBytes = 64u << 20;       ///< a batch of envelopes
inline constexpr std::size_t kEnvelopesPerFrame = 65'536;
inline constexpr std::size_t kTextBytes = 4'096;            ///< any human-readable field
inline constexpr std::size_t kCollectivesPerJob = 65'536;
inline constexpr std::size_t kJobs = 4'096;
inline constexpr std::size_t kConfigFileBytes = 16u << 20;
inline constexpr std::size_t kTraceFileBytes = 1u << 30;
inline constexpr std::size_t kObservationsPerReport = 4'096;

}  // namespace loom::limits
