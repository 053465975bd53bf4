// Package reflection condenses the recent facts of a user into insights:
//
//	facts since the last reflection -> prompt -> insights, each with its sources
//	insights -> embedded -> stored as reflections, their sources retired
//
// reflection/derivation stores insights and retires their sources in one
// transaction. A bad part of an answer is left out; an answer without a good part changes nothing.
package reflection

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/zones"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// Records is the part of the database that reflection uses.
type Records interface {
	jobs.OwnerLister
	Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	State(ctx context.Context, owner memory.Owner) (db.UserState, error)
	EnqueueForUser(ctx context.Context, owner memory.Owner, erased int, job db.Job) error
}

// Rule decides when a reflection is due.
type Rule struct {
	Importance float64       // sum over the new facts at which a reflection is due
	Cooldown   time.Duration // least time between two reflections of a user
	MinFacts   int           // new facts at which a reflection is due, 2 or more
}

// Always is the rule by which a reflection is due as soon as there are two facts to condense.
var Always = Rule{MinFacts: 2}

// Settings of reflection; server/config holds their defaults and ranges.
type Settings struct {
	Rule
	MaxFacts    int  // facts in one reflection, the most recently changed first
	KeepSources bool // sources stay active
	Propose     bool // insights wait for approval
}

// Parts are what a Service works with.
type Parts struct {
	Records Records
	Derive  *derivation.Service
	Chat    llm.Chat     // nil: no reflection
	Zone    zones.Finder // of the days in prompts
	Now     func() time.Time
	Log     *zap.Logger
}

// Service reflects.
type Service struct {
	Parts
	set   Settings
	check chan memory.Owner // users whose memories have changed, for Run
}

// New makes a service; Run makes it react to MemoriesChanged.
func New(parts Parts, set Settings) *Service {
	return &Service{Parts: parts, set: set, check: make(chan memory.Owner, maxChecks)}
}

// Importance of every insight.
const Importance = 0.9

// Result is the result of one reflection.
type Result struct {
	At       time.Time
	Facts    int             // that were considered
	Skipped  string          // why no reflection took place; empty if one did
	Insights []memory.Memory // that were stored, without embeddings
	Proposed []derivation.Proposed
	Retired  []string // ids of the sources that became consolidated
	LeftOut  []string // the refused parts of the model's answer, with the reasons
}

// Due reports whether a reflection is due, and if not, why.
func (s *Service) Due(ctx context.Context, owner memory.Owner) (due bool, why string, err error) {
	_, why, err = s.due(ctx, owner)
	return err == nil && why == "", why, err
}

// Rule is the configured rule.
func (s *Service) Rule() Rule { return s.set.Rule }

// due returns the user's maintenance state, and why no reflection is due; empty if one is.
func (s *Service) due(ctx context.Context, owner memory.Owner) (state db.UserState, why string, err error) {
	if state, err = s.Records.State(ctx, owner); err != nil {
		return state, "", err
	}
	if why = s.set.resting(state, s.Now()); why != "" {
		return state, why, nil
	}
	facts, err := s.facts(ctx, owner, state)
	return state, s.set.tooLittle(facts), err
}

// facts returns the newest facts since the last reflection. Facts that expire are left out: an insight would go on to
// state them.
func (s *Service) facts(ctx context.Context, owner memory.Owner, state db.UserState) ([]memory.Memory, error) {
	facts, err := s.Records.Facts(ctx, owner, state.ReflectedAt, s.set.MaxFacts)
	return slices.DeleteFunc(facts, func(m memory.Memory) bool { return !m.ExpiresAt.IsZero() }), err
}

// resting returns a reason if the cooldown has not passed, else "".
func (r Rule) resting(state db.UserState, now time.Time) string {
	if state.ReflectedAt.IsZero() || r.Cooldown == 0 || !now.Before(state.ReflectedAt.Add(r.Cooldown)) {
		return ""
	}
	return fmt.Sprintf("the last reflection was at %s: the next may come %s later",
		state.ReflectedAt.Format(time.RFC3339), r.Cooldown)
}

// tooLittle returns why the facts do not suffice for a reflection; empty if they do.
func (r Rule) tooLittle(facts []memory.Memory) string {
	sum := 0.0
	for _, m := range facts {
		sum += m.Importance
	}
	switch {
	case len(facts) < r.MinFacts:
		return fmt.Sprintf("%d facts since the last reflection: %d are needed", len(facts), r.MinFacts)
	case sum < r.Importance-rounding:
		return fmt.Sprintf("the importance of the facts since the last reflection adds up to %.2f: %.2f is needed",
			sum, r.Importance)
	}
	return ""
}

// rounding makes eight times 0.5, or five times 0.8, reach 4.
const rounding = 1e-9

// Reflect condenses the facts since the user's last reflection if a reflection is due by the rule. If several
// reflections of a user run at the same time, in any processes, at most one changes anything.
//
// KindConflict: no chat model is configured, another reflection came first, or a source has changed. KindBadAnswer: the
// model's answer was refused. KindUnavailable: the model or the embedder is unavailable. An error changes nothing.
func (s *Service) Reflect(ctx context.Context, owner memory.Owner, rule Rule) (Result, error) {
	if s.Chat == nil {
		return Result{}, memory.Errorf(memory.KindConflict,
			"reflection needs a chat model: set chat.api_key (DEEPSEEK_API_KEY) and restart the server")
	}
	ctx = llm.ForApp(ctx, owner.AppID)
	// The clock is read first: a fact that changes from here on counts for the next reflection.
	at := memory.Instant(s.Now())
	state, err := s.Records.State(ctx, owner)
	if err != nil {
		return Result{}, err
	}
	result := Result{At: at, Insights: []memory.Memory{}, Retired: []string{}}
	if result.Skipped = rule.resting(state, at); result.Skipped != "" {
		return result, nil
	}
	facts, err := s.facts(ctx, owner, state)
	if err != nil {
		return Result{}, err
	}
	result.Facts, result.Skipped = len(facts), rule.tooLittle(facts)
	if result.Skipped != "" {
		return result, nil
	}
	found, err := s.ask(ctx, facts)
	if err != nil {
		return Result{}, err
	}
	d := derivation.Derivation{Owner: owner, Cause: "reflection", State: advance(state, at), Compared: true}
	conclusions := make([]derivation.Conclusion, len(found.insights))
	for i, in := range found.insights {
		conclusions[i] = in.Conclusion
		for _, m := range in.Sources {
			if slices.Contains(in.retire, m.ID) && !m.Pinned && !s.set.KeepSources && !slices.Contains(d.Retire, m.ID) {
				d.Retire = append(d.Retire, m.ID)
			}
		}
	}
	result.LeftOut = found.leftOut
	if s.set.Propose {
		if result.Proposed, err = s.Derive.Propose(ctx, d, conclusions); err != nil {
			return Result{}, err
		}
		return result, nil
	}
	derived, err := s.Derive.Derive(ctx, d, conclusions)
	if err != nil {
		return Result{}, err
	}
	result.Insights = append(result.Insights, derived.Stored...)
	result.Retired = append(result.Retired, derived.Retired...)
	for _, m := range derived.Held {
		result.LeftOut = append(result.LeftOut, fmt.Sprintf("an insight is not stored: memory %s holds it", m.ID))
	}
	return result, nil
}

// advance notes a reflection at this instant, unless the state has changed since it was read.
func advance(read db.UserState, at time.Time) func(db.UserState) (db.UserState, error) {
	return func(now db.UserState) (db.UserState, error) {
		if !now.ReflectedAt.Equal(read.ReflectedAt) {
			return now, memory.Errorf(memory.KindConflict, "another reflection of this user came first: see its result")
		}
		if now.Erased != read.Erased {
			return now, memory.Errorf(memory.KindConflict, "the user was erased in the meantime: nothing is left to reflect on")
		}
		now.ReflectedAt = at
		return now, nil
	}
}
