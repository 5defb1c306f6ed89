// SPDX-License-Identifier: Apache-2.0
// The table. Sheets that state rates with sparsity only are halved; those that state NVLink both ways too.
#include "controller/workload/models/gpus.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr BitRate one_way(std::int64_t gigabytes_both_ways) { return {gigabytes_both_ways * 1'000'000'000 / 2 * 8}; }

constexpr std::array kGpus{
    Gpu{"p100", "NVIDIA Tesla P100 (SXM2), 2016", 10.6, 21.2, 0, 0, 16, one_way(160)},
    Gpu{"v100", "NVIDIA V100 (SXM2, 32 GB), 2018", 15.7, 125, 0, 0, 32, one_way(300)},
    Gpu{"a100", "NVIDIA A100 (SXM4, 80 GB), 2021", 19.5, 312, 312, 0, 80, one_way(600)},
    Gpu{"h100", "NVIDIA H100 (SXM5), 2022", 67, 989.5, 989.5, 1979, 80, one_way(900)},
    Gpu{"h800", "as H100, NVLink 400 GB/s: export variant, rate as DeepSeek-V3 (2.1 of arXiv:2505.09343) has it", 67, 989.5,
        989.5, 1979, 80, one_way(400)},
    Gpu{"h200", "NVIDIA H200 (SXM), 2023", 67, 989.5, 989.5, 1979, 141, one_way(900)},
    Gpu{"b200", "NVIDIA HGX B200 (Blackwell architecture brief), 2024", 80, 2250, 2250, 4500, 180, one_way(1800)},
};

double rate_of(const Gpu& gpu, NumberFormat precision) {
  switch (precision) {
    case NumberFormat::fp32:
      return gpu.fp32;
    case NumberFormat::fp16:
      return gpu.fp16;
    case NumberFormat::bf16:
      return gpu.bf16;
    case NumberFormat::fp8:
      return gpu.fp8;
  }
  return 0;
}

}  // namespace

std::span<const Gpu> gpus() { return kGpus; }

Result<Gpu> gpu_of(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Gpu& each : kGpus) {
    if (each.name == name) {
      return each;
    }
    names.push_back(each.name);
  }
  return fail(ErrorCode::not_found, format_text("no GPU '{}'; did you mean '{}'? loom workload gpus lists them",
                                                name.substr(0, 64), nearest(name, names)));
}

Result<double> flops_of(const Gpu& gpu, NumberFormat precision) {
  if (const double rate = rate_of(gpu, precision); rate > 0) {
    return rate * 1e12;
  }
  std::string able;
  for (const Gpu& each : kGpus) {
    if (rate_of(each, precision) > 0) {
      able += (able.empty() ? "" : ", ") + std::string{each.name};
    }
  }
  return fail(ErrorCode::unsupported,
              format_text("{} has no rate for {}; these have: {}", gpu.name, to_string(precision), able));
}

}  // namespace loom
