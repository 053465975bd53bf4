// Package facts keeps the timelines of a user's facts:
//
//	evidence -> checked, canonical, embedded, compared with memories     Prepare
//	         -> weighed against the fact that is valid at its instant    Apply, in a user's transaction
//	         -> the timeline, and the memory of the fact that is valid now
//	         -> push                                                     Push, after the commit
//	an end   -> the fact that is valid then ends, its memory is forgotten
//	schedule -> facts whose time begins or ends now -> their memories
//
// A user, type and key have a timeline with at most one valid fact at any
// instant. The fact that is valid now is also a memory of type fact. Fading and
// reflection of that memory leave the fact as it is. A change that supersedes or rewords the memory ends the fact
// (ingest/write, db/history). A request to forget what the memory states removes the fact from its timeline (package
// ingest).
package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore/projection"
)

// Records is what facts need of the database.
type Records interface {
	db.Timelines
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
	Memory(ctx context.Context, appID, id string) (memory.Memory, error)
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Embedder llm.Embedder
	Pusher   projection.Pusher
	Guess    func(content string) memory.Domain // of a fact's memory
	// Compare finds out what memories of facts mean for the active memories near them, except for those whose ids are
	// in except; package ingest implements it.
	Compare func(ctx context.Context, owner memory.Owner, drafts []memory.Memory, except []string) (history.Settle, error)
	// Refuse refuses what clients state and the app's policy never keeps (KindConflict); nil: nothing is refused.
	Refuse func(ctx context.Context, appID, text string) error
	// OnChanged is called for each user whose memories have changed. It must not block.
	OnChanged func(owner memory.Owner)
	// OnAdded is called after memories of a user were added.
	OnAdded func(ctx context.Context, owner memory.Owner, added int)
	Now     func() time.Time
}

// Service keeps facts.
type Service struct {
	Parts
	trust float64
}

// New makes a service. Newer evidence with a confidence of at least trust (0..1)
// replaces the valid fact, whatever the confidence of that fact.
func New(parts Parts, trust float64) *Service { return &Service{parts, trust} }

// Evidence is a statement that a value is valid.
type Evidence struct {
	Type, Key  string          // 1..memory.MaxFactName characters; see CanonicalName
	Value      json.RawMessage // any JSON value of at most memory.MaxFactValue bytes
	Confidence float64         // 0..1
	ValidFrom  time.Time       // zero: now
	ValidUntil time.Time       // zero: until another value is valid
	Source     string          // origin of the evidence; may be empty

	// How the memory of the fact is worded, rated and dated, if the fact is valid when it is recorded.
	Sentence   string    // at most memory.MaxContentRunes characters; empty: see the function Sentence
	Importance *float64  // 0..1, if the evidence is certain; nil: that of such statements
	SaidAt     time.Time // zero: now; not after now
}

// Outcome is what became of a piece of evidence.
type Outcome struct {
	Fact     memory.Fact  // the evidence as it is recorded
	Previous *memory.Fact // the fact that was valid at its instant, in its present form; nil if no fact was
}

// Prepared is evidence about one user for Apply.
type Prepared struct {
	owner    memory.Owner
	evidence []Evidence           // checked and canonical
	wordings map[string]wording   // by place
	vectors  map[string][]float32 // embeddings by content
	model    string
	ids      map[string]string // of the memories, by place
	settle   history.Settle    // stores the memories
}

func prepared(owner memory.Owner) *Prepared {
	return &Prepared{
		owner: owner, wordings: map[string]wording{}, vectors: map[string][]float32{}, ids: map[string]string{},
	}
}

// Applied is what Apply changed, for Push after the commit.
type Applied struct {
	Outcomes []Outcome // one for each piece of evidence, in order
	owner    memory.Owner
	added    []memory.Memory
	changed  []string
}

// Put applies one piece of evidence. The cause is recorded with each event.
// KindInvalid: its fields are wrong. ErrErasing: see db.Erasures.
func (s *Service) Put(ctx context.Context, owner memory.Owner, e Evidence, cause string) (Outcome, error) {
	p, err := s.Prepare(ctx, owner, []Evidence{e})
	if err != nil {
		return Outcome{}, err
	}
	if s.Refuse != nil {
		c, _ := canonical(e)
		said := Sentence(c.Type, c.Key, c.Value) + "\n" + string(c.Value) + "\n" + c.Source
		if err := s.Refuse(ctx, owner.AppID, said); err != nil {
			return Outcome{}, err
		}
	}
	var done Applied
	err = s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) (err error) {
		if done, err = s.Apply(ctx, tx, p, cause); err != nil {
			return err
		}
		return tx.NoteActivity(ctx, "", s.Now())
	})
	if err != nil {
		return Outcome{}, err
	}
	s.Push(ctx, done)
	return done.Outcomes[0], nil
}

// Prepare checks evidence, makes it canonical, embeds the contents of its memories and
// compares these with the active memories near them. It stores nothing. KindInvalid: a field is wrong; if there are
// several pieces of evidence, the paths name the piece, as in "[2].key".
func (s *Service) Prepare(ctx context.Context, owner memory.Owner, evidence []Evidence) (*Prepared, error) {
	p := prepared(owner)
	var stated []memory.Fact
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
		worded := wordingOf(e)
		p.wordings[place(e.Type, e.Key, e.Value)] = worded
		contents = append(contents, worded.content)
		stated = append(stated, memory.Fact{
			Owner: owner, Type: e.Type, Key: e.Key, Value: e.Value, Confidence: e.Confidence,
			ValidFrom: e.ValidFrom, ValidUntil: e.ValidUntil, State: memory.FactAccepted,
		})
	}
	if len(wrong) > 0 {
		return nil, memory.Invalid(wrong...)
	}
	if len(contents) == 0 {
		return p, nil
	}
	embedder := llm.Serving(s.Embedder)
	vectors, err := llm.EmbedDocuments(ctx, embedder, contents)
	if err != nil {
		return nil, err
	}
	p.model = embedder.Model()
	for i, content := range contents {
		p.vectors[content] = vectors[i]
	}
	return p, s.compare(ctx, p, stated)
}

// place identifies a value on a timeline.
func place(factType, key string, value json.RawMessage) string {
	return factType + "\x00" + key + "\x00" + string(value)
}

// wordingOf returns how the memory of a fact is worded.
func (p *Prepared) wordingOf(f memory.Fact) wording {
	if w, ok := p.wordings[place(f.Type, f.Key, f.Value)]; ok {
		return w
	}
	return wordingOf(Evidence{Type: f.Type, Key: f.Key, Value: f.Value})
}

// idOf returns the id of the memory of a fact. Each call returns the same id.
func (p *Prepared) idOf(f memory.Fact) string {
	at := place(f.Type, f.Key, f.Value)
	if p.ids[at] == "" {
		p.ids[at] = memory.NewID()
	}
	return p.ids[at]
}

// Apply weighs evidence and records it within a transaction of its owner. The
// caller must end the transaction with the returned error. Apply may run more
// than once, like the function that InUser takes.
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

// End ends the fact that is valid at an instant; zero: now. The timeline keeps
// the fact, and its memory is forgotten when the instant has come. KindNotFound:
// no fact is valid then.
func (s *Service) End(ctx context.Context, owner memory.Owner, factType, key string, at time.Time,
	cause string) (ended memory.Fact, err error) {
	var done Applied
	err = s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		c := s.begin(tx, prepared(owner), cause)
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

// Push brings the changes of Apply to the vector store after the commit.
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
