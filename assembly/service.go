package assembly

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/db/zones"
	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/reflection/compression"
)

// Instructor reads the active instructions; package instructions implements it.
type Instructor interface {
	Merged(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
}

// FactLister lists facts of users; db.Timelines has it.
type FactLister interface {
	ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error)
}

// Recaller finds memories; package recall implements it.
type Recaller interface {
	Recall(ctx context.Context, q recall.Query) (recall.Answer, error)
	Standing(ctx context.Context, q recall.Query) ([]recall.Standing, error)
}

// Sessions is the working memory; package session implements it.
type Sessions interface {
	Working(ctx context.Context, appID, userID, id string, f session.Filter) (session.Working, error)
}

// Condenser shortens memories for a prompt; see compression.Condenser.
type Condenser interface {
	ShouldCondense(memories int, fits bool) bool
	Condense(ctx context.Context, memories []compression.Line, room compression.Room, language string) (
		condensed, why string)
}

// Service makes contexts. Without an Instructor they have no instructions.
type Service struct {
	Instructor Instructor
	Facts      FactLister
	Recaller   Recaller
	Timeout    time.Duration // of all recalls of a context together; see recall.Within
	Sessions   Sessions
	Condenser  Condenser
	Counts     *Counts // nil: no cache
	Now        func() time.Time
	ZoneOf     zones.Finder // of the days of a context, unless its query has a zone
}

// Request asks for a context. The recall for it counts as no access.
type Request struct {
	Query          recall.Query // if its Text is empty, the last words of the user in the conversation are used
	ConversationID string       // may be empty
	WithoutWorking bool         // the prompt has the messages of the conversation already
	Turn           *memory.Turn // that the context is for, or nil: see forTurn
	Present        []string     // texts that the prompt has already; remembered messages that they hold are left out
	Room           Room
	Shares         Shares
	Language       string          // of the headings: "zh" or "en"; empty: that of the contents
	Messages       bool            // instead of a text
	Preferences    bool            // also what the user prefers, as far as there is room; see MaxPreferences
	Episode        []memory.Memory // of the episode that the context opens; nil: it opens no episode
	Condense       int             // how many of the best memories the Condenser may condense
}

// Make gathers the items and assembles those that fit.
func (s Service) Make(ctx context.Context, r Request) (Context, error) {
	r.Query.NoTouch = true
	if r.Query.At.IsZero() {
		r.Query.At = memory.Instant(s.Now())
	}
	zone, err := s.ZoneOf.Of(ctx, r.Query.Owner)
	if err != nil {
		return Context{}, err
	}
	r.Query.Zone = cmp.Or(r.Query.Zone, zone)
	r.Room.Counter.counts = s.Counts
	g, err := s.gather(ctx, &r)
	if err != nil {
		return Context{}, err
	}
	w := wordsFor(r.Language, g.contents, g.preferences...)
	p := choose(g.contents, r.Room.Budget(), r.Shares, w, r.Room.Counter, r.Messages)
	p.fit()
	p.unquote()
	made := Context{Query: r.Query.Text, Recalled: g.answer, Profile: g.profile}
	if r.Condense > 0 && !g.profile {
		made.Condensed, made.NotCondensed = s.condense(ctx, p, r.Condense, r.Language)
	}
	made.Text, made.Messages, made.Size = p.finish(g.preferences)
	made.Preferences = p.included(g.answer.Preferences)
	made.Parts, made.LeftOut = p.account()
	made.LeftOut = append(made.LeftOut, g.present...)
	for _, m := range g.answer.Memories {
		if slices.ContainsFunc(made.LeftOut, func(l LeftOut) bool { return l.Part == Memories && l.ID == m.Memory.ID }) {
			made.Dropped = append(made.Dropped, m.Memory.ID)
		} else {
			made.Kept = append(made.Kept, m)
		}
	}
	return made, nil
}
