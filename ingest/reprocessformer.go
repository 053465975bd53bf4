package ingest

import (
	"context"
	"slices"
	"strings"

	"hippocampus/db"
	"hippocampus/ingest/statement"
	"hippocampus/ingest/write"
	"hippocampus/internal/memory"
)

// former is a fact of the turn as it was scored before.
type former struct {
	memory.Candidate
	memory.Memory      // the zero value: it was purged
	isUsers       bool // the user, or the app, has decided about it
}

// states reports whether a fact has the words of the former one.
func (f former) states(content string) bool {
	if write.SameWords(content, f.Candidate.Content) || f.Memory.ID != "" && write.SameWords(content, f.Memory.Content) {
		return true
	}
	return f.isUsers && (statement.States(content, f.Candidate.Content) || statement.States(content, f.Memory.Content))
}

// formers reads the facts that the turn stated, with their memories, and notes the candidates that are replaced.
func (a *rescoring) formers(ctx context.Context) (formers []former, err error) {
	if a.replaced, err = a.Records.TurnCandidates(ctx, a.Turn.AppID, a.Turn.ID); err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range a.replaced {
		if c.MemoryID == "" || c.Verdict == memory.Echo {
			continue
		}
		m, err := a.Records.Memory(ctx, a.Turn.AppID, c.MemoryID)
		if err != nil && !memory.IsKind(err, memory.KindNotFound) {
			return nil, err
		}
		formers, ids = append(formers, former{Candidate: c, Memory: m}), append(ids, c.MemoryID)
	}
	events, err := a.Records.Events(ctx, a.Turn.Owner, ids)
	if err != nil {
		return nil, err
	}
	for i := range formers {
		f := &formers[i]
		f.isUsers = f.Memory.ID == "" || f.Pinned || slices.ContainsFunc(events[f.MemoryID], isUsers)
	}
	return formers, nil
}

// isUsers reports whether an event is a decision of the user or the app, and not of the server.
func isUsers(e memory.Event) bool {
	byServer := []string{"judged again", "reflection", "compression", "schedule", "recollected", byUndo}
	if turnOf(e.Cause) != "" || slices.Contains(byServer, e.Cause) || strings.HasPrefix(e.Cause, "undo ") {
		return false
	}
	isOfWithdrawal := togetherIn(e).Turn != ""
	return !isOfWithdrawal && e.Kind != memory.EventSuperseded && e.Kind != memory.EventMerged
}

// refuseForgotten refuses candidates that state what the user has forgotten since the turn was said.
func (a *rescoring) refuseForgotten(ctx context.Context) error {
	isOpen := func(c memory.Candidate) bool { return c.Verdict == memory.Kept && !a.held[c.ID] }
	if !slices.ContainsFunc(a.candidates, isOpen) {
		return nil
	}
	f := db.MemoryFilter{Owner: a.Turn.Owner, Statuses: []memory.Status{memory.Forgotten}}
	for m, err := range a.list(ctx, f) {
		if err != nil {
			return err
		}
		if m.Type == memory.TypeMessage {
			continue
		}
		for i := range a.candidates {
			c := &a.candidates[i]
			if !isOpen(*c) || !statement.States(c.Content, m.Content) {
				continue
			}
			events, err := a.Records.Events(ctx, a.Turn.Owner, []string{m.ID})
			if err != nil {
				return err
			}
			if by := forgettingOf(events[m.ID]); isUsers(by) && by.At.After(a.Turn.At) {
				c.Verdict, c.MemoryID = memory.Duplicate, m.ID
				c.Reason = "it was forgotten after it was said: restore that memory to have it back"
				a.held[c.ID] = true
			}
		}
	}
	return nil
}

// forgettingOf returns the latest event by which a memory was forgotten.
func forgettingOf(events []memory.Event) memory.Event {
	for _, e := range slices.Backward(events) {
		if e.Kind == memory.EventForgotten {
			return e
		}
	}
	return memory.Event{}
}
