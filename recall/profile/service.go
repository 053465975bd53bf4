package profile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/recall"
	"hippocampus/scorer/attribute"
)

// Field is a filled field.
type Field struct {
	Value      any             // a string, int64, float64, bool or []string, as the type of the property says
	Sources    []memory.Memory // that it was read from, without embeddings: one, or one for each item of an array
	Confidence float64         // 0..1, how directly the sources state it
	By         By
}

// By says what has read a value.
type By string

// The readers of values.
const (
	ByRules By = "rules"
	ByModel By = "model"
)

// State says whether a model has read the present statements for the fields that the rules do not fill.
type State string

// The states of a profile.
const (
	Complete    State = "complete"          // it has, or there was nothing to ask
	NoModel     State = "no_model"          // no chat model is configured
	NotAsked    State = "not_asked"         // the statements have changed, and the request asks no model
	Unavailable State = "model_unavailable" // the model has not answered, or not usably
)

// Profile is the filled schema of an app for a user.
type Profile struct {
	Version int // of the schema
	State   State
	Fields  map[string]*Field // by the name of each property; nil: unknown
}

// Records keeps schemas and what models have read; db.Store implements it.
type Records interface {
	db.Profiles
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Stander finds what holds about a user; package recall implements it.
type Stander interface {
	Standing(ctx context.Context, q recall.Query) ([]recall.Standing, error)
}

// Parts are what a service needs.
type Parts struct {
	Records Records
	Stander Stander
	Chat    llm.Chat // nil: there is no model
	Now     func() time.Time
	Log     *zap.Logger
}

// Service fills profiles. It is safe for concurrent use.
type Service struct {
	Parts
	claims *lru.Cache[string, []attribute.Claim] // by statement
}

// New returns a service.
func New(p Parts) *Service {
	claims, _ := lru.New[string, []attribute.Claim](maxClaims) // it fails only for a size below 1
	return &Service{p, claims}
}

// Purge drops the cached claims of all users. It is called when a user is erased.
func (s *Service) Purge() { s.claims.Purge() }

// claimsOf returns what a statement claims. Reading one takes 0.3 ms.
func (s *Service) claimsOf(statement string) []attribute.Claim {
	found, ok := s.claims.Get(statement)
	if !ok {
		found = attribute.Of(statement)
		s.claims.Add(statement, found)
	}
	return found
}

// The bounds of one profile.
const (
	maxStatements  = 200
	maxPromptRunes = 24_000 // of statements
	maxItems       = 20     // of an array
	maxClaims      = 10_000 // statements whose claims are cached
	timeout        = 30 * time.Second
)

// statement is a current memory with what the rules find in it.
type statement struct {
	memory.Memory
	claims []attribute.Claim // of the user
}

// Request asks for the profile of a user.
type Request struct {
	Owner   memory.Owner
	AgentID string // whose statements count as well; empty: those of all agents
	Ask     bool   // a model may be asked
	Off     bool   // nothing of the user may be read: every field is nil
}

// Fill fills the profile of a user from the current statements: by the rules, then by what the model has read. If the
// statements or the schema have changed since, it asks the model first, and waits for at most 30 seconds. KindNotFound:
// the app has no schema.
func (s *Service) Fill(ctx context.Context, r Request) (p Profile, err error) {
	stored, err := s.Records.ProfileSchema(ctx, r.Owner.AppID)
	if err != nil {
		return p, err
	}
	var schema Schema
	if err := json.Unmarshal(stored.Schema, &schema); err != nil {
		return p, memory.Errorf(memory.KindInternal, "read the schema of the app's profiles: %w", err)
	}
	var statements []statement
	if !r.Off {
		if statements, err = s.statements(ctx, r); err != nil {
			return p, err
		}
	}
	p = Profile{Version: stored.Version, State: Complete, Fields: map[string]*Field{}}
	open := map[string]Property{}
	for name, property := range schema.Properties {
		p.Fields[name] = property.byAttribute(statements)
		if p.Fields[name] == nil {
			open[name] = property
		}
	}
	if len(open) == 0 || len(statements) == 0 {
		return p, nil
	}
	q := question{Request: r, open: open, statements: fit(statements)}
	q.basis = basisOf(stored.Schema, q.statements)
	findings, state, err := s.findings(ctx, q)
	if err != nil {
		return p, err
	}
	p.State = state
	for name, property := range open {
		p.Fields[name] = property.fill(name, findings, statements)
	}
	return p, nil
}

// statements returns the current statements, those that were said before those that were inferred, the newest first.
func (s *Service) statements(ctx context.Context, r Request) ([]statement, error) {
	standing, err := s.Stander.Standing(ctx, recall.Query{
		Owner: r.Owner, AgentID: r.AgentID, At: memory.Instant(s.Now()), Limit: maxStatements,
	})
	if err != nil {
		return nil, err
	}
	list := make([]statement, 0, len(standing))
	for _, one := range standing {
		if name := memory.NameOf(one.Memory.Speaker); name == "" || strings.EqualFold(name, r.Owner.UserID) {
			one.Memory.Embedding = nil
			list = append(list, statement{one.Memory, s.claimsOf(one.Memory.Content)})
		}
	}
	slices.SortFunc(list, func(a, b statement) int {
		if a.Type.IsInferred() != b.Type.IsInferred() {
			if b.Type.IsInferred() {
				return -1
			}
			return 1
		}
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return list, nil
}

// findings returns what the model has read from the statements: what is stored for them, or its answer.
func (s *Service) findings(ctx context.Context, q question) (found []Finding, state State, err error) {
	stored, err := s.Records.FilledProfile(ctx, q.Owner, q.AgentID)
	if err != nil {
		return nil, "", err
	}
	if stored.Basis != "" {
		if err := json.Unmarshal(stored.Fields, &found); err != nil {
			return nil, "", memory.Errorf(memory.KindInternal, "read the filled profile: %w", err)
		}
	}
	switch {
	case stored.Basis == q.basis:
		return found, Complete, nil
	case s.Chat == nil:
		return found, NoModel, nil
	case !q.Ask:
		return found, NotAsked, nil
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	q.before = found
	answered, err := s.ask(limited, q)
	if err != nil {
		s.Log.Warn("the model has filled no profile", zap.Error(err))
		return found, Unavailable, ctx.Err()
	}
	return answered, Complete, nil
}

// basisOf is the hash of what a model reads.
func basisOf(schema json.RawMessage, statements []statement) string {
	sum := sha256.New()
	sum.Write(schema)
	for _, m := range statements {
		sum.Write([]byte("\x00" + m.ID + "\x00" + m.Content))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
