package memory

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// Conversation is a user's turns under one conversation id, in order. Each of
// their messages is an event; events are numbered from 1.
type Conversation struct {
	Owner
	ID          string // as the client chose it, 1..MaxIDBytes bytes
	FirstTurnID string // differs if the conversation was deleted and started again
	Title       string // 1..MaxTitleRunes characters; empty: no message so far makes a title

	Summary           string // of the events 1..SummarisedThrough; empty: no summary
	SummarisedThrough int64
	SummarisedTokens  int64 // of the summarised events, and of events stored before tokens were counted

	ConsolidatedThrough int64 // events up to this number, other than chat, have passed the gate

	Edition int64 // grows when what is withheld of its turns changes

	Turns  int64
	Events int64 // how many events there are, which is also the number of the last one
	Tokens int64 // of all events, see text.CountTokens

	StartedAt time.Time // time of the first message
	LastAt    time.Time // time of the last message
	EndedAt   time.Time // zero: it is open
	EndReason string    // empty unless it has ended

	Memory Mode // that is set for it; see UserMode
}

// FillRatio returns how full a working memory with room for these numbers of events and tokens is. It counts what the
// summary does not cover: 1 is full, above 1 is over the limit.
func (c *Conversation) FillRatio(events, tokens int) float64 {
	return max(
		float64(c.Events-c.SummarisedThrough)/float64(events),
		float64(c.Tokens-c.SummarisedTokens)/float64(tokens))
}

// SummaryImportance is the importance of a memory that sums up a conversation or some
// of its messages.
const SummaryImportance = 0.7

// SameEvents reports whether no event was added between two reads of a
// conversation, and it was not deleted and started again.
func (c *Conversation) SameEvents(other Conversation) bool {
	return c.FirstTurnID == other.FirstTurnID && c.Events == other.Events
}

// MessageKind says what an event is.
type MessageKind string

// The kinds of message.
const (
	Chat        MessageKind = "chat" // an utterance; an empty kind means the same
	Observation MessageKind = "observation"
	Task        MessageKind = "task"
	Decision    MessageKind = "decision"
	ToolUse     MessageKind = "tool_use"
	Failure     MessageKind = "error"
	Insight     MessageKind = "insight"
)

// MessageKinds lists every kind.
var MessageKinds = []MessageKind{Chat, Observation, Task, Decision, ToolUse, Failure, Insight}

// MessageRoles lists who may speak, as in OpenAI's chat completions.
var MessageRoles = []string{"user", "assistant", "system", "developer", "tool", "function"}

// MessageContext are flags that make an event matter more.
type MessageContext struct {
	MentionedMe    bool `json:"mentioned_me,omitempty"`
	DirectMessage  bool `json:"direct_message,omitempty"`
	ActionTaken    bool `json:"action_taken,omitempty"`
	ErrorRecovered bool `json:"error_recovered,omitempty"`
}

// IsChat reports whether the message is an utterance.
func (m Message) IsChat() bool { return m.Kind == "" || m.Kind == Chat }

// IsSpoken reports whether the user or the assistant says the message.
func (m Message) IsSpoken() bool {
	return m.IsChat() && (m.Role == RoleUser || m.Role == RoleAssistant)
}

// LastSpoken returns the last message of the user or the assistant; a zero message if they say nothing.
func LastSpoken(messages []Message) Message {
	for _, m := range slices.Backward(messages) {
		if m.IsSpoken() {
			return m
		}
	}
	return Message{}
}

// Importance rates an event, 0..1, by its kind and context, without a model.
func Importance(m Message) float64 {
	percent := 50
	switch m.Kind {
	case Chat, "":
		percent = 60
	case Observation:
		percent = 40
	case Task, ToolUse:
		percent = 70
	case Decision:
		percent = 80
	case Failure:
		percent = 90
	case Insight:
		percent = 85
	}
	if m.Context.MentionedMe {
		percent += 20
	}
	if m.Context.DirectMessage {
		percent += 15
	}
	if m.Context.ActionTaken {
		percent += 10
	}
	if m.Context.ErrorRecovered {
		percent += 15
	}
	return float64(min(percent, 100)) / 100
}

// The greatest lengths of a title, in characters.
const (
	MaxTitleRunes     = 200 // given by a client
	derivedTitleRunes = 80  // derived by TitleOf
)

// Title is the title that a conversation gets from the turn: see TitleOf. It is empty if nothing is kept from the turn.
func (t Turn) Title() string {
	if !t.Memory.Keeps() {
		return ""
	}
	return TitleOf(t.Readable())
}

// TitleOf makes a title of the user's first utterance in a turn: its first
// line that is not blank, cut between words; "" if the user says nothing.
func TitleOf(messages []Message) string {
	for _, m := range messages {
		if m.Role != "user" || !m.IsChat() {
			continue
		}
		for line := range strings.Lines(m.Content) {
			if line = strings.Join(strings.FieldsFunc(line, isBlank), " "); line != "" {
				return Clip(line, derivedTitleRunes)
			}
		}
	}
	return ""
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Clip cuts a text to the given number of characters (at least 1), including the ellipsis. It cuts after a word if a
// word ends in the last third of the text.
func Clip(s string, runes int) string {
	all := []rune(s)
	if len(all) <= runes {
		return s
	}
	cut := runes - 1
	for i := cut; i > 2*runes/3; i-- {
		if unicode.IsSpace(all[i]) {
			cut = i
			break
		}
	}
	return strings.TrimRightFunc(string(all[:cut]), unicode.IsSpace) + "…"
}
