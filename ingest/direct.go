package ingest

import (
	"cmp"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// byAPI is the cause of a direct change by a client.
const byAPI = "api"

// Write stores a memory that a client writes directly.
func (s *Service) Write(ctx context.Context, w Write) (write.Written, error) {
	result := s.WriteBatch(ctx, []Write{w})[0]
	return result.Written, result.Err
}

// WriteBatch stores memories in the order of the request. Each user's part is one
// transaction, which is stored or refused as a whole. Users whose turn comes after
// the first KindUnavailable get KindNotTried.
func (s *Service) WriteBatch(ctx context.Context, writes []Write) []BatchResult {
	results := make([]BatchResult, len(writes))
	var asked []memory.Memory
	var places []int // index in writes of each of asked
	for i, w := range writes {
		m := s.asked(w)
		if results[i].Err = cmp.Or(s.unimportant(w), s.RefuseNever(ctx, w.Owner.AppID, w.Content)); results[i].Err == nil {
			m.ExpiresAt, results[i].Err = s.endOf(ctx, w.Owner, w.Expires)
		}
		if results[i].Err == nil {
			asked, places = append(asked, m), append(places, i)
		}
	}
	asked, err := s.indexMessages(ctx, asked)
	if err == nil {
		asked, err = s.complete(ctx, asked)
	}
	if err != nil {
		for _, i := range places {
			results[i].Err = err
		}
		return results
	}
	var owners []memory.Owner
	drafts, of := map[memory.Owner][]write.Draft{}, map[memory.Owner][]int{}
	for n, m := range asked {
		if isLost(m) {
			results[places[n]].Err = memory.Invalid(memory.Field{Path: "content", Message: fmt.Sprintf(
				"is refused by the embedding model, also in parts of %d bytes, and has no words to be found by", llm.MinPart)})
			continue
		}
		if drafts[m.Owner] == nil {
			owners = append(owners, m.Owner)
		}
		draft := write.Draft{Memory: m, Compare: write.ByRules}
		switch w := writes[places[n]]; {
		case w.Dedup:
			draft.Compare = write.Judged
		case w.Alone:
			draft.Compare = write.Alone
		}
		drafts[m.Owner] = append(drafts[m.Owner], draft)
		of[m.Owner] = append(of[m.Owner], places[n])
	}
	var group errgroup.Group
	group.SetLimit(ownersAtOnce)
	var stop stopping
	for n, owner := range owners {
		attempt := stop.unless
		if n < ownersAtOnce { // these begin together
			attempt = stop.always
		}
		group.Go(func() error {
			var written []write.Written
			err := attempt(func() (err error) {
				written, err = s.Writer.Write(ctx, write.Batch{
					Owner: owner, Cause: byAPI, Drafts: drafts[owner], First: s.noteActivity(drafts[owner]),
				})
				return err
			})
			for n, i := range of[owner] {
				results[i].Err = err
				if err == nil {
					results[i].Written = written[n]
				}
			}
			return nil
		})
	}
	_ = group.Wait() // each owner's errors are in their results
	return results
}

// noteActivity returns a function that records that the user writes, and with which agents.
func (s *Service) noteActivity(drafts []write.Draft) func(context.Context, db.UserTx) error {
	var written []memory.Memory
	for _, d := range drafts {
		written = append(written, d.Memory)
	}
	return func(ctx context.Context, tx db.UserTx) error {
		for _, agentID := range db.AgentsOf(written) {
			if err := tx.NoteActivity(ctx, agentID, s.Now()); err != nil {
				return err
			}
		}
		return nil
	}
}

// unimportant refuses a write below the server's minimum importance.
func (s *Service) unimportant(w Write) error {
	importance := DefaultImportance
	if w.Importance != nil {
		importance = *w.Importance
	}
	if importance >= s.set.MinImportance {
		return nil
	}
	return memory.Invalid(memory.Field{Path: "importance", Message: fmt.Sprintf(
		"is %v, and this server remembers nothing below %v (memories.min_importance)", importance, s.set.MinImportance)})
}

// ownersAtOnce bounds the concurrent transactions of one batch.
const ownersAtOnce = 4

// asked returns the memory that a write describes, with defaults filled in.
func (s *Service) asked(w Write) memory.Memory {
	m := memory.Memory{
		Owner: w.Owner, AgentID: w.AgentID, ConversationID: w.ConversationID, Content: w.Content,
		Type: w.Type, Domain: w.Domain, Tags: w.Tags, Importance: DefaultImportance,
		Metadata: w.Metadata, Pinned: w.Pinned, CreatedAt: w.At,
	}

	if w.Importance != nil {
		m.Importance = *w.Importance
	}
	if m.Type == "" {
		m.Type = memory.TypeFact
	}
	if m.Domain == "" {
		m.Domain = s.Guess(w.Content)
	}
	if m.Type != memory.TypeMessage {
		m.Lexemes = text.Join(text.Lexemes(w.Content))
	} else if m.CreatedAt.IsZero() {
		m.CreatedAt = s.Now() // a message is indexed with its day
	}
	return m
}
