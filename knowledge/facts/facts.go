// Package facts keeps what is valid of a user over time:
//
//	evidence -> checked, named, embedded                         Prepare
//	         -> weighed against what is valid at its instant     Apply, in a user's transaction
//	         -> the timeline, and the memory that tells its fact
//	         -> push                                             Push, after the commit
//	an end   -> the fact that is valid then ends, its memory is forgotten
//	schedule -> facts whose time begins or ends now -> their memories
//
// A user, type and key have a timeline, of which at most one fact is valid at
// any instant. The one that is valid now is a memory of type fact too. What
// others do to that memory (a client's PATCH, forgetting, reflection) leaves
// the fact as it is.
package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Records is what facts need of the database.
type Records interface {
	db.Timelines
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Pusher brings committed changes to the vector store; see vectorstore/projection.
type Pusher interface {
	ClaimedUntil() time.Time
	PushNew(ctx context.Context, memories []memory.Memory)
	Push(ctx context.Context, ids []string)
}

// Parts are what a Service works with.
type Parts struct {
	Records   Records
	Embedder  llm.Embedder
	Pusher    Pusher
	Guess     func(content string) memory.Domain // of a fact's memory
	OnChanged func(owner memory.Owner)           // hears of each user whose memories have changed; it must not wait; nil: nobody does
	// OnAdded hears of memories that were added for a user; nil: nobody does.
	OnAdded func(ctx context.Context, owner memory.Owner, added int)
	Now     func() time.Time
}

// Service keeps facts.
type Service struct {
	Parts
	trust float64
}

// New makes a service. Newer evidence of a confidence of trust (0..1) or more
// replaces what is valid, however certain that was.
func New(parts Parts, trust float64) *Service {
	if parts.OnChanged == nil {
		parts.OnChanged = func(memory.Owner) {}
	}
	if parts.OnAdded == nil {
		parts.OnAdded = func(context.Context, memory.Owner, int) {}
	}
	return &Service{parts, trust}
}

// Evidence is one statement of what is valid.
type Evidence struct {
	Type, Key  string          // 1..memory.MaxFactName characters; see Name
	Value      json.RawMessage // any JSON value of at most memory.MaxFactValue bytes
	Confidence float64         // 0..1
	ValidFrom  time.Time       // zero: now
	ValidUntil time.Time       // zero: until something else is valid
	Source     string          // where it is from; may be empty
}

// Outcome is what became of a piece of evidence.
type Outcome struct {
	Fact     memory.Fact  // the evidence as it is recorded
	Previous *memory.Fact // what was valid at its instant, as it stands now; nil: nothing was
}

// Prepared is evidence about one user that Apply can take.
type Prepared struct {
	owner    memory.Owner
	evidence []Evidence           // checked and named
	vectors  map[string][]float32 // embeddings by content
	model    string
}

// Applied is what Apply changed; Push takes it once that is committed.
type Applied struct {
	Outcomes []Outcome // one for each piece of evidence, in their order
	owner    memory.Owner
	added    []memory.Memory
	changed  []string
}

// Put takes one piece of evidence. The cause is recorded with each event.
// KindInvalid: its fields are wrong. ErrErasing: see db.Erasures.
func (s *Service) Put(ctx context.Context, owner memory.Owner, e Evidence, cause string) (Outcome, error) {
	p, err := s.Prepare(ctx, owner, []Evidence{e})
	if err != nil {
		return Outcome{}, err
	}
	var done Applied
	err = s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) (err error) {
		done, err = s.Apply(ctx, tx, p, cause)
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	s.Push(ctx, done)
	return done.Outcomes[0], nil
}

// Prepare checks evidence, brings it into its canonical form and embeds what
// its memories will say. Nothing is stored yet. KindInvalid: a field is wrong;
// where there is more than one piece the paths name it, as in "[2].key".
func (s *Service) Prepare(ctx context.Context, owner memory.Owner, evidence []Evidence) (*Prepared, error) {
	p := &Prepared{owner: owner, vectors: map[string][]float32{}}
	var wrong []memory.Field
	var contents []string
	for i, e := range evidence {
		e, fields := canonical(e)
		for _, f := range fields {
			if len(evidence) > 1 {
				f.Path = fmt.Sprintf("[%d].%s", i, f.Path)
			}
			wrong = append(wrong, f)
		}
		p.evidence = append(p.evidence, e)
		contents = append(contents, Content(e.Key, e.Value))
	}
	if len(wrong) > 0 {
		return nil, memory.Invalid(wrong...)
	}
	if len(contents) == 0 {
		return p, nil
	}
	by := llm.Serving(s.Embedder)
	vectors, err := by.Embed(ctx, llm.ForDocument, contents)
	if err != nil {
		return nil, err
	}
	p.model = by.Model()
	for i, content := range contents {
		p.vectors[content] = vectors[i]
	}
	return p, nil
}

// Apply weighs evidence and records it, within a transaction of its owner; the
// transaction must end with its error, if there is one. It may run more than
// once, as the function that InUser takes.
func (s *Service) Apply(ctx context.Context, tx db.UserTx, p *Prepared, cause string) (Applied, error) {
	c := s.begin(tx, p, cause)
	for _, e := range p.evidence {
		outcome, err := c.take(ctx, e)
		if err != nil {
			return Applied{}, err
		}
		c.done.Outcomes = append(c.done.Outcomes, outcome)
	}
	return c.finish(ctx)
}

// End ends what is valid at an instant; zero: now. History keeps that it was,
// and its memory is forgotten when the instant has come. KindNotFound: nothing
// is valid then.
func (s *Service) End(ctx context.Context, owner memory.Owner, factType, key string, at time.Time, cause string) (ended memory.Fact, err error) {
	var done Applied
	err = s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		c := s.begin(tx, &Prepared{owner: owner}, cause)
		if ended, err = c.end(ctx, CanonicalName(factType), CanonicalName(key), at); err != nil {
			return err
		}
		done, err = c.finish(ctx)
		c.refresh(&ended)
		return err
	})
	if err != nil {
		return memory.Fact{}, err
	}
	s.Push(ctx, done)
	return ended, nil
}

// Push brings what Apply has changed to the vector store. It comes after the commit.
func (s *Service) Push(ctx context.Context, done Applied) {
	if len(done.added) > 0 {
		s.Pusher.PushNew(ctx, done.added)
	}
	s.Pusher.Push(ctx, done.changed)
	if len(done.added) > 0 {
		s.OnAdded(ctx, done.owner, len(done.added))
	}
	if len(done.added)+len(done.changed) > 0 {
		s.OnChanged(done.owner)
	}
}
