package ingest

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// The importance of messages, relative to the gate. Both are below it, since the gate
// decides what is a fact.
const (
	userMessageImportance      = 0.7
	assistantMessageImportance = 0.4
)

// messages drafts a memory for each chat message of a turn, without embeddings and in the
// order of the turn. The memories hold what was said, except for small talk, what repeats recalled
// memories, and most of a long answer of the assistant. Their ids are derived from the turn, so that
// a turn that is processed again makes the same memories.
func (s *Service) messages(turn memory.Turn, e echoes) []memory.Memory {
	var drafts []memory.Memory
	if !s.set.Messages {
		return nil
	}
	remarks := !s.onlyStates(turn.Messages)
	for place, m := range turn.Messages {
		importance := s.set.Threshold * userMessageImportance
		if m.Role == memory.RoleAssistant {
			importance = s.set.Threshold * assistantMessageImportance
		}
		for part, content := range text.Divide(s.memorable(m, e, remarks), memory.MaxContentRunes) {
			draft := memory.Memory{
				ID:    memory.DerivedID(turn.ID, place, part),
				Owner: turn.Owner, AgentID: turn.AgentID, ConversationID: turn.ConversationID, SourceTurnID: turn.ID,
				Speaker: memory.SpeakerOf(m.Role, m.Name), Content: content, Type: memory.TypeMessage,
				Importance: importance, CreatedAt: turn.At,
			}
			draft.Domain, draft.Lexemes = s.Guess(content), text.Join(text.Lexemes(draft.IndexedText()))
			drafts = append(drafts, draft)
		}
	}
	return drafts
}

// memorable returns the part of a message that is remembered, with or without the assistant's
// remarks; "" if nothing is.
func (s *Service) memorable(m memory.Message, e echoes, remarks bool) string {
	if !m.IsChat() || m.Role != memory.RoleUser && m.Role != memory.RoleAssistant || s.IsSmallTalk(m.Content) {
		return ""
	}
	sentences := text.Sentences(m.Content)
	kept := sentences[:0]
	for _, sentence := range sentences {
		if !e.repeats(m.Role, sentence, len(sentences)) &&
			(remarks || m.Role == memory.RoleUser || !isRemark(sentence)) {
			kept = append(kept, sentence)
		}
	}
	if m.Role == memory.RoleAssistant {
		kept = gist(kept, s.set.AnswerRunes)
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

var listItem = regexp.MustCompile(`^\s*(?:[-*•·]|\d{1,3}[.)、）]|[（(]\d{1,3}[)）])\s*\S`)

// gist returns the sentences at the beginning of an answer, up to a number of characters and
// at least one, and the items of lists that follow.
func gist(sentences []string, limit int) []string {
	var kept []string
	used, lineStart := 0, true
	for _, sentence := range sentences {
		used += utf8.RuneCountInString(sentence)
		if used <= limit || len(kept) == 0 || lineStart && listItem.MatchString(sentence) {
			kept = append(kept, sentence)
		}
		lineStart = strings.HasSuffix(sentence, "\n")
	}
	return kept
}

// spoken returns the message among drafts that a fact of a turn was taken from: the one that holds most of the fact's
// words, the earliest of several. If none has any of them, as when a model states the fact in another language, it is
// the user's message, if there is only one; else nil.
func spoken(fact string, turn memory.Turn, messages []memory.Memory) *memory.Memory {
	words, best := set(text.Lexemes(fact)), 0.0
	var found, users *memory.Memory
	several := false
	for i := range messages {
		if c := coverage(words, set(text.Split(messages[i].Lexemes))); c > best {
			best, found = c, &messages[i]
		}
		if slices.ContainsFunc(turn.Messages, func(m memory.Message) bool {
			return m.Role == memory.RoleUser && memory.SpeakerOf(m.Role, m.Name) == messages[i].Speaker
		}) {
			several = several || users != nil
			users = &messages[i]
		}
	}
	if found == nil && !several {
		return users
	}
	return found
}
