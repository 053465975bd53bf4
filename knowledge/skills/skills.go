// Package skills counts the outcomes of the workflows of a user's skills:
//
//	outcome -> counted for its workflow, once -> importance = (successes + 1) / (outcomes + 2)
//	        -> the memory "skill: workflow", created by the first success, with that importance
//	        -> push, after the commit
//
// A workflow that has never succeeded has no memory. Changes of the memory by
// others leave the counts as they are. If the memory is no longer active, the
// next success creates another one.
package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore/projection"
)

// Records is what skills need of the database.
type Records interface {
	InUser(ctx context.Context, owner memory.Owner, f func(ctx context.Context, tx db.UserTx) error) error
}

// Parts are what a Service works with.
type Parts struct {
	Records  Records
	Embedder llm.Embedder
	Pusher   projection.Pusher
	Guess    func(content string) memory.Domain // of a skill, by its name
	// Refuse refuses what clients state and the app's policy never keeps (KindConflict); nil: nothing is refused.
	Refuse func(ctx context.Context, appID, text string) error
	// OnChanged is called for each user whose memories have changed. It must not block.
	OnChanged func(owner memory.Owner)
	// OnAdded is called after memories of a user were added.
	OnAdded func(ctx context.Context, owner memory.Owner, added int)
	Now     func() time.Time
}

// Service counts outcomes.
type Service struct{ Parts }

// New makes a service.
func New(parts Parts) *Service { return &Service{parts} }

// Outcome is one success or failure of a workflow.
type Outcome struct {
	ID       string // of the client, under which the outcome counts once; may be empty
	AgentID  string // the only agent of the workflow; empty: all of the user's agents
	Skill    string // 1..memory.MaxSkillName characters
	Workflow string // 1..memory.MaxWorkflow characters
	Success  bool
	Note     string    // at most memory.MaxNote characters; may be empty
	At       time.Time // zero, or in the future: now
}

// Result is the workflow after an outcome.
type Result struct {
	Workflow memory.Workflow
	Counted  bool // false: the outcome was counted before
	// Instructions are the active versions of the user's instructions that the outcome was counted for, without texts.
	Instructions []memory.ActiveInstruction
}

// CheckName returns what is wrong with the name of a skill, "" if nothing is.
func CheckName(name string) string { return memory.CheckName(name, memory.MaxSkillName) }

// MaxWorkflow is the most characters that a workflow of a skill may have so that a memory can hold the skill and the
// workflow. A reported workflow has at most memory.MaxWorkflow.
func MaxWorkflow(skill string) int {
	return memory.MaxContentRunes - utf8.RuneCountInString((&memory.Workflow{Skill: skill}).Content())
}

// hash covers everything that the client sent.
func (o Outcome) hash() string {
	at := ""
	if !o.At.IsZero() {
		at = memory.Instant(o.At).Format(time.RFC3339Nano)
	}
	data, _ := json.Marshal([]any{o.AgentID, o.Skill, o.Workflow, o.Success, o.Note, at}) // cannot fail
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// errNotEmbedded means that an outcome needs the embedding of its memory.
var errNotEmbedded = errors.New("the workflow's memory is not embedded")

// Record counts an outcome, and changes the workflow's memory in the same
// transaction. The cause is recorded with each event. KindInvalid: see Check.
// KindConflict: another outcome was counted under its id, the skill has too
// many workflows, or ErrErasing.
func (s *Service) Record(ctx context.Context, owner memory.Owner, o Outcome, cause string) (Result, error) {
	wrong := Check(o)
	wrong.Add("skill", CheckName(o.Skill))
	if len(wrong) > 0 {
		return Result{}, memory.Invalid(wrong...)
	}
	if s.Refuse != nil {
		if err := s.Refuse(ctx, owner.AppID, o.Skill+"\n"+o.Workflow+"\n"+o.Note); err != nil {
			return Result{}, err
		}
	}
	embedder := llm.Serving(s.Embedder)
	done, err := s.record(ctx, owner, o, cause, nil, embedder.Model())
	if errors.Is(err, errNotEmbedded) { // no transaction waits for an embedder
		content := (&memory.Workflow{Skill: o.Skill, Text: o.Workflow}).Content()
		vectors, embedErr := llm.EmbedDocuments(ctx, embedder, []string{content})
		if embedErr != nil {
			return Result{}, embedErr
		}
		done, err = s.record(ctx, owner, o, cause, vectors[0], embedder.Model())
	}
	if err != nil {
		return Result{}, err
	}
	if len(done.added) > 0 {
		s.Pusher.PushNew(ctx, done.added)
		s.OnAdded(ctx, owner, len(done.added))
	}
	if done.Counted && done.Workflow.MemoryID != "" {
		s.OnChanged(owner)
	}
	return done.Result, nil
}

// recorded is a result, and the memories that were created.
type recorded struct {
	Result
	added []memory.Memory
}

func (s *Service) record(ctx context.Context, owner memory.Owner, o Outcome, cause string, vector []float32,
	model string) (done recorded, err error) {
	err = s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
		now := memory.Instant(s.Now())
		done = recorded{}
		w, known, err := tx.Workflow(ctx, o.AgentID, o.Skill, o.Workflow)
		if err != nil {
			return err
		}
		if o.ID != "" {
			if repeated, err := counted(ctx, tx, o, now); err != nil || repeated {
				done.Workflow = w
				return err
			}
		}
		if !known {
			if w, err = newWorkflow(ctx, tx, owner, o); err != nil {
				return err
			}
		}
		at := memory.Instant(o.At)
		if at.IsZero() || at.After(now) {
			at = now
		}
		count(&w, o, at)
		c := change{Recorder: history.NewRecorder(tx, cause, now), s: s, tx: tx, now: now}
		if done.added, err = c.updateMemory(ctx, &w, o, at, vector, model); err != nil {
			return err
		}
		done.Result = Result{Workflow: w, Counted: true}
		if err := tx.PutWorkflow(ctx, w); err != nil {
			return err
		}
		names := []string{memory.RequestsInstruction, memory.SkillInstruction(o.Skill)}
		if done.Instructions, err = tx.CountOutcome(ctx, names, o.Success); err != nil {
			return err
		}
		return c.Flush(ctx)
	})
	return done, err
}

// counted reports whether an outcome was counted before, and marks it as counted.
func counted(ctx context.Context, tx db.UserTx, o Outcome, now time.Time) (repeated bool, err error) {
	hash, repeated, err := tx.Counted(ctx, o.ID)
	switch {
	case err != nil:
		return false, err
	case !repeated:
		return false, tx.AddCounted(ctx, o.ID, o.hash(), now)
	case hash != o.hash():
		return true, memory.Errorf(memory.KindConflict, "another outcome was counted under this id: give each its own")
	}
	return true, nil
}

// newWorkflow returns a workflow without outcomes. KindConflict: the skill has too many.
func newWorkflow(ctx context.Context, tx db.UserTx, owner memory.Owner, o Outcome) (memory.Workflow, error) {
	n, err := tx.CountWorkflows(ctx, o.Skill)
	if err == nil && n >= memory.MaxWorkflows {
		err = memory.Errorf(memory.KindConflict,
			"the skill has %d workflows, and no more are allowed: report outcomes in the words of one of them", n)
	}
	return memory.Workflow{ID: memory.NewID(), Owner: owner, AgentID: o.AgentID, Skill: o.Skill, Text: o.Workflow}, err
}

// count adds an outcome to a workflow.
func count(w *memory.Workflow, o Outcome, at time.Time) {
	if o.Success {
		w.Successes++
	} else {
		w.Failures++
	}
	if w.FirstAt.IsZero() {
		w.FirstAt = at
	}
	if at.After(w.LastAt) {
		w.LastAt = at
	}
	if o.Note != "" {
		w.Notes = append(w.Notes, memory.OutcomeNote{At: at, Success: o.Success, Note: o.Note})
		slices.SortStableFunc(w.Notes, func(a, b memory.OutcomeNote) int { return a.At.Compare(b.At) })
		w.Notes = w.Notes[max(0, len(w.Notes)-memory.MaxKeptNotes):]
	}
}

// Check returns what is wrong with the fields of an outcome except the skill's name.
func Check(o Outcome) (wrong memory.Fields) {
	wrong.Add("workflow", memory.CheckContent(o.Workflow, memory.MaxWorkflow))
	if o.Note != "" {
		wrong.Add("note", memory.CheckContent(o.Note, memory.MaxNote))
	}
	wrong.Add("agent_id", memory.CheckID(o.AgentID, true))
	wrong.Add("id", memory.CheckID(o.ID, true))
	return wrong
}
