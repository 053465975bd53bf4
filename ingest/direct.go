package ingest

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// byAPI is the cause of a direct change by a client.
const byAPI = "api"

// Write stores a memory that a client writes directly.
func (s *Service) Write(ctx context.Context, w Write) (Written, error) {
	result := s.WriteBatch(ctx, []Write{w})[0]
	return result.Written, result.Err
}

// WriteBatch stores memories in the order of the request. Each user's part is one
// transaction, which is stored or refused as a whole.
func (s *Service) WriteBatch(ctx context.Context, writes []Write) []BatchResult {
	results := make([]BatchResult, len(writes))
	var owners []memory.Owner
	var texts []string
	places := map[memory.Owner][]int{}
	asked := make([]memory.Memory, len(writes))
	for i, w := range writes {
		if results[i].Err = s.unimportant(w); results[i].Err != nil {
			continue
		}
		if places[w.Owner] == nil {
			owners = append(owners, w.Owner)
		}
		places[w.Owner] = append(places[w.Owner], i)
		asked[i] = s.asked(w)
		texts = append(texts, asked[i].EmbeddedText())
	}
	if len(texts) == 0 {
		return results
	}
	by := llm.Serving(s.Embedder)
	embedded, err := by.Embed(ctx, llm.ForDocument, texts)
	for i := range results {
		asked[i].EmbeddingModel = by.Model()
		switch {
		case results[i].Err != nil:
		case err != nil:
			results[i].Err = err
		default:
			asked[i].Embedding, embedded = embedded[0], embedded[1:]
		}
	}
	if err != nil {
		return results
	}

	var group errgroup.Group
	group.SetLimit(ownersAtOnce)
	for _, owner := range owners {
		group.Go(func() error {
			if err := s.writeFor(ctx, owner, places[owner], writes, asked, results); err != nil {
				for _, i := range places[owner] {
					results[i] = BatchResult{Err: err}
				}
			}
			return nil
		})
	}
	_ = group.Wait() // each owner's errors are in their results
	return results
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

// writeFor writes one owner's part of a batch, as asked for, with embeddings.
func (s *Service) writeFor(
	ctx context.Context, owner memory.Owner, places []int, writes []Write, asked []memory.Memory, results []BatchResult,
) error {
	drafts := make(map[int]memory.Memory, len(places))
	compared := map[int]memory.Memory{}
	for _, i := range places {
		drafts[i] = s.draft(asked[i], asked[i].Embedding, asked[i].EmbeddingModel)
		if writes[i].Dedup {
			compared[i] = drafts[i]
		}
	}
	near, err := s.neighbours(ctx, owner, compared)
	if err != nil {
		return err
	}
	var w *writing
	err = s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) (err error) {
		w = s.writing(tx, byAPI)
		for _, i := range places {
			if !writes[i].Dedup {
				results[i].Written = w.add(drafts[i])
			} else if results[i].Written, err = w.put(ctx, drafts[i], near[i]); err != nil {
				return err
			}
		}
		return w.flush(ctx)
	})
	if err == nil {
		w.push(ctx, owner)
	}
	return err
}

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
