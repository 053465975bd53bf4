// Package compression says the same in less room:
//
//	recalled memories -> prompt -> one text that fits, kept by content         (Condenser)
//	old, hardly used memories -> groups of related ones -> prompt -> summaries,
//	  embedded, stored, their originals consolidated                           (Service)
//
// An answer with anything wrong in it changes nothing: a context then holds
// whole memories, and a group stays as it is. reflection/derivation writes, and
// undoes.
package compression

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
)

// Records is what compression needs of the database.
type Records interface {
	Owners(ctx context.Context, after memory.Owner, limit int) ([]memory.Owner, error)
	Stale(ctx context.Context, owner memory.Owner, before time.Time, accesses int, after db.Position, limit int) ([]memory.Memory, error)
	State(ctx context.Context, owner memory.Owner) (db.UserState, error)
}

// Deriver stores what is derived; reflection/derivation implements it.
type Deriver interface {
	Draft(owner memory.Owner, content string, t memory.Type, domain memory.Domain, importance float64, embedding []float32) memory.Memory
	Commit(ctx context.Context, d derivation.Derivation) error
}

// Settings of the runs; server/config states their defaults and ranges.
type Settings struct {
	Similarity  float64       // least cosine of related memories
	MinAge      time.Duration // younger memories are left alone
	Accesses    int           // memories accessed so often are left alone
	MaxMemories int           // looked at in one run of a user, the oldest first
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Derive   Deriver
	Chat     llm.Chat // nil: there is no model, and no compression
	Embedder llm.Embedder
	Now      func() time.Time
	Log      *zap.Logger
}

// Service compresses.
type Service struct {
	Parts
	set Settings
}

// New makes a service.
func New(parts Parts, set Settings) *Service { return &Service{parts, set} }

// Result is what one run did, or would do.
type Result struct {
	At         time.Time
	Considered int // old memories that were looked at
	Groups     []Group
	Stopped    string // why the groups after the last were left for another run; empty: none was
}

// Group is what became of some related memories.
type Group struct {
	Memories  []string        // ids, oldest first
	Summaries []memory.Memory // that stand for them from now on, without embeddings; none of a dry run
	Refused   string          // why they stay as they are; empty: they do not, or it was a dry run
}

// Compress condenses the groups of related memories among a user's old ones,
// each in a transaction of its own. What is wrong with the answer for one
// group keeps no other from being condensed. A dry run tells of the groups and
// asks nobody. At most one of several runs of a user that go on at once, in
// whatever process, condenses.
//
// Where the model or the embedder is away or another run comes between, the
// result says so in Stopped; when nothing has been condensed yet it is an
// error that changes nothing: KindUnavailable, KindConflict. KindConflict also
// where there is no chat model.
func (s *Service) Compress(ctx context.Context, owner memory.Owner, dryRun bool) (Result, error) {
	if s.Chat == nil {
		return Result{}, memory.Errorf(memory.KindConflict, "compression needs a chat model: set chat.api_key (DEEPSEEK_API_KEY) and restart the server")
	}
	run := &run{Service: s, owner: owner, at: memory.Instant(s.Now())}
	state, err := s.Records.State(ctx, owner)
	if err != nil {
		return Result{}, err
	}
	run.last = state.CompressedAt
	old, err := run.stale(ctx)
	if err != nil {
		return Result{}, err
	}
	result := Result{At: run.at, Considered: len(old), Groups: []Group{}}
	condensed := false
	for _, group := range groups(old, s.set.Similarity) {
		if dryRun {
			result.Groups = append(result.Groups, Group{Memories: ids(group)})
			continue
		}
		summaries, err := run.condense(ctx, group)
		switch {
		case err == nil:
			condensed = true
			result.Groups = append(result.Groups, Group{Memories: ids(group), Summaries: summaries})
		case memory.IsKind(err, memory.KindBadAnswer), memory.IsKind(err, memory.KindConflict) && !errors.Is(err, errOther):
			s.Log.Warn("a group stays as it is", zap.String("app", owner.AppID), zap.Error(err))
			result.Groups = append(result.Groups, Group{Memories: ids(group), Refused: err.Error()})
		case !condensed:
			return Result{}, err
		case errors.Is(err, errOther):
			result.Stopped = err.Error()
			return result, nil
		case memory.IsKind(err, memory.KindUnavailable), ctx.Err() != nil:
			s.Log.Warn("compression stopped", zap.String("app", owner.AppID), zap.Error(err))
			result.Stopped = "a part that compression needs is away, or the time was up"
			return result, nil
		default:
			return result, err
		}
	}
	return result, nil
}

// errOther ends a run.
var errOther = memory.Errorf(memory.KindConflict, "another run of this user came between: see its result")

// run is one run of a user.
type run struct {
	*Service
	owner memory.Owner
	at    time.Time
	last  time.Time // what is noted of this or an earlier run
}

// stalePage is how many memories are read at once.
const stalePage = 200

// stale reads the user's old and hardly used memories.
func (r *run) stale(ctx context.Context) (found []memory.Memory, err error) {
	before, position := r.at.Add(-r.set.MinAge), db.Position{}
	for len(found) < r.set.MaxMemories {
		limit := min(stalePage, r.set.MaxMemories-len(found))
		page, err := r.Records.Stale(ctx, r.owner, before, r.set.Accesses, position, limit)
		if err != nil {
			return nil, err
		}
		for i := range page {
			page[i].Lexemes = "" // nothing here needs them
		}
		found = append(found, page...)
		if len(page) < limit {
			break
		}
		position = db.Position{At: page[limit-1].CreatedAt, ID: page[limit-1].ID}
	}
	return found, nil
}

// condense replaces a group by its summaries.
func (r *run) condense(ctx context.Context, group []memory.Memory) ([]memory.Memory, error) {
	p, err := render(group)
	if err != nil {
		return nil, err
	}
	answer, err := r.Chat.Answer(ctx, p)
	if err != nil {
		return nil, err
	}
	summaries, err := parse(answer, group)
	if err != nil {
		return nil, err
	}
	d, err := r.derive(ctx, group, summaries)
	if err != nil {
		return nil, err
	}
	if err := r.Derive.Commit(ctx, d); err != nil {
		return nil, err
	}
	r.last = r.at
	stored := make([]memory.Memory, len(d.Derived))
	for i, derived := range d.Derived {
		stored[i] = derived.Memory
		stored[i].Embedding = nil
	}
	return stored, nil
}

// derive embeds the summaries and says what is to change.
func (r *run) derive(ctx context.Context, group []memory.Memory, summaries []summary) (derivation.Derivation, error) {
	d := derivation.Derivation{Owner: r.owner, Cause: "compression", Sources: group, Retire: ids(group)}
	texts := make([]string, len(summaries))
	for i, s := range summaries {
		texts[i] = s.content
	}
	by := llm.Serving(r.Embedder)
	vectors, err := by.Embed(ctx, llm.ForDocument, texts)
	if err != nil {
		return d, err
	}
	importance := 0.0
	for _, m := range group {
		importance = max(importance, m.Importance)
	}
	for i, s := range summaries {
		draft := r.Derive.Draft(r.owner, s.content, memory.TypeSummary, derivation.CommonDomain(group), importance, vectors[i])
		draft.AgentID, draft.EmbeddingModel = group[0].AgentID, by.Model()
		d.Derived = append(d.Derived, derivation.Derived{Memory: draft, Sources: ids(s.sources)})
	}
	last := r.last
	d.State = func(is db.UserState) (db.UserState, error) {
		if !is.CompressedAt.Equal(last) {
			return is, errOther
		}
		is.CompressedAt = r.at
		return is, nil
	}
	return d, nil
}

func ids(memories []memory.Memory) []string {
	list := make([]string, len(memories))
	for i, m := range memories {
		list[i] = m.ID
	}
	return list
}
