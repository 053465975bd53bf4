// Package forgetting forgets old memories:
//
//	active memories -> retention now, date of fading -> preview
//	                -> forgotten (soft, with an event each) -> purged for good
//
//	more active memories than the maximum -> messages, then those of the lowest retention, forgotten at once
//
// Pinned memories, reflections and what the rule keeps do not fade. If too large a share of a user's memories has
// faded, a run forgets the lowest retention first, and reports it.
package forgetting

import (
	"math"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Policy is how retention falls with time.
type Policy string

// The policies; see Rule.Retention.
const (
	Strengthening Policy = "strengthening"
	Exponential   Policy = "exponential"
)

// Policies lists every policy.
var Policies = []Policy{Strengthening, Exponential}

// MinAge is the Rule.MinAge of a server: under Exponential, a memory may not fade in its first week.
const MinAge = 7 * 24 * time.Hour

// Rule decides which memories a run forgets; server/config holds the defaults and ranges
// of its settings.
type Rule struct {
	Policy    Policy
	Threshold float64 // retention below which a memory is forgotten, 0..1

	Base   float64 // Strengthening: retention left after a day without access, in (0, 1)
	Growth float64 // Strengthening: how much longer each access makes a memory last, 1 or more

	Lambda float64       // Exponential: decay a day, more than 0
	MinAge time.Duration // Exponential: younger memories are kept

	MessageAge time.Duration // age from which messages are forgotten, whatever their retention; 0: never

	MaxShare float64 // of a user's active memories that one run forgets at most, 0..1

	Clock      Clock         // which days count; empty: all
	MaxAbsence time.Duration // ActiveClock: absence of a user after which all days count

	Lasts memory.Factors // how many times as long memories of a type or a domain last without access

	ExcludeTypes   Names   // never fade, in addition to reflections
	ExcludeDomains Names   // never fade
	KeepTypes      Names   // types that never fade from KeepImportance on
	KeepImportance float64 // 0..1

	counted *counted // nil: all time counts
}

// Most is the number of memories that a run forgets at most of a user who has
// this many: the rule's share, but at least one unless the share is 0.
func (r Rule) Most(active int) int {
	if r.MaxShare <= 0 {
		return 0
	}
	return max(1, int(r.MaxShare*float64(active)+rounding))
}

// rounding is added to a number of memories, so that a share of 0.07 of 100 is 7.
const rounding = 1e-9

// exponentialScale maps the exponential policy to 0..1 for usual access counts.
const exponentialScale = 5

// Retention is how much of a memory is left at an instant, 0..1:
//
//	strengthening  base^(idle hours / (24 * growth^accesses)) * (0.5 + 0.5*importance)
//	exponential    min(1, e^(-lambda*idle days) * (1 + ln(1 + accesses)) / 5)
//
// A memory is idle since its last access, or since it was recorded or changed if that was later; see Clock for the
// hours and days that count. They are divided by the factor of its type and domain, see Rule.Lasts.
// The first is the forgetting curve of MemoryBank (Zhong et al., 2023), where
// each recall makes a memory last longer, weighted by importance.
func (r Rule) Retention(a db.Age, at time.Time) float64 {
	idle := r.idle(a, at).Hours() / r.Lasts.Of(a.Type, a.Domain)
	if r.Policy == Exponential {
		return min(1, math.Exp(-r.Lambda*idle/24)*r.start(a))
	}
	return math.Pow(r.Base, idle/(24*r.stretch(a))) * r.start(a)
}

// idleSince is the instant from which retention falls. A memory may be dated long before it was recorded: by a
// backend that reports past conversations, or by the job that takes in past messages. It fades no sooner than a memory
// of today.
func idleSince(a db.Age) time.Time {
	if a.UpdatedAt.After(a.LastAccessedAt) {
		return a.UpdatedAt
	}
	return a.LastAccessedAt
}

// start is the retention while a memory is not idle yet, before it is limited to 1.
func (r Rule) start(a db.Age) float64 {
	if r.Policy == Exponential {
		return (1 + math.Log1p(float64(a.AccessCount))) / exponentialScale
	}
	return 0.5 + 0.5*a.Importance
}

func (r Rule) stretch(a db.Age) float64 { return math.Pow(r.Growth, float64(a.AccessCount)) }

// forever is the idle time, in hours, after which fading counts as never.
const forever = 200 * 365 * 24

// FadesAt is the instant at which a memory's retention falls below the threshold
// if it is not accessed again; never is true if that is centuries away or the
// memory is exempt.
func (r Rule) FadesAt(a db.Age) (at time.Time, never bool) {
	if r.Keeps(a) {
		return time.Time{}, true
	}
	at, never = r.fadesByRetention(a)
	if a.Type == memory.TypeMessage && r.MessageAge > 0 {
		if tooOld := a.CreatedAt.Add(r.MessageAge); never || tooOld.Before(at) {
			return tooOld, false
		}
	}
	return at, never
}

// Lifetime is how long a memory lasts without access if all time counts; never is true if it does not fade.
func (r Rule) Lifetime(kind memory.Type, importance float64) (time.Duration, bool) {
	start := time.Unix(0, 0)
	r.counted = nil
	fades, never := r.FadesAt(db.Age{Type: kind, Importance: importance, CreatedAt: start, LastAccessedAt: start})
	return fades.Sub(start), never
}

// fadesByRetention is FadesAt for a memory that is not exempt, whatever its age.
func (r Rule) fadesByRetention(a db.Age) (at time.Time, never bool) {
	if r.Threshold <= 0 {
		return time.Time{}, true
	}
	hours := 0.0
	if left := r.Threshold / r.start(a); left < 1 {
		if r.Policy == Exponential {
			hours = -math.Log(left) / r.Lambda * 24
		} else {
			hours = 24 * r.stretch(a) * math.Log(left) / math.Log(r.Base)
		}
	}
	if hours *= r.Lasts.Of(a.Type, a.Domain); hours > forever {
		return time.Time{}, true
	}
	at = r.idleFor(a, time.Duration(hours*float64(time.Hour)))
	if oldEnough := a.CreatedAt.Add(r.MinAge); r.Policy == Exponential && at.Before(oldEnough) {
		at = oldEnough
	}
	return at, false
}

// Faded reports whether a memory is to be forgotten at an instant.
func (r Rule) Faded(a db.Age, at time.Time) bool {
	return r.fadedWith(r.Retention(a, at), a, at)
}

// fadedWith is Faded for a memory whose retention is known.
func (r Rule) fadedWith(retention float64, a db.Age, at time.Time) bool {
	if r.Keeps(a) {
		return false
	}
	young := r.Policy == Exponential && at.Sub(a.CreatedAt) < r.MinAge
	return r.tooOld(a, at) || retention < r.Threshold && !young
}

// tooOld reports whether a memory is a message that is older than messages are kept.
func (r Rule) tooOld(a db.Age, at time.Time) bool {
	return !r.Keeps(a) && a.Type == memory.TypeMessage && r.MessageAge > 0 && at.Sub(a.CreatedAt) >= r.MessageAge
}

// AgeOf is what the retention of a memory is computed from.
func AgeOf(m memory.Memory) db.Age {
	return db.Age{
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, LastAccessedAt: m.LastAccessedAt, AccessCount: m.AccessCount,
		Importance: m.Importance, Type: m.Type, Domain: m.Domain, Pinned: m.Pinned, AgentID: m.AgentID,
	}
}
