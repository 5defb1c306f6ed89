// SPDX-License-Identifier: Apache-2.0
// Rules about light. Jobs whose lasers never retune are judged together, once; a job with timeslots is judged timeslot by
// timeslot, with the others' light beside it at its worst, since timelines of different jobs are not aligned.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

double to_db(double ratio) { return 10 * std::log10(std::max(ratio, 1e-12)); }

std::string text_of(double value) {
  const std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + 3);
}

/// Jobs are numbered by their place in the plan's circuits; 0 is light of no job. Lasers that are left alone while the light
/// of their job is laid anew count from another beginning than the others: they have a number of their own.
using JobNumber = std::uint32_t;
constexpr JobNumber kNobody = ~JobNumber{0};

/// Total power at the input of every amplifier and receiver, by element; then at the end of every fibre, by fibre.
using Tally = std::vector<double>;

class LightRules {
 public:
  LightRules(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Settings& settings, Faults& faults)
      : fabric_(fabric),
        order_(order),
        plan_(plan),
        settings_(settings),
        faults_(faults),
        tracer_(fabric, order, settings, faults),
        circuits_of_(fabric.elements.size()),
        job_of_(fabric.elements.size(), 0),
        was_lit_(plan.circuits.size()),
        receptions_(plan.circuits.size()),
        expected_(fabric.elements.size()),
        fibre_job_(fabric.fibres.size(), 0),
        fibre_shared_(fabric.fibres.size()),
        alone_(fabric.fibres.size(), 0.0) {}

  LightFound run() {
    index_circuits();
    group_sources();
    Field still = tracer_.trace(still_);
    const Tally still_tally = tally(still);
    std::vector<Tally> worst(moving_.size(), darkness());
    for (std::size_t job = 0; moving_.size() > 1 && job < moving_.size(); ++job) {
      for (const std::vector<Lit>& lights : moments_of(moving_[job])) {
        raise(worst[job], tally(tracer_.trace(lights)));
      }
    }
    for (const std::vector<const Source*>& sources : granted_) {
      worst.push_back(worst_of_granted(sources));
    }
    for (std::size_t job = 0; job < moving_.size(); ++job) {
      const Tally beside = sum_except(worst, job, still_tally);
      for (const std::vector<Lit>& lights : moments_of(moving_[job])) {  // fields are large: made again, not kept
        const Field field = tracer_.trace(lights);
        raise(worst[job], tally(field));
        judge(lights, field, beside);
      }
    }
    for (std::size_t job = 0; job < granted_.size(); ++job) {
      judge_granted(job, sum_except(worst, moving_.size() + job, still_tally));
    }
    judge(still_, still, sum_except(worst, worst.size(), darkness()));
    judge_powers(sum_except(worst, worst.size(), still_tally));
    check_all_lit();
    check_certificate();
    LightFound found{std::move(receptions_), std::nullopt};
    if (moving_.empty() && granted_.empty()) {
      found.standing = std::move(still);
    }
    return found;
  }

 private:
  void index_circuits() {
    std::map<JobId, JobNumber> numbers;
    for (const Circuit& circuit : plan_.circuits) {
      numbers.emplace(circuit.job, static_cast<JobNumber>(numbers.size() + 1));
    }
    jobs_ = numbers.size();
    const std::set<JobId> anew = jobs_laid_anew();
    std::map<JobId, JobNumber> apart;
    for (std::size_t i = 0; i < plan_.circuits.size(); ++i) {
      const Circuit& circuit = plan_.circuits[i];
      JobNumber number = numbers.at(circuit.job);
      if (const DevicePlan* laser = anew.empty() ? nullptr : laser_of(circuit);
          laser != nullptr && laser->left_alone && anew.contains(circuit.job)) {
        const auto [own, is_new] = apart.emplace(circuit.job, static_cast<JobNumber>(jobs_ + 1));
        jobs_ += is_new ? 1 : 0;
        stays_of_[own->second] = number;
        number = own->second;
      }
      JobNumber& job = job_of_[circuit.transmitter.value];
      if (job != 0 && job != number) {
        faults_.add(rules::kJobIsolation, [&] {
          return format_text("{} serves two jobs, one of them job {}", fabric_.element(circuit.transmitter).name,
                             circuit.job.value);
        });
      }
      job = number;
      circuits_of_[circuit.transmitter.value].push_back(i);
    }
    is_granted_.resize(jobs_ + 1);
    for (const NodePlan& slice : plan_.nodes) {
      if (const auto number = slice.grants ? numbers.find(slice.grants->job) : numbers.end(); number != numbers.end()) {
        is_granted_[number->second] = true;
      }
    }
  }

  const DevicePlan* laser_of(const Circuit& circuit) const {
    const auto device = fabric_.device_of_element[circuit.transmitter.value];
    return device ? settings_.devices[device->value] : nullptr;
  }

  /// In timeslots, beside lasers that are left alone.
  std::set<JobId> jobs_laid_anew() const {
    std::set<JobId> jobs;
    if (std::ranges::none_of(settings_.devices,
                             [](const DevicePlan* device) { return device != nullptr && device->left_alone; })) {
      return jobs;
    }
    for (const Circuit& circuit : plan_.circuits) {
      const DevicePlan* laser = laser_of(circuit);
      if (laser != nullptr && laser->touched && laser->timeline.back().hold != kForever) {
        jobs.insert(circuit.job);
      }
    }
    return jobs;
  }

  void group_sources() {
    std::vector<bool> moves(jobs_ + 1);
    for (const Source& source : settings_.sources) {
      if (!source.emissions.empty() && !source.is_static()) {
        moves[job_of_[source.transmitter.value]] = true;
      }
    }
    std::map<JobNumber, std::vector<const Source*>> groups;
    for (const Source& source : settings_.sources) {
      const JobNumber job = job_of_[source.transmitter.value];
      if (source.emissions.empty()) {
        continue;
      }
      if (moves[job]) {
        groups[job].push_back(&source);
      } else {
        const Emission& emission = source.emissions[0];
        still_.push_back({source.transmitter, emission.laser.slot, emission.power()});
      }
    }
    for (auto& [job, sources] : groups) {
      (is_granted_[job] ? granted_ : moving_).push_back(std::move(sources));
    }
    if (!moving_.empty() || !granted_.empty()) {
      owner_.resize(fabric_.fibres.size() * std::max<std::size_t>(1, tracer_.colours().size()), 0);
    }
  }

  /// Light of one laser under grants at its worst everywhere but at the receiver that it is for: there it is alone, which is
  /// what the arbiter is for.
  Tally worst_of_granted(const Source& source) {
    Tally worst = darkness();
    for (const Emission& emission : source.emissions) {
      Tally here = tally(tracer_.trace({{source.transmitter, emission.laser.slot, emission.power()}}));
      for (const std::size_t index : circuits_of_[source.transmitter.value]) {
        if (plan_.circuits[index].slot == emission.laser.slot) {
          take_alone(here, plan_.circuits[index].receiver);
        }
      }
      raise(worst, here);
    }
    return worst;
  }

  /// All of them at once.
  Tally worst_of_granted(const std::vector<const Source*>& sources) {
    Tally sum = darkness();
    for (const Source* source : sources) {
      const Tally one = worst_of_granted(*source);
      std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
    }
    return sum;
  }

  /// Each light that a table allows: alone, and beside everything else that may be lit at that time.
  void judge_granted(std::size_t job, const Tally& others) {
    const Tally all = worst_of_granted(granted_[job]);
    for (const Source* source : granted_[job]) {
      const Tally own = worst_of_granted(*source);
      Tally beside = others;
      for (std::size_t i = 0; i < beside.size(); ++i) {
        beside[i] += std::max(0.0, all[i] - own[i]);
      }
      for (const Emission& emission : source->emissions) {
        const std::vector<Lit> light{{source->transmitter, emission.laser.slot, emission.power()}};
        const Field field = tracer_.trace(light);
        judge(light, field, darkness());
        judge(light, field, beside);
      }
    }
  }

  /// What is lit in each stretch of a job's timeline in which the same transmitters emit.
  static std::vector<std::vector<Lit>> moments_of(const std::vector<const Source*>& sources) {
    std::set<Duration> borders;
    for (const Source* source : sources) {
      for (const Emission& emission : source->emissions) {
        borders.insert(emission.begin);
        borders.insert(emission.end);
      }
    }
    const std::vector<Duration> at(borders.begin(), borders.end());
    std::vector<std::vector<Lit>> moments(at.empty() ? 0 : at.size() - 1);
    for (const Source* source : sources) {
      for (const Emission& emission : source->emissions) {
        const auto first = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), emission.begin) - at.begin());
        for (std::size_t i = first; i < moments.size() && at[i] < emission.end; ++i) {
          moments[i].push_back({source->transmitter, emission.laser.slot, emission.power()});
        }
      }
    }
    std::erase_if(moments, [](const std::vector<Lit>& lights) { return lights.empty(); });
    return moments;
  }

  Tally darkness() const { return Tally(fabric_.elements.size() + fabric_.fibres.size(), 0.0); }
  std::size_t place_of(FibreId fibre) const { return fabric_.elements.size() + fibre.value; }

  Tally tally(const Field& field) const {
    Tally result = darkness();
    for (const Fibre& fibre : fabric_.fibres) {
      const double power = field.power_on(fibre.id);
      result[place_of(fibre.id)] = power;
      if (order_.is_measured[fibre.id.value]) {
        result[fibre.to.element.value] += power;
      }
    }
    return result;
  }

  /// At a receiver, and in the fibre to it, granted lights come one at a time: the arbiter is for that.
  void take_alone(Tally& here, ElementId receiver) {
    here[receiver.value] = 0;
    if (const auto& fibre = fabric_.fibre_in[receiver.value][0]) {
      double& power = here[place_of(*fibre)];
      alone_[fibre->value] = std::max(alone_[fibre->value], std::exchange(power, 0.0));
    }
  }

  void judge_powers(const Tally& sum) {
    std::vector<double> powers(sum.begin() + static_cast<std::ptrdiff_t>(fabric_.elements.size()), sum.end());
    std::transform(powers.begin(), powers.end(), alone_.begin(), powers.begin(), std::plus<>());
    check_powers(fabric_, plan_, settings_, tracer_, powers, faults_);
  }

  static void raise(Tally& worst, const Tally& now) {
    std::transform(now.begin(), now.end(), worst.begin(), worst.begin(), [](double a, double b) { return std::max(a, b); });
  }

  static Tally sum_except(const std::vector<Tally>& tallies, std::size_t except, Tally sum) {
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      for (std::size_t k = 0; i != except && k < sum.size(); ++k) {
        sum[k] += tallies[i][k];
      }
    }
    return sum;
  }

  /// `beside`: power of everybody else's light at amplifiers and receivers, at its worst.
  void judge(const std::vector<Lit>& lights, const Field& field, const Tally& beside) {
    expect(lights);
    for (const Fibre& fibre : fabric_.fibres) {
      if (field.signals.on(fibre.id).empty()) {
        continue;
      }
      occupy(fibre, field);
      if (!order_.is_measured[fibre.id.value]) {
        continue;
      }
      const Element& to = fabric_.element(fibre.to.element);
      if (const auto* amplifier = std::get_if<Amplifier>(&to.kind)) {
        check_amplifier(to, *amplifier, field.power_on(fibre.id), beside[to.id.value]);
      } else if (const auto* receiver = std::get_if<Receiver>(&to.kind)) {
        check_receiver(to, *receiver, field, fibre.id, beside[to.id.value]);
      }
    }
    for (const std::size_t index : awaited_) {
      const Circuit& circuit = plan_.circuits[index];
      if (expected_[circuit.receiver.value] == index) {  // nobody took it off the list: it never came
        faults_.add(rules::kContinuity, [&] {
          return format_text("circuit {}: {} of {} does not reach {}", circuit.id.value, to_string(centre_of(circuit.slot)),
                             fabric_.element(circuit.transmitter).name, fabric_.element(circuit.receiver).name);
        });
      }
      expected_[circuit.receiver.value] = std::nullopt;
    }
    awaited_.clear();
  }

  /// Which circuits these lights are, and whom each receiver should hear.
  void expect(const std::vector<Lit>& lights) {
    for (const Lit& light : lights) {
      std::uint32_t found = 0;
      for (const std::size_t index : circuits_of_[light.transmitter.value]) {
        const Circuit& circuit = plan_.circuits[index];
        if (circuit.slot != light.slot) {
          continue;
        }
        was_lit_[index] = true;
        auto& expected = expected_[circuit.receiver.value];
        if (++found > 1 || expected) {
          faults_.add(rules::kEndpointOnce, [&] {
            return format_text("{} is in circuit {} and in another one at the same time",
                               fabric_.element(found > 1 ? circuit.transmitter : circuit.receiver).name, circuit.id.value);
          });
        }
        if (!expected) {
          expected = index;
          awaited_.push_back(index);
        }
      }
      if (found == 0 && !settings_.by_hand[light.transmitter.value]) {
        faults_.add(rules::kStrayLight, [&] {
          return format_text("{} emits at {} for no circuit", fabric_.element(light.transmitter).name,
                             to_string(centre_of(light.slot)));
        });
      }
    }
  }

  void occupy(const Fibre& fibre, const Field& field) {
    for (const Cell& cell : field.signals.on(fibre.id)) {
      const JobNumber job = job_of_[cell.source] == 0 ? kNobody : job_of_[cell.source];
      if (!owner_.empty()) {
        JobNumber& owner = owner_[fibre.id.value * tracer_.colours().size() + cell.colour];
        if (owner != 0 && owner != job) {
          report_meeting(fibre, tracer_.colours()[cell.colour]);
        }
        owner = job;
      }
      if (settings_.by_hand[cell.source]) {
        continue;  // the certificate speaks of jobs; a measurement by hand is none
      }
      const auto stays = stays_of_.find(job);
      const JobNumber certified = stays == stays_of_.end() ? job : stays->second;
      JobNumber& first = fibre_job_[fibre.id.value];
      first = first == 0 ? certified : first;
      fibre_shared_[fibre.id.value] = fibre_shared_[fibre.id.value] || first != certified;
    }
  }

  /// Timelines of two jobs are not aligned: what shares a segment at any time may meet there.
  void report_meeting(const Fibre& fibre, FrequencySlot slot) {
    const Element& from = fabric_.element(fibre.from.element);
    const auto evidence = [&] {
      return format_text(
          "fibre {} after {} carries {} of two jobs, of a job and of nobody, or of a laser that goes on beside its job",
          fibre.id.value, from.name, to_string(centre_of(slot)));
    };
    faults_.add(rules::kJobIsolation, evidence);
    faults_.add(rules::kOncePerSegment, evidence);
    if (std::holds_alternative<Coupler>(from.kind)) {
      faults_.add(rules::kOncePerCoupler, evidence);
    }
  }

  /// Of an amplifier that carries a signal.
  void check_amplifier(const Element& element, const Amplifier& amplifier, double power, double beside) {
    const Dbm input = to_dbm(Milliwatt{power + beside});
    if (!is_in_range(amplifier, power + beside)) {
      faults_.add(rules::kAmplifierInput, [&] {
        return format_text("{}: {} at its input, allowed {} to {}", element.name, to_string(input),
                           to_string(amplifier.input_min), to_string(amplifier.input_max));
      });
    }
  }

  /// Of light that was measured to arrive weaker than its figures say.
  double shortfall(const Circuit& circuit) const {
    return linear(std::min(settings_.offset(circuit.transmitter, circuit.slot), Db{0}));
  }

  void check_receiver(const Element& element, const Receiver& receiver, const Field& field, FibreId fibre, double beside) {
    if (!fabric_.node_of_element[element.id.value]) {
      return;  // nobody's: a monitor looks at whatever comes to it, and no circuit ends there
    }
    auto& expected = expected_[element.id.value];
    double signal = 0;
    double other = beside + field.leaks[fibre.value];
    for (const Cell& cell : field.signals.on(fibre)) {
      if (expected && cell.source == plan_.circuits[*expected].transmitter.value) {
        signal = cell.mw * shortfall(plan_.circuits[*expected]);
      } else {
        other += cell.mw;
        if (!expected && settings_.by_hand[cell.source]) {
          continue;  // a measurement by hand on a receiver that waits for nobody
        }
        faults_.add(rules::kStrayLight, [&] {
          return format_text("{} receives {} at {} in no circuit", element.name, fabric_.elements[cell.source].name,
                             to_string(centre_of(tracer_.colours()[cell.colour])));
        });
      }
    }
    if (signal <= 0) {
      return;
    }
    Reception& reception = receptions_[*expected];
    reception.signal_mw = reception.signal_mw > 0 ? std::min(reception.signal_mw, signal) : signal;
    reception.crosstalk = std::max(reception.crosstalk, other / signal);
    expected = std::nullopt;
    if (!is_in_range(receiver, signal)) {
      faults_.add(rules::kLinkBudget, [&] {
        return format_text("{} receives {}, allowed {} to {}", element.name, to_string(to_dbm(Milliwatt{signal})),
                           to_string(receiver.sensitivity), to_string(receiver.overload));
      });
    }
    if (other > signal * kCrosstalkLimit) {
      faults_.add(rules::kCrosstalk, [&] {
        return format_text("{}: in-band crosstalk of {} dB, limit {} dB", element.name, text_of(to_db(other / signal)),
                           text_of(to_db(kCrosstalkLimit)));
      });
    }
  }

  void check_all_lit() {
    for (std::size_t i = 0; i < plan_.circuits.size(); ++i) {
      const Circuit& circuit = plan_.circuits[i];
      if (!was_lit_[i]) {
        faults_.add(rules::kContinuity, [&] {
          return format_text("circuit {}: {} never emits at {}", circuit.id.value, fabric_.element(circuit.transmitter).name,
                             to_string(centre_of(circuit.slot)));
        });
      }
    }
  }

  void check_certificate() {
    IsolationCertificate certificate;
    for (const ElementId amplifier : order_.amplifiers) {
      if (const auto& fibre = fabric_.fibre_in[amplifier.value][0]; fibre && fibre_shared_[fibre->value]) {
        certificate.shared_amplifiers.push_back(amplifier);
      }
    }
    const bool fibre_shared = std::find(fibre_shared_.begin(), fibre_shared_.end(), true) != fibre_shared_.end();
    certificate.physically_isolated = !fibre_shared;
    const IsolationCertificate& claimed = plan_.certificate;
    if (!claimed.wavelength_isolated || claimed.physically_isolated != certificate.physically_isolated ||
        claimed.shared_amplifiers != certificate.shared_amplifiers) {
      faults_.add(rules::kJobIsolation, [&] {
        return format_text(
            "the certificate says wavelength_isolated {}, physically_isolated {}, shared amplifiers {}; the light says 1, {}, "
            "{}",
            std::to_string(claimed.wavelength_isolated), std::to_string(claimed.physically_isolated),
            claimed.shared_amplifiers.size(), std::to_string(certificate.physically_isolated),
            certificate.shared_amplifiers.size());
      });
    }
  }

  const Fabric& fabric_;
  const LightOrder& order_;
  const Plan& plan_;
  const Settings& settings_;
  Faults& faults_;
  LightTracer tracer_;
  PerElement<std::vector<std::size_t>> circuits_of_;  ///< by transmitter element: indices into the plan's circuits
  std::vector<JobNumber> job_of_;                     ///< by transmitter element
  std::size_t jobs_ = 0;
  std::map<JobNumber, JobNumber> stays_of_;           ///< a laser that is left alone -> the number of its job
  std::vector<bool> was_lit_;                         ///< by circuit
  std::vector<Reception> receptions_;                 ///< by circuit
  std::vector<std::optional<std::size_t>> expected_;  ///< by receiver: the circuit that it should hear now
  std::vector<std::size_t> awaited_;                  ///< circuits of the moment under judgement
  std::vector<Lit> still_;
  std::vector<std::vector<const Source*>> moving_;   ///< by job with timeslots
  std::vector<std::vector<const Source*>> granted_;  ///< by job under grants
  std::vector<bool> is_granted_;                     ///< by job number
  std::vector<JobNumber> owner_;  ///< [fibre x colour]; none where all light stands: it meets at once or never
  std::vector<JobNumber> fibre_job_;
  std::vector<bool> fibre_shared_;
  std::vector<double> alone_;  ///< by fibre to a receiver: the strongest light under grants, mW
};

}  // namespace

bool is_in_range(const Amplifier& amplifier, double power) {
  const Dbm input = to_dbm(Milliwatt{power});
  return input >= amplifier.input_min && input <= amplifier.input_max;
}

bool is_in_range(const Receiver& receiver, double signal) {
  const Dbm power = to_dbm(Milliwatt{signal});
  return power >= receiver.sensitivity && power <= receiver.overload;
}

LightFound check_light(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Settings& settings,
                       Faults& faults) {
  return LightRules(fabric, order, plan, settings, faults).run();
}

}  // namespace loom::verifying
