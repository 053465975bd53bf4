// Package compression shortens memories:
//
//	recalled memories -> prompt -> one text that fits, cached by content         (Condenser)
//	old, rarely accessed memories -> groups of one episode, and of messages of one
//	  conversation -> prompt -> summaries, embedded, stored, their sources consolidated (Service)
//
// Bad parts of an answer are left out. Without a good part nothing changes: a context then holds
// the memories themselves, and a group stays as it is. reflection/derivation
// stores summaries and undoes them.
package compression

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/jobs"
	"hippocampus/db/zones"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/reflection/derivation"
	"hippocampus/reflection/episodes"
)

// Records is the part of the database that compression uses.
type Records interface {
	jobs.OwnerLister
	Stale(ctx context.Context, owner memory.Owner, f db.StaleFilter) ([]memory.Memory, error)
	ListMemories(ctx context.Context, f db.MemoryFilter) ([]memory.Memory, error)
	State(ctx context.Context, owner memory.Owner) (db.UserState, error)
	EpisodesOf(ctx context.Context, owner memory.Owner, memories []string) (map[string]string, error)
	AllEpisodes(ctx context.Context, owner memory.Owner) ([]db.Episode, error)
	EpisodeMembers(ctx context.Context, owner memory.Owner, ids []string) ([]db.EpisodeMember, error)
}

// Episodes makes the episodes of users; see episodes.Service.
type Episodes interface {
	Make(ctx context.Context, owner memory.Owner) (episodes.Made, error)
}

// Settings of the runs; server/config holds their defaults and ranges.
type Settings struct {
	MessageAge  time.Duration // messages that were accessed within this time are left alone
	Accesses    int           // memories with this many accesses are left alone
	MaxMemories int           // in one run of a user, the oldest first
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Derive   *derivation.Service
	Episodes Episodes
	Rule     func(ctx context.Context, owner memory.Owner) (Rule, error) // with the user's active days
	Chat     llm.Chat                                                    // nil: no compression
	Zone     zones.Finder                                                // of the days in prompts
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

// Result is the result of one run, or of a dry run.
type Result struct {
	At         time.Time
	Considered int // old memories
	Groups     []Group
	Stopped    string // why the remaining groups were left for another run; empty if no group was
}

// Group is the result for memories of one episode, or for messages of one conversation.
type Group struct {
	Memories  []string        // ids, oldest first
	Summaries []memory.Memory // that replace them, without embeddings; empty in a dry run
	Retired   int             // memories that the summaries replace; the others stay
	Refused   string          // why all memories stay as they are; empty if some were replaced, and in a dry run
	LeftOut   []string        // the refused parts of the model's answer, with the reasons
}

// Compress condenses what is left of a user's old episodes, and the old messages of each conversation, each group in a
// transaction of its own. It makes the episodes before that and afterwards. If the answer for one group is refused, the
// run goes on with the others. A dry run lists the groups without asking the model. If several runs of a user take
// place at the same time, in any processes, at most one condenses.
//
// If the model or the embedder is unavailable, or another run comes between, the run ends. If it has condensed a group,
// Stopped states the reason, else it returns an error (KindUnavailable, KindConflict). KindConflict also means that no
// chat model is configured.
func (s *Service) Compress(ctx context.Context, owner memory.Owner, dryRun bool) (Result, error) {
	if s.Chat == nil {
		return Result{}, memory.Errorf(memory.KindConflict,
			"compression needs a chat model: set chat.api_key (DEEPSEEK_API_KEY) and restart the server")
	}
	ctx = llm.ForApp(ctx, owner.AppID)
	if _, err := s.Episodes.Make(ctx, owner); err != nil {
		return Result{}, err
	}
	result, err := s.run(ctx, owner, dryRun)
	if err == nil && len(result.Groups) > 0 && !dryRun {
		_, err = s.Episodes.Make(ctx, owner)
	}
	return result, err
}

func (s *Service) run(ctx context.Context, owner memory.Owner, dryRun bool) (Result, error) {
	at := memory.Instant(s.Now())
	state, err := s.Records.State(ctx, owner)
	if err != nil {
		return Result{}, err
	}
	last := state.CompressedAt
	old, err := s.stale(ctx, owner, at)
	if err != nil {
		return Result{}, err
	}
	result := Result{At: at, Considered: len(old), Groups: []Group{}}
	groups, err := s.groups(ctx, owner, old, at)
	if err != nil {
		return result, err
	}
	condensed := false
	for _, g := range groups {
		done := Group{Memories: memory.IDs(g.memories)}
		if dryRun {
			result.Groups = append(result.Groups, done)
			continue
		}
		err = s.condense(ctx, owner, g, last, at, &done)
		switch {
		case err == nil:
			condensed, last = true, at
		case memory.IsKind(err, memory.KindBadAnswer),
			memory.IsKind(err, memory.KindConflict) && !errors.Is(err, errOtherRun):
			s.Log.Warn("a group of memories was not compressed", zap.String("app", owner.AppID), zap.Error(err))
			done = Group{Memories: done.Memories, Refused: err.Error()}
		case !condensed:
			return Result{}, err
		case errors.Is(err, errOtherRun):
			result.Stopped = err.Error()
			return result, nil
		case memory.IsKind(err, memory.KindUnavailable), ctx.Err() != nil:
			s.Log.Warn("compression stopped", zap.String("app", owner.AppID), zap.Error(err))
			result.Stopped = "the model, the embedder or a store is unavailable, or the time limit was reached"
			return result, nil
		default:
			return result, err
		}
		result.Groups = append(result.Groups, done)
	}
	return result, nil
}

// errOtherRun ends a run.
var errOtherRun = memory.Errorf(memory.KindConflict, "another run of this user came between: see its result")

// stalePage is how many memories are read at once.
const stalePage = 200

// stale reads the user's old and rarely accessed memories.
func (s *Service) stale(ctx context.Context, owner memory.Owner, at time.Time) (found []memory.Memory, err error) {
	list := func(after memory.Memory, limit int) ([]memory.Memory, error) {
		return s.Records.Stale(ctx, owner, db.StaleFilter{
			Before: at.Add(-coreAge), MessagesBefore: at.Add(-s.set.MessageAge), Accesses: s.set.Accesses,
			After: db.Position{At: after.CreatedAt, ID: after.ID}, Limit: min(limit, s.set.MaxMemories-len(found)),
		})
	}
	for m, err := range db.All(stalePage, list) {
		if err != nil {
			return nil, err
		}
		if !m.ExpiresAt.IsZero() {
			continue // a summary would go on to state it
		}
		m.Lexemes = "" // they are not needed here
		if found = append(found, m); len(found) == s.set.MaxMemories {
			break
		}
	}
	return found, nil
}

// condense replaces the memories of a group by summaries that stand for them, unless another run has compressed since
// last. It adds the result to done.
func (s *Service) condense(ctx context.Context, owner memory.Owner, g group, last, at time.Time,
	done *Group) error {
	found, err := s.ask(ctx, g)
	if err != nil {
		return err
	}
	like := attributes(g)
	for i, c := range found.summaries {
		found.summaries[i] = like
		found.summaries[i].Content, found.summaries[i].Sources = c.Content, c.Sources
		if g.core != nil {
			standFor(&found.summaries[i], *g.core)
		}
	}
	cited := found.cited()
	d := derivation.Derivation{Owner: owner, Cause: "compression", Retire: slices.Sorted(maps.Keys(cited))}
	d.State = func(now db.UserState) (db.UserState, error) {
		if !now.CompressedAt.Equal(last) {
			return now, errOtherRun
		}
		now.CompressedAt = at
		return now, nil
	}
	derived, err := s.Derive.Derive(ctx, d, found.summaries)
	done.Summaries = derived.Stored
	done.Retired = len(derived.Retired)
	done.LeftOut = found.leftOut
	return err
}

// attributes returns the values that all summaries of a group have in common. Summaries of messages are dated as the
// last message.
func attributes(g group) derivation.Conclusion {
	c := derivation.Conclusion{Type: memory.TypeSummary, Domain: derivation.CommonDomain(g.memories)}
	for _, m := range g.memories {
		switch {
		case g.core != nil:
			c.Importance = max(c.Importance, m.Importance)
			c.Accesses = max(c.Accesses, m.AccessCount) // it lasts no less than they would have
		case m.CreatedAt.After(c.At):
			c.At, c.Importance = m.CreatedAt, memory.SummaryImportance
		}
	}
	if g.core == nil {
		c.ConversationID = g.memories[0].ConversationID
	}
	return c
}

// Totals counts the results of a run over all users.
type Totals struct {
	Users      int `json:"users"`
	Considered int `json:"considered"` // old memories
	Groups     int `json:"groups"`     // of an episode or a conversation
	Refused    int `json:"refused"`    // groups that stay as they are; the next run tries them again
	Summaries  int `json:"summaries"`  // stored
	Retired    int `json:"retired"`    // memories that the summaries replace
	Failed     int `json:"failed"`     // users whose run failed
}

func (t *Totals) add(r Result) {
	t.Users++
	t.Considered += r.Considered
	t.Groups += len(r.Groups)
	for _, g := range r.Groups {
		t.Summaries += len(g.Summaries)
		if g.Refused != "" {
			t.Refused++
		} else {
			t.Retired += g.Retired
		}
	}
}

// CompressAll compresses for every user; see jobs.EachOwner. Without a chat
// model it does nothing.
func (s *Service) CompressAll(ctx context.Context) (totals Totals, err error) {
	if s.Chat == nil {
		return totals, nil
	}
	totals.Failed, err = jobs.EachOwner(ctx, s.Records, func(owner memory.Owner) error {
		result, err := s.Compress(ctx, owner, false)
		totals.add(result)
		return err
	})
	return totals, err
}
