// The launches of one queue as a cycle that repeats, judged as a whole. Pure.
//
// Launches pass by one after another. Once they are seen to repeat (solver/sequence.h), each place
// of the cycle gets a profile of its kernel's load and, from the planner's regions, what the middle
// section of its work-groups needs and writes of each buffer. Where one launch needs in a section
// what another wrote in the same section, a cut that differs between the two moves bytes: that is a
// link. A kernel that goes home alone then costs its neighbours more than it gains, and one that is
// split alone drags the data after it; so where links weigh, no kernel decides by itself any more,
// and shares stay as they are while they are timed. The cycle begins with one kernel's shares for
// all of them, or with each its own, whichever promises more. Then come joint shares, each its own
// and all at home, each only if it promises to be faster, and joint shares only when the cycles so
// far would have been worth the moving; the fastest stays, and is reviewed ever more rarely, or
// when it became slower than home.
//
//     Free -> Joint or Own -> Joint -> Own -> Home -> Settled -> the settled one -> ...
//
// Where somebody looks ahead (outlook.h), the launches of a cycle stay at home until they are known
// to gain by being split, and to have gone round often enough for that to be worth bringing their
// data there; then they begin with the shares of the outlook, all at once. What none of them writes
// is sent ahead, beside launches at home: all that this costs is that launches come behind others
// whose ends have to be seen. A launch of no cycle is free if it would gain by itself, with all its
// data going there and back. Own shares are not tried then, since the outlook's are each launch's
// already, nor home but for its rounds, since the outlook rests on what was measured there; and
// cycles that are slower than that are timed again as long as they get faster. Launches that are
// split already have paid for the moving: they do not go home to wait for a look ahead, only if
// that says so; and a cycle of launches that all gained by it in an earlier run needs none.
//
// Joint shares of many launches take up to a second to find. That happens beside the program, where
// somebody sees to it, and shares stay as they are meanwhile.
//
// Where the program itself waits after a few cycles, ways are compared by that (cycle_rounds.h); if
// home is not known so when splitting is reviewed, launches go there for some rounds to find out.
//
// Worked example: a Jacobi program launches stencil(a -> b), copy(b -> a) for ever, over 4096 rows
// of 16 KiB. Rows 1792 .. 2304 of the copy need exactly the rows of b that the stencil wrote there:
// 1/8 of the positions, 8 MiB, so a cut that is off by 1/8 moves 8 MiB in either direction, and a
// stencil at home beside a copy split in halves moves 32 MiB there and 32 MiB back.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "runtime/cost/cycle_rounds.h"
#include "runtime/cost/outlook.h"
#include "solver/sequence.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// What the middle section of a launch does to one buffer.
struct SectionUse {
  const void* buffer = nullptr; ///< only compared
  ByteSet needs;
  ByteSet writes;
};

class LaunchCycle {
public:
  /// Part of a launch's groups that the section is, around the middle.
  static constexpr double sectionPart = 1.0 / 8;

  enum class Ahead {
    Arrived,  ///< all that was to be sent
    UnderWay, ///< some is, or is to be sent yet
    Refused   ///< some can't be sent
  };
  struct Passing {
    std::uint64_t id = 0;      ///< equal for launches of one kernel, key and set of buffers
    bool isKnown = false;      ///< it was split often enough for the functions below to answer
    double secondsPerByte = 0; ///< what moving costs; 0: not known
    double secondsHeldUp = 0;  ///< that a launch takes longer which comes behind one that sends
    std::size_t home = 0;      ///< the program's own device
    /// The shares that suit it by itself, by device. Valid until the next call.
    std::function<std::span<const double>()> own;
    /// Fills in what is known of the load, by device; false if nothing is. Called now and then.
    std::function<bool(solver::LoadProfile&)> profile;
    std::function<std::vector<SectionUse>()> section;
    /// What splitting the launches with these ids would gain, which make a cycle; null: that is not
    /// known yet. Valid until the next call. An empty function: nobody looks ahead.
    std::function<const Outlook*(std::span<const std::uint64_t>)> outlook;
    /// Has something that takes long worked out beside the program, some time; false if nobody can.
    /// An empty function, too: the program waits for it.
    std::function<bool(std::function<void()>)> beside;
    /// What has become of what launches were to send ahead. An empty function: nothing can be sent.
    std::function<Ahead()> ahead;
    double gainBefore = 0;      ///< at home over split, as an earlier run measured it; 0: none did
    double homeSeconds = 0;     ///< that it is expected to take at home; 0: not known
    bool isLookedAt = true;     ///< else those two are not known, and what was of its like stays
    bool isFree = true;         ///< it may be judged by itself where it is of no cycle
    bool isSplit = false;       ///< the last one like it was: its data need not be brought anywhere
    const void* kind = nullptr; ///< what `toCome` counts; only compared
    std::uint64_t toCome = 0;   ///< launches of its kind that there will be, as far as one knows
  };
  /// Which launch of which cycle in which phase: handed back with what it took.
  struct Ticket {
    std::uint64_t phase = 0; ///< 0: not asked to come back
    std::uint64_t cycle = 0;
    std::size_t place = 0;
  };
  enum class Mode {
    Free,   ///< it is judged by itself
    Split,  ///< by `shares`
    AtHome, ///< on the program's own device, timed
    Native, ///< … as without libsplit
    Waiting ///< … until it is known whether splitting pays
  };
  struct Ruling {
    Mode mode = Mode::Free;
    std::span<const double> shares; ///< valid until the next call
    Ticket ticket;
    /// Of Waiting: what its pieces need and nobody writes is to be sent there meanwhile; null:
    /// nothing is. Valid until the next call.
    const Outlook::Step* sends = nullptr;
  };
  Ruling next(const Passing& launch);

  /// The launch with that ticket took so long, moving included.
  void took(const Ticket& ticket, double seconds);
  /// Whether anything follows from what it takes.
  bool wantsTime(const Ticket& ticket) const;
  /// The last so many launches made a round: from the first one's call until the program had waited
  /// for all of them so many seconds passed; 0: that is not known.
  void roundEnded(double seconds, std::uint64_t launches);

  /// The cycle's launches do not decide by themselves.
  bool governs() const { return phase_ != Phase::Free; }
  /// Joint shares are in use.
  bool isJoint() const { return way() == Way::Joint && governs(); }
  bool isHome() const { return way() == Way::Home && governs(); }
  std::size_t length() const { return places_.size(); }
  /// Which cycle of the queue's it is, from 1; 0: none was found yet.
  std::uint64_t number() const { return number_; }

private:
  enum class Way { Own, Joint, Home };
  static constexpr std::size_t ways = 3;
  /// Learning: at home as without libsplit, until it is known what rounds take there.
  enum class Phase { Free, Own, Joint, Home, Learning, Settled };
  struct Place {
    std::uint64_t id = 0;
    const void* kind = nullptr;
    bool isKnown = false;
    double gainBefore = 0;
    double homeSeconds = 0;
    bool isSplit = false;
    std::vector<double> own;
    std::vector<double> joint;
    std::vector<double> lastJoint; ///< those before
    std::vector<SectionUse> section;
    solver::LoadProfile profile;
    std::vector<double> readings; ///< seconds, of this phase
    Outlook::Step ahead;          ///< while what it needs is sent ahead
  };
  void begin(std::size_t length);
  std::optional<CycleRounds::Done> doneAs(bool isAtHome) const;
  std::uint64_t longestTrial() const;
  void admit(const Passing& last);
  void lookAgainAfter(std::uint64_t cycles);
  void endSending();
  bool isUnderRule(const Place& place) const;
  Place* find(std::uint64_t id);
  void enter(Phase phase);
  Way way() const;
  static Phase phaseOf(Way way);
  void look(Place& place, const Passing& launch);
  void cycleEnded(const Passing& last);
  /// What is predicted from. Shares and profiles by known place, and by device in `devices`.
  struct Model {
    std::vector<std::size_t> places, devices;
    std::vector<solver::LoadProfile> profiles;
    std::vector<solver::CycleLink> links;
    std::vector<std::vector<double>> shares;
    double seconds(const std::vector<std::vector<double>>& with) const;
  };
  /// Joint shares that are being worked out, by another thread perhaps: until `isOver` it is that
  /// one's.
  struct Balance {
    std::optional<Model> model; ///< nothing: there is nothing to choose
    solver::CycleShares joint;
    std::uint64_t since = 0; ///< the cycle's age when it was asked for
    std::atomic<bool> isOver = false;
    void workOut() noexcept;
  };
  std::optional<Model> modelOf(const Passing& last, Way way) const;
  double gainBefore() const;
  bool isSplitAsBefore() const;
  void takeOver();
  void govern(const Passing& last);
  bool affords(const Passing& last, Way way, double cycle) const;
  void review(const Passing& last);
  void trialGoesOn(const Passing& last);
  void giveUpTrial();
  void trialEnded(const Passing& last);
  void tryNext(const Passing& last);
  void settle();
  void takeHomeAsKnown();
  double homeToBeat() const;
  bool mayGetFaster(double took) const;
  std::optional<double> hopelessSeconds() const;
  void timeAgain(double took);
  bool isTimed() const;
  double cycleSeconds() const;
  double homePromise(std::size_t home) const;
  bool linksWeigh(double secondsPerByte) const;
  std::vector<std::size_t> knownPlaces() const;
  std::vector<solver::CycleLink> links(double secondsPerByte) const;
  void beginBalance(const Passing& last);
  bool isBalancing();
  bool takeBalance();

  solver::CycleDetector detector_;
  std::vector<Place> places_;
  std::uint64_t number_ = 0;
  std::size_t at_ = 0;        ///< the place that passes next
  std::vector<double> ruled_; ///< shares of the last ruling
  Phase phase_ = Phase::Free;
  std::uint64_t phases_ = 0; ///< numbers them
  std::uint64_t cycles_ = 0; ///< that passed in this phase
  Way settled_ = Way::Own;
  bool isAdmitted_ = false; ///< since the cycle was found
  bool isRefused_ = false;  ///< by the last look ahead
  bool isSending_ = false;  ///< it is to be split once what nobody writes is there
  bool maySend_ = true;     ///< nothing was refused or took for ever
  std::uint64_t sendingCycles_ = 0, mostSending_ = 0; ///< since that began; at most
  bool triedOwn_ = false;                             ///< since the cycle was found
  bool triedJoint_ = false, triedHome_ = false;       ///< since the last review
  std::array<double, ways> seconds_{};                ///< of a cycle; 0: not tried
  double homeSeconds_ = 0;                            ///< of a cycle, as the outlook takes it
  double lastTimed_ = 0;                              ///< … in this phase, when it was timed before
  double lastJoint_ = 0;       ///< … with the joint shares before the present ones
  std::uint64_t patience_ = 0; ///< cycles until the next look, Free or Settled
  std::uint64_t age_ = 0;      ///< cycles that passed in all
  /// From which age on joint shares are worth the moving; 0: they aren't.
  std::uint64_t jointAt_ = 0;
  std::shared_ptr<Balance> balance_; ///< asked for in this phase
  CycleRounds rounds_;               ///< as the program waits for them
  bool isByRounds_ = false;          ///< this phase is timed by them
};

} // namespace libsplit::runtime
