package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/db/history"
	"hippocampus/internal/memory"
)

// What stands in the copies of others for what an erased participant has said.
const (
	removedName  = "someone"
	removedWords = "[removed]"
)

// byDisowning is the cause of what an erasure of another user changes.
const byDisowning = "erasure of a participant"

// Disown removes what a user has said in conversations with others from their copies: the words in the logs, the
// memories and candidates that were made of them, and what sums the conversations up. It is called when the user is
// erased, and can be repeated. KindUnavailable: memories are still in the vector store; call it again.
func (s *Service) Disown(ctx context.Context, owner memory.Owner) error {
	names, err := s.Records.Participations(ctx, owner)
	if err != nil {
		return err
	}
	for _, p := range names {
		const page = 100
		var last memory.Participant
		for {
			others, err := s.Records.Participants(ctx, owner.AppID, p.ConversationID, last, page)
			if err != nil {
				return err
			}
			for _, other := range others {
				if other.UserID == owner.UserID || other.UserID == last.UserID {
					continue
				}
				if err := s.removeWords(ctx, other.Owner, p.ConversationID, p.Name); err != nil {
					return err
				}
				last = other
			}
			if len(others) < page {
				break
			}
			last = others[page-1]
		}
	}
	return nil
}

// removeWords removes what a person with a name has said from the copies of one user.
func (s *Service) removeWords(ctx context.Context, owner memory.Owner, conversationID, name string) error {
	isSaid := func(t memory.Turn, m memory.Message) bool { return t.IsOthers(m) && m.Name == name }
	for after := int64(0); ; {
		const page = 50
		turns, err := s.Records.ConversationTurns(ctx, owner, conversationID, after, page)
		if err != nil {
			return err
		}
		for _, t := range turns {
			after = t.LastEvent()
			if !slices.ContainsFunc(t.Messages, func(m memory.Message) bool { return isSaid(t, m) }) {
				continue
			}
			if err := s.redact(ctx, t, isSaid); err != nil {
				return err
			}
		}
		if len(turns) < page {
			break
		}
	}
	s.logs.Remove(saidKey(owner, conversationID))
	return s.removeMemories(ctx, owner, conversationID, memory.SpeakerOf(memory.RoleUser, name))
}

// redact removes messages of a turn, and its candidates that were taken from them.
func (s *Service) redact(ctx context.Context, t memory.Turn, isGone func(memory.Turn, memory.Message) bool) error {
	candidates, err := s.Records.TurnCandidates(ctx, t.AppID, t.ID)
	if err != nil {
		return err
	}
	var gone []string
	for _, c := range candidates {
		speaker, _ := statedBy(c.Content, t)
		if slices.ContainsFunc(t.Messages, func(m memory.Message) bool {
			return isGone(t, m) && memory.SpeakerOf(m.Role, m.Name) == speaker
		}) {
			gone = append(gone, c.ID)
		}
	}
	messages := slices.Clone(t.Messages)
	for i, m := range messages {
		if isGone(t, m) {
			messages[i] = memory.Message{Role: m.Role, Kind: m.Kind, At: m.At, Name: removedName, Content: removedWords}
		}
	}
	return s.Records.InUser(ctx, t.Owner, func(ctx context.Context, tx db.UserTx) error {
		redacted := memory.Turn{Messages: messages}
		revision := db.ConversationRevision{From: t.FirstEvent, Title: t.Title(), Retitled: redacted.Title()}
		if err := tx.ReviseConversation(ctx, t.ConversationID, revision); err != nil {
			return err
		}
		return tx.RedactTurn(ctx, t.ID, messages, gone)
	})
}

// How long one call waits for memories to leave the vector store, and between two looks.
const (
	removeTimeout = 5 * time.Second
	removePoll    = 20 * time.Millisecond
)

// removeMemories deletes the memories of a user that a speaker has stated in a conversation, those that were made of
// the whole conversation, and those that were derived from any of these. What was derived goes first, since it is found
// by its relations to the others.
func (s *Service) removeMemories(ctx context.Context, owner memory.Owner, conversationID, speaker string) error {
	for waited := time.Duration(0); ; waited += removePoll {
		gone, err := s.stated(ctx, owner, conversationID, speaker)
		if err != nil || len(gone) == 0 {
			return err
		}
		derived, err := s.derivedFrom(ctx, owner, gone)
		if err != nil {
			return err
		}
		if len(derived) > 0 {
			gone = derived
		}
		if waited >= removeTimeout {
			return &memory.Error{Kind: memory.KindUnavailable, RetryAfter: removeTimeout, Err: fmt.Errorf(
				"%d memories of what the user said to others are still in the vector store", len(gone))}
		}
		for _, m := range gone {
			if err := s.forgetAlone(ctx, m); err != nil {
				return err
			}
		}
		if err := s.purge(ctx, owner, memory.IDs(gone), byDisowning); err != nil {
			return err
		}
		timer := time.NewTimer(removePoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// stated returns the memories that a speaker has stated in a conversation, and those that were made of all of it by a
// consolidation, in any status.
func (s *Service) stated(ctx context.Context, owner memory.Owner, conversationID, speaker string) (
	stated []memory.Memory, err error,
) {
	var others []memory.Memory
	for m, err := range s.list(ctx, db.MemoryFilter{Owner: owner, ConversationID: conversationID}) {
		switch {
		case err != nil:
			return nil, err
		case m.Speaker == speaker || m.Type == memory.TypeSummary:
			stated = append(stated, m)
		case m.Type != memory.TypeMessage && m.SourceTurnID == "":
			others = append(others, m)
		}
	}
	if len(others) == 0 {
		return stated, nil
	}
	events, err := s.Records.Events(ctx, owner, memory.IDs(others))
	for _, m := range others {
		isOfAll := func(e memory.Event) bool {
			return e.Kind == memory.EventCreated && strings.HasPrefix(e.Cause, "consolidation ")
		}
		if slices.ContainsFunc(events[m.ID], isOfAll) {
			stated = append(stated, m)
		}
	}
	return stated, err
}

// derivedFrom returns the insights and summaries of a user that were derived from memories, in any status.
func (s *Service) derivedFrom(ctx context.Context, owner memory.Owner, memories []memory.Memory) (
	derived []memory.Memory, err error,
) {
	var all []memory.Memory
	filter := db.MemoryFilter{Owner: owner, Types: []memory.Type{memory.TypeReflection, memory.TypeSummary}}
	for m, err := range s.list(ctx, filter) {
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	sources, err := s.Records.Sources(ctx, owner, memory.IDs(all))
	if err != nil {
		return nil, err
	}
	isFrom := set(memory.IDs(memories))
	for before := -1; before < len(derived); {
		before = len(derived)
		for _, m := range all {
			rests := slices.ContainsFunc(sources[m.ID], func(of memory.Memory) bool { return isFrom[of.ID] })
			if rests && !isFrom[m.ID] {
				derived, isFrom[m.ID] = append(derived, m), true
			}
		}
	}
	return derived, nil
}

// forgetAlone forgets a memory that is not forgotten yet, and makes what it condensed active again.
func (s *Service) forgetAlone(ctx context.Context, m memory.Memory) error {
	if m.Status == memory.Forgotten {
		return nil
	}
	err := memory.Errorf(memory.KindConflict, "no memory was derived from others")
	if m.Type.IsDerived() && s.Undo != nil {
		err = s.Undo(ctx, m.AppID, m.ID)
	}
	if memory.IsKind(err, memory.KindConflict) {
		_, err = s.Forget(ctx, m.AppID, m.ID, OfItem)
	}
	if memory.IsKind(err, memory.KindNotFound) {
		return nil
	}
	return err
}

// purge deletes forgotten memories that have left the vector store, and what was copied from them to the pool.
func (s *Service) purge(ctx context.Context, owner memory.Owner, ids []string, cause string) error {
	waiting, err := s.Release(ctx, owner, ids)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(waiting, id) })
	return s.inUserBy(ctx, owner, cause, func(ctx context.Context, tx db.UserTx, changes *history.Recorder) error {
		purged, err := tx.Purge(ctx, ids)
		for _, id := range purged {
			changes.Note(id, memory.EventPurged, nil)
		}
		return err
	})
}
