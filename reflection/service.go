// Package reflection condenses what a user has said lately:
//
//	facts since the last reflection -> prompt -> insights, each with its sources
//	insights -> embedded -> stored as reflections, their sources retired
//
// Insights are stored before sources retire, in one transaction, and an answer
// with anything wrong in it changes nothing. reflection/derivation writes, and
// undoes.
package reflection

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// Records is what reflection needs of the database.
type Records interface {
	Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error)
	Facts(ctx context.Context, owner memory.Owner, since time.Time, limit int) ([]memory.Memory, error)
	State(ctx context.Context, owner memory.Owner) (db.UserState, error)
	Enqueue(ctx context.Context, job db.Job) (info db.JobInfo, fresh bool, err error)
}

// Deriver stores what is derived; reflection/derivation implements it.
type Deriver interface {
	Draft(owner memory.Owner, content string, t memory.Type, domain memory.Domain, importance float64, embedding []float32) memory.Memory
	Commit(ctx context.Context, d derivation.Derivation) error
}

// Settings of reflection; server/config states their defaults and ranges.
type Settings struct {
	Importance  float64       // sum over the new facts at which it is due
	Cooldown    time.Duration // least time between two reflections of a user
	MinFacts    int           // new facts at which it is due, 2 or more
	MaxFacts    int           // facts reflected on at once, the latest changed first
	KeepSources bool          // sources stay active
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Derive   Deriver
	Chat     llm.Chat // nil: there is no model, and no reflection
	Embedder llm.Embedder
	Now      func() time.Time
	Log      *zap.Logger
}

// Service reflects.
type Service struct {
	Parts
	set   Settings
	check chan memory.Owner // users who have written, for Run
}

// New makes a service; Run lets it hear of writes.
func New(parts Parts, set Settings) *Service {
	return &Service{Parts: parts, set: set, check: make(chan memory.Owner, maxChecks)}
}

// Importance is that of every insight.
const Importance = 0.9

// Result is what one reflection did.
type Result struct {
	At       time.Time
	Facts    int             // that were considered
	Skipped  string          // why there was no reflection; empty: there was one
	Insights []memory.Memory // that were stored, without embeddings
	Retired  []string        // ids of the sources that became consolidated
}

// Due reports whether a reflection is due, and if not, why.
func (s *Service) Due(ctx context.Context, owner memory.Owner) (due bool, why string, err error) {
	_, why, err = s.due(ctx, owner)
	return err == nil && why == "", why, err
}

// due says why a reflection is not due, empty where it is, and what upkeep has noted.
func (s *Service) due(ctx context.Context, owner memory.Owner) (state db.UserState, why string, err error) {
	if _, state, err = s.state(ctx, owner); err != nil {
		return state, "", err
	}
	if why = s.resting(state); why != "" {
		return state, why, nil
	}
	facts, err := s.facts(ctx, owner, state)
	return state, s.tooLittle(facts), err
}

// state reads the clock, then what upkeep has noted: a fact that is changed
// from here on counts for the next reflection.
func (s *Service) state(ctx context.Context, owner memory.Owner) (time.Time, db.UserState, error) {
	at := memory.Instant(s.Now())
	state, err := s.Records.State(ctx, owner)
	return at, state, err
}

func (s *Service) facts(ctx context.Context, owner memory.Owner, state db.UserState) ([]memory.Memory, error) {
	return s.Records.Facts(ctx, owner, state.ReflectedAt, s.set.MaxFacts)
}

// resting says that the last reflection was too short a time ago; empty: it was not.
func (s *Service) resting(state db.UserState) string {
	if state.ReflectedAt.IsZero() || !s.Now().Before(state.ReflectedAt.Add(s.set.Cooldown)) {
		return ""
	}
	return fmt.Sprintf("the last reflection was at %s: the next may come %s later", state.ReflectedAt.Format(time.RFC3339), s.set.Cooldown)
}

// tooLittle says why the facts are not worth a reflection; empty: they are.
func (s *Service) tooLittle(facts []memory.Memory) string {
	sum := 0.0
	for _, m := range facts {
		sum += m.Importance
	}
	switch {
	case len(facts) < s.set.MinFacts:
		return fmt.Sprintf("%d facts since the last reflection: %d are needed", len(facts), s.set.MinFacts)
	case sum < s.set.Importance-rounding:
		return fmt.Sprintf("the importance of the facts since the last reflection adds up to %.2f: %.2f is needed", sum, s.set.Importance)
	}
	return ""
}

// rounding lets eight times 0.5, or five times 0.8, be 4.
const rounding = 1e-9

// Reflect condenses what the user has said since the last reflection, if it is
// due; force asks for no more than two facts. At most one of several that run
// at once, in whatever process, changes anything.
//
// KindConflict: there is no chat model, or somebody else has reflected or
// changed a source meanwhile. KindBadAnswer: the model's answer was refused.
// KindUnavailable: the model or the embedder is away. None changes anything.
func (s *Service) Reflect(ctx context.Context, owner memory.Owner, force bool) (Result, error) {
	if s.Chat == nil {
		return Result{}, memory.Errorf(memory.KindConflict, "reflection needs a chat model: set chat.api_key (DEEPSEEK_API_KEY) and restart the server")
	}
	at, state, err := s.state(ctx, owner)
	if err != nil {
		return Result{}, err
	}
	result := Result{At: at, Insights: []memory.Memory{}, Retired: []string{}}
	if result.Skipped = s.resting(state); result.Skipped != "" && !force {
		return result, nil
	}
	facts, err := s.facts(ctx, owner, state)
	if err != nil {
		return Result{}, err
	}
	result.Facts, result.Skipped = len(facts), s.tooLittle(facts)
	if result.Skipped != "" && (!force || len(facts) < leastFacts) {
		return result, nil
	}
	result.Skipped = ""
	insights, err := s.ask(ctx, facts)
	if err != nil {
		return Result{}, err
	}
	d, err := s.derive(ctx, owner, insights)
	if err != nil {
		return Result{}, err
	}
	d.State = func(is db.UserState) (db.UserState, error) {
		if !is.ReflectedAt.Equal(state.ReflectedAt) {
			return is, memory.Errorf(memory.KindConflict, "another reflection of this user came first: see its result")
		}
		if is.Erased != state.Erased {
			return is, memory.Errorf(memory.KindConflict, "the user was erased meanwhile: there is nothing to reflect on")
		}
		is.ReflectedAt = at
		return is, nil
	}
	if err := s.Derive.Commit(ctx, d); err != nil {
		return Result{}, err
	}
	for _, derived := range d.Derived {
		derived.Memory.Embedding = nil
		result.Insights = append(result.Insights, derived.Memory)
	}
	result.Retired = append(result.Retired, d.Retire...)
	return result, nil
}

// leastFacts is how few facts there can be anything to condense of.
const leastFacts = 2

// derive embeds the insights and says what is to change.
func (s *Service) derive(ctx context.Context, owner memory.Owner, insights []insight) (derivation.Derivation, error) {
	d := derivation.Derivation{Owner: owner, Cause: "reflection"}
	if len(insights) == 0 {
		return d, nil
	}
	texts := make([]string, len(insights))
	for i, in := range insights {
		texts[i] = in.content
	}
	by := llm.Serving(s.Embedder)
	vectors, err := by.Embed(ctx, llm.ForDocument, texts)
	if err != nil {
		return d, err
	}
	listed, retiring := map[string]bool{}, map[string]bool{}
	for i, in := range insights {
		draft := s.Derive.Draft(owner, in.content, memory.TypeReflection, in.domain, Importance, vectors[i])
		draft.AgentID, draft.EmbeddingModel = in.sources[0].AgentID, by.Model()
		derived := derivation.Derived{Memory: draft}
		for _, m := range in.sources {
			derived.Sources = append(derived.Sources, m.ID)
			if !listed[m.ID] {
				listed[m.ID] = true
				d.Sources = append(d.Sources, m)
			}
			if in.retires[m.ID] && !m.Pinned && !s.set.KeepSources && !retiring[m.ID] {
				retiring[m.ID] = true
				d.Retire = append(d.Retire, m.ID)
			}
		}
		d.Derived = append(d.Derived, derived)
	}
	return d, nil
}
