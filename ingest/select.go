package ingest

import (
	"context"
	"iter"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

// Selection chooses memories of a user that are not forgotten, and faded ones. Empty fields do not restrict; at least
// one field is set in addition to the owner.
type Selection struct {
	Owner          memory.Owner
	TurnID         string // of the server or of the client: memories that were made from the turn
	ConversationID string
	Where          *filter.Filter
}

// Selected is the result of ForgetSelected.
type Selected struct {
	Forgotten []Edited
	Pinned    []string // ids of selected memories that stay, since they are pinned
	More      bool     // further memories are selected, with which the same call continues
}

// MaxSelected bounds the memories of one call of ForgetSelected.
const MaxSelected = 500

// ForgetSelected is ForgetAll for the memories of a selection. KindNotFound: the user has no such turn.
func (s *Service) ForgetSelected(ctx context.Context, sel Selection, how Forgetting) (done Selected, err error) {
	f := db.MemoryFilter{
		Owner: sel.Owner, ConversationID: sel.ConversationID, Where: sel.Where,
		Statuses: memory.Statuses,
	}
	var turn memory.Turn
	if sel.TurnID != "" {
		turn, err = s.Records.Turn(ctx, sel.Owner.AppID, sel.TurnID)
		if err == nil && turn.Owner != sel.Owner {
			err = memory.Errorf(memory.KindNotFound, "the user has no turn %s", sel.TurnID)
		}
		if err != nil {
			return done, err
		}
		f.Since, f.Until = momentOf(turn)
	}
	var ids []string
	for m, err := range s.list(ctx, f) {
		switch {
		case err != nil:
			return done, err
		case sel.TurnID != "" && m.SourceTurnID != turn.ID, isGone(m):
		case m.Pinned:
			done.Pinned = append(done.Pinned, m.ID)
		default:
			ids = append(ids, m.ID)
		}
		if done.More = len(ids) > MaxSelected; done.More {
			break
		}
	}
	done.Forgotten = s.ForgetAll(ctx, sel.Owner.AppID, ids[:min(len(ids), MaxSelected)], how)
	wasPurged := func(e Edited) bool { return memory.IsKind(e.Err, memory.KindNotFound) }
	done.Forgotten = slices.DeleteFunc(done.Forgotten, wasPurged)
	return done, nil
}

// list lists all memories that a filter chooses, newest first.
func (s *Service) list(ctx context.Context, f db.MemoryFilter) iter.Seq2[memory.Memory, error] {
	return db.All(memory.MaxPage, func(last memory.Memory, limit int) ([]memory.Memory, error) {
		f.Limit = limit
		if last.ID != "" {
			f.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
		}
		return s.Records.ListMemories(ctx, f)
	})
}

// momentOf returns the interval in which the memories of a turn were created, since they have the times of its
// messages.
func momentOf(t memory.Turn) (since, until time.Time) {
	since, last := t.Said()
	return since, last.Add(time.Microsecond)
}
