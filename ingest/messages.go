package ingest

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer"
)

// The importance of messages, relative to the gate. Both are below it, since the gate
// decides what is a fact.
const (
	userMessageImportance      = 0.7
	assistantMessageImportance = 0.4
)

// messages drafts a memory for each chat message of a turn, without embeddings and in the
// order of the turn. The memories hold what was said, except for small talk, sentences with
// secrets, what repeats recalled memories, and most of a long answer of the assistant.
func (s *Service) messages(turn memory.Turn, e echoes) []memory.Memory {
	var drafts []memory.Memory
	if !s.set.Messages {
		return nil
	}
	remarks := !s.onlyStates(turn.Messages)
	for _, m := range turn.Messages {
		importance := s.set.Threshold * userMessageImportance
		if m.Role == memory.RoleAssistant {
			importance = s.set.Threshold * assistantMessageImportance
		}
		for _, content := range pieces(s.memorable(m, e, remarks), memory.MaxContentRunes) {
			draft := memory.Memory{
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
		if !scorer.HoldsSecret(sentence) && !e.repeats(m.Role, sentence, len(sentences)) &&
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

// pieces cuts a text at the ends of sentences into pieces of at most limit characters. A
// longer sentence is cut anywhere.
func pieces(said string, limit int) []string {
	var list []string
	var piece strings.Builder
	size := 0
	flush := func() {
		if content := strings.TrimSpace(piece.String()); content != "" {
			list = append(list, content)
		}
		piece.Reset()
		size = 0
	}
	for _, sentence := range text.Sentences(said) {
		for _, part := range chunks(sentence, limit) {
			n := utf8.RuneCountInString(part)
			if size+n > limit {
				flush()
			}
			piece.WriteString(part)
			size += n
		}
	}
	flush()
	return list
}

// chunks cuts a text into parts of at most limit characters.
func chunks(s string, limit int) []string {
	if len(s) <= limit {
		return []string{s}
	}
	var list []string
	runes := []rune(s)
	for ; len(runes) > limit; runes = runes[limit:] {
		list = append(list, string(runes[:limit]))
	}
	return append(list, string(runes))
}

// spoken returns the message among drafts that a fact was taken from: the one that holds most
// of the fact's words, the earliest of several; nil if no message has any of them.
func spoken(fact string, messages []memory.Memory) *memory.Memory {
	words, best := set(text.Lexemes(fact)), 0.0
	var found *memory.Memory
	for i := range messages {
		if c := coverage(words, set(text.Split(messages[i].Lexemes))); c > best {
			best, found = c, &messages[i]
		}
	}
	return found
}
