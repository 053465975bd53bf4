package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// The importance of messages, relative to the gate. Both are below it, since the gate
// decides what is a fact.
const (
	userMessageImportance      = 0.7
	assistantMessageImportance = 0.4
)

// messages drafts memories of the chat messages of a turn, without embeddings and in the order of the
// turn: one of each message, or several of a long one or of one with a dated plan. The memories hold what
// was said, except for what is left out. Their ids are derived from the turn, so that a turn that is processed
// again makes the same memories. previous is what was said last before the turn; zero if it is not known.
// Nothing counts as left out if messages are not kept at all.
func (s *Service) messages(turn memory.Turn, previous memory.Message, e echoes) (
	drafts []memory.Memory, leftOut []memory.Omission,
) {
	if !s.set.Messages {
		return nil, nil
	}
	remarks := !s.onlyStates(turn.Messages)
	for place, m := range turn.Messages {
		importance := s.set.Threshold * userMessageImportance
		if m.Role == memory.RoleAssistant {
			importance = s.set.Threshold * assistantMessageImportance
		}
		said := m
		if turn.IsOthers(m) {
			said.Content = aboutUser(turn, m)
		}
		kept, left := s.sift(said, s.isQuestion(previous.Content), e, remarks)
		left[memory.OmittedPerson] += visible(m.Content) - visible(said.Content)
		asked := s.questionBefore(m, previous)
		if m.IsSpoken() {
			previous = m
		}
		for _, reason := range memory.OmissionReasons {
			leftOut = omit(leftOut, place, reason, left[reason])
		}
		for part, p := range s.pieces(turn, place, kept) {
			draft := memory.Memory{
				ID:    memory.DerivedID(turn.ID, place, part),
				Owner: turn.Owner, AgentID: turn.AgentID, ConversationID: turn.ConversationID, SourceTurnID: turn.ID,
				Speaker: memory.SpeakerOf(m.Role, m.Name), Asked: asked, Content: p.content, Type: memory.TypeMessage,
				Importance: importance, CreatedAt: turn.SaidAt(place), ExpiresAt: p.ends,
			}
			if turn.IsOthers(m) {
				draft.Metadata = memory.SaidOf(turn.Shared.Name)
			}
			draft.Domain = s.Guess(draft.Content)
			draft.Lexemes = text.Join(text.Lexemes(draft.IndexedTextIn(cmp.Or(turn.Zone, time.UTC))))
			drafts = append(drafts, draft)
		}
	}
	return drafts, leftOut
}

// partRunes returns the number of characters up to which a message is one memory. A longer one has a vector for each
// part, and contexts hold the parts that a question asks for. The built-in transformer reads 254 Chinese characters.
func partRunes(s string) int {
	if text.IsChinese(s) {
		return 240
	}
	return 600
}

// indexMessages adds the day of their user to the lexemes of messages that were written directly.
func (s *Service) indexMessages(ctx context.Context, memories []memory.Memory) ([]memory.Memory, error) {
	for i := range memories {
		m := &memories[i]
		if m.Type != memory.TypeMessage {
			continue
		}
		zone, err := s.Zone.Of(ctx, m.Owner)
		if err != nil {
			return nil, err
		}
		m.Lexemes = text.Join(text.Lexemes(m.IndexedTextIn(zone)))
	}
	return memories, nil
}

// sift returns the part of a message that is remembered, and the number of visible characters of the other parts by
// reason. answers: the message answers a question, so that small talk says something. remarks: remarks of the assistant
// are remembered.
func (s *Service) sift(m memory.Message, answers bool, e echoes, remarks bool) (
	kept string, left map[memory.OmissionReason]int,
) {
	if reason := s.omits(m, answers); reason != "" {
		return "", map[memory.OmissionReason]int{reason: visible(m.Content)}
	}
	left = map[memory.OmissionReason]int{}
	sentences := text.Sentences(m.Content)
	said := make([]string, 0, len(sentences))
	for _, sentence := range sentences {
		switch {
		case e.repeats(m.Role, sentence, len(sentences)):
			left[memory.OmittedEcho] += visible(sentence)
		case m.Role == memory.RoleAssistant && !remarks && isRemark(sentence):
			left[memory.OmittedRemark] += visible(sentence)
		default:
			said = append(said, sentence)
		}
	}
	kept = strings.Join(said, "")
	if m.Role == memory.RoleAssistant {
		whole := visible(kept)
		kept = strings.Join(gist(said, s.set.AnswerRunes), "")
		left[memory.OmittedLongAnswer] = whole - visible(kept)
	}
	return kept, left
}

// omits returns why no part of a message may be remembered; "" if a part may be.
func (s *Service) omits(m memory.Message, answers bool) memory.OmissionReason {
	switch {
	case !m.IsChat():
		return memory.OmittedKind
	case m.Role != memory.RoleUser && m.Role != memory.RoleAssistant:
		return memory.OmittedRole
	case s.IsSmallTalk(m.Content) && (!answers || m.Role != memory.RoleUser):
		return memory.OmittedSmallTalk
	}
	return ""
}

var listItem = lazyregexp.New(`^\s*(?:[-*•·]|\d{1,3}[.)、）]|[（(]\d{1,3}[)）])\s*\S`)

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

// statedBy returns the name in the user's message that a fact of a turn was taken from, and when the message was said.
// The name is "" if the message has no name or has the user's id.
func statedBy(fact string, turn memory.Turn) (name string, at time.Time) {
	hasNameOrTime := func(m memory.Message) bool { return m.Role == memory.RoleUser && m.Name != "" || !m.At.IsZero() }
	if !slices.ContainsFunc(turn.Messages, hasNameOrTime) {
		return "", turn.At
	}
	var users []memory.Memory
	_, last := turn.Said()
	for i, m := range turn.Messages {
		if m.Role == memory.RoleUser {
			users = append(users, memory.Memory{
				Type: memory.TypeMessage, Speaker: memory.SpeakerOf(m.Role, m.Name), Content: m.Content,
				CreatedAt: turn.SaidAt(i),
			})
		}
	}
	message := spoken(fact, turn, users)
	switch {
	case message == nil:
		return "", last
	case strings.EqualFold(message.Speaker, turn.UserID) && !turn.Shared.Is():
		return "", message.CreatedAt
	}
	return memory.NameOf(message.Speaker), message.CreatedAt
}

// spoken returns the message among drafts that a fact of a turn was taken from: the one that holds most of the fact's
// words, the earliest of several. If no message has any of the words, as when a model states the fact in another
// language, spoken returns the user's message if there is only one, else nil.
func spoken(fact string, turn memory.Turn, messages []memory.Memory) *memory.Memory {
	words, best := set(text.Lexemes(fact)), 0.0
	var found, users *memory.Memory
	several := false
	for i := range messages {
		said := messages[i]
		said.Asked = "" // of another speaker
		if c := coverage(words, set(text.Lexemes(said.IndexedText()))); c > best {
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
