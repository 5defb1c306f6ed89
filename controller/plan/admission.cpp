// SPDX-License-Identifier: Apache-2.0
// All, or what runs and then one after the other.
#include "controller/plan/admission.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

using Made = Result<std::shared_ptr<const PlanResult>>;

/// Places that are tried for a job, the first included.
constexpr std::uint32_t kPlacesTried = 4;

bool may_go_elsewhere(const Job& job) { return job.nodes.empty() && job.spec.placement.empty(); }

void insert(std::vector<Job>& jobs, const Job& job) {
  jobs.insert(std::lower_bound(jobs.begin(), jobs.end(), job, [](const Job& a, const Job& b) { return a.id < b.id; }), job);
}

class Admission {
 public:
  Admission(const PlanRequest& request, const PlanAttempt& attempt) : request_(request), attempt_(attempt) {}

  Made run() {
    Made all = attempt_(request_.intent, 0);
    if (is_whole(all)) {
      return all;
    }
    return request_.may_leave_out.empty() ? elsewhere(all) : one_by_one();
  }

 private:
  bool comes(const Job& job) const {
    return std::binary_search(request_.may_leave_out.begin(), request_.may_leave_out.end(), job.id);
  }

  /// Nobody was left out whole.
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
  Made elsewhere(const Made& first) {
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
    std::erase_if(kept.jobs, [&](const Job& job) { return comes(job); });
    Made best = attempt_(kept, 0);
    std::vector<LeftOut> left_out;
    for (const Job& job : request_.intent.jobs) {
      if (!best || !comes(job)) {
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

  /// What was left out is still wanted.
  std::shared_ptr<const PlanResult> with(const std::shared_ptr<const PlanResult>& made, std::vector<LeftOut> left_out) const {
    auto result = std::make_shared<PlanResult>(*made);
    for (const Job& job : request_.intent.jobs) {
      if (std::any_of(left_out.begin(), left_out.end(), [&](const LeftOut& each) { return each.job == job.id; })) {
        insert(result->intent.jobs, job);
      }
    }
    result->left_out.insert(result->left_out.end(), std::make_move_iterator(left_out.begin()),
                            std::make_move_iterator(left_out.end()));
    std::sort(result->left_out.begin(), result->left_out.end(),
              [](const LeftOut& a, const LeftOut& b) { return a.job < b.job; });
    return result;
  }

  const PlanRequest& request_;
  const PlanAttempt& attempt_;
};

}  // namespace

Result<std::shared_ptr<const PlanResult>> admit(const PlanRequest& request, const PlanAttempt& attempt) {
  return Admission(request, attempt).run();
}

}  // namespace loom
