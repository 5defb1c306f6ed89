// All, or what runs and then one after the other.
#include "controller/plan/admission.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace loom {
namespace {

using Made = Result<std::shared_ptr<const PlanResult>>;

/// Places that are tried for a job, the first included.
constexpr std::uint32_t kPlacesTried = 4;

std::set<JobId> jobs_in_light(const Plan* base) {
  std::set<JobId> jobs;
  for (std::size_t i = 0; base != nullptr && i < base->circuits.size(); ++i) {
    jobs.insert(base->circuits[i].job);
  }
  return jobs;
}

bool may_go_elsewhere(const Job& job) { return job.nodes.empty() && job.spec.placement.empty(); }

void insert(std::vector<Job>& jobs, const Job& job) {
  jobs.insert(std::lower_bound(jobs.begin(), jobs.end(), job, [](const Job& a, const Job& b) { return a.id < b.id; }), job);
}

class Admission {
 public:
  Admission(const PlanRequest& request, const PlanAttempt& attempt)
      : request_(request), attempt_(attempt), in_light_(jobs_in_light(request.base.get())) {}

  Made run() {
    Made all = attempt_(request_.intent, 0);
    const auto comes = [&](const Job& job) { return !in_light_.contains(job.id); };
    const auto& jobs = request_.intent.jobs;
    if (is_whole(all) || std::none_of(jobs.begin(), jobs.end(), comes)) {
      return all;
    }
    return request_.may_leave_out ? one_by_one() : elsewhere(std::move(all));
  }

 private:
  /// Nobody who comes was left out.
  bool is_whole(const Made& made) const {
    return made &&
           std::all_of((*made)->left_out.begin(), (*made)->left_out.end(), [](const LeftOut& each) { return each.in_part; });
  }

  static Made refusal_of(const Made& made) {
    if (!made) {
      return std::unexpected(made.error());
    }
    const auto whole =
        std::find_if((*made)->left_out.begin(), (*made)->left_out.end(), [](const LeftOut& each) { return !each.in_part; });
    return std::unexpected(whole->why);
  }

  /// All of it, with other places for what has none yet.
  Made elsewhere(Made first) {
    const auto& jobs = request_.intent.jobs;
    for (std::uint32_t place = 1; place < kPlacesTried && std::any_of(jobs.begin(), jobs.end(), may_go_elsewhere); ++place) {
      if (Made made = attempt_(request_.intent, place); is_whole(made)) {
        return made;
      }
    }
    return refusal_of(first);
  }

  Made one_by_one() {
    Intent kept = request_.intent;
    std::erase_if(kept.jobs, [&](const Job& job) { return !in_light_.contains(job.id); });
    Made best = attempt_(kept, 0);
    std::vector<LeftOut> left_out;
    for (const Job& job : request_.intent.jobs) {
      if (!best || in_light_.contains(job.id)) {
        continue;
      }
      Intent wider = kept;
      insert(wider.jobs, job);
      Made made = attempt_(wider, 0);
      for (std::uint32_t place = 1; place < kPlacesTried && !is_whole(made) && may_go_elsewhere(job); ++place) {
        if (Made other = attempt_(wider, place); is_whole(other)) {
          made = std::move(other);
        }
      }
      if (is_whole(made)) {
        best = std::move(made);
        kept.jobs = (*best)->intent.jobs;  // it stays where it was put
      } else {
        left_out.push_back(left_out_of(job, made));
      }
    }
    return best ? with(*best, std::move(left_out)) : best;
  }

  static LeftOut left_out_of(const Job& job, const Made& made) {
    if (!made) {
      return {job.id, made.error(), false, {}, {}};
    }
    const auto& rows = (*made)->left_out;
    const auto own = std::find_if(rows.begin(), rows.end(), [&](const LeftOut& each) { return each.job == job.id; });
    return own != rows.end() ? *own : LeftOut{job.id, refusal_of(made).error(), false, {}, {}};
  }

  static std::shared_ptr<const PlanResult> with(const std::shared_ptr<const PlanResult>& made, std::vector<LeftOut> left_out) {
    auto result = std::make_shared<PlanResult>(*made);
    result->left_out.insert(result->left_out.end(), std::make_move_iterator(left_out.begin()),
                            std::make_move_iterator(left_out.end()));
    std::sort(result->left_out.begin(), result->left_out.end(),
              [](const LeftOut& a, const LeftOut& b) { return a.job < b.job; });
    return result;
  }

  const PlanRequest& request_;
  const PlanAttempt& attempt_;
  std::set<JobId> in_light_;
};

}  // namespace

Result<std::shared_ptr<const PlanResult>> admit(const PlanRequest& request, const PlanAttempt& attempt) {
  return Admission(request, attempt).run();
}

}  // namespace loom
