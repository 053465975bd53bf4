package assembly

import (
	"context"
	"slices"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/reflection/compression"
)

// Instructor tells what an app, agent and user want of the model; package
// instructions implements it.
type Instructor interface {
	// Merged are the active instructions, the farthest scope first.
	Merged(ctx context.Context, appID, agentID, userID string) ([]memory.ActiveInstruction, error)
}

// FactLister reads what is valid of users; db.Timelines has it.
type FactLister interface {
	ListFacts(ctx context.Context, f db.FactFilter) ([]memory.Fact, error)
}

// Recaller finds memories; package recall implements it.
type Recaller interface {
	Recall(ctx context.Context, q recall.Query) (recall.Answer, error)
}

// Sessions is the working memory; package session implements it.
type Sessions interface {
	Working(ctx context.Context, appID, userID, id string, f session.Filter) (session.Working, error)
}

// Condenser shortens memories for a prompt; package compression implements it.
type Condenser interface {
	// ShouldCondense reports whether so many memories are to be condensed, where fits
	// says that they have room as they are.
	ShouldCondense(memories int, fits bool) bool
	// Condense says why it did not; empty where it did.
	Condense(ctx context.Context, contents []string, room compression.Room, language string) (condensed, why string)
}

// Service makes contexts of what its parts have. A nil Instructor has none.
type Service struct {
	Instructor Instructor
	Facts      FactLister
	Recaller   Recaller
	Sessions   Sessions
	Condenser  Condenser
	Counts     *Counts // nil: nothing that was counted is kept
	Now        func() time.Time
}

// Request asks for a context. What is recalled for it is not touched.
type Request struct {
	Query          recall.Query // its Text may be empty: then it is what the user said last in the conversation, if anything
	ConversationID string       // empty: there is none
	Room           Room
	Shares         Shares
	Language       string // of the server's own words: "zh" or "en"; empty: that of what is remembered
	Messages       bool   // instead of a text
	Condense       bool   // where the Condenser wants it
}

// Make gathers what there is to say and says what has room.
func (s Service) Make(ctx context.Context, r Request) (Context, error) {
	r.Query.NoTouch = true
	if r.Query.At.IsZero() {
		r.Query.At = memory.Instant(s.Now())
	}
	r.Room.Counter.counts = s.Counts
	g, err := s.gather(ctx, &r)
	if err != nil {
		return Context{}, err
	}
	w := wordsFor(r.Language, g.contents)
	p := choose(g.contents, r.Room.Budget(), r.Shares, w, r.Room.Counter, r.Messages)
	p.fit()
	made := Context{Query: r.Query.Text, Recalled: g.answer}
	if r.Condense {
		made.Condensed, made.NotCondensed = s.condense(ctx, p, r.Language)
	}
	made.Text, made.Messages = p.write()
	made.Size = p.measure(made.Text, made.Messages)
	made.Parts, made.LeftOut = p.account()
	for _, m := range g.answer.Memories {
		if slices.ContainsFunc(made.LeftOut, func(l LeftOut) bool { return l.Part == Memories && l.ID == m.Memory.ID }) {
			made.Dropped = append(made.Dropped, m.Memory.ID)
		} else {
			made.Kept = append(made.Kept, m)
		}
	}
	return made, nil
}
