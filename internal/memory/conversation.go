package memory

import (
	"strings"
	"time"
	"unicode"
)

// Conversation is a user's turns under one conversation id, in order. Each of
// their messages is an event; events are numbered from 1.
type Conversation struct {
	Owner
	ID    string // as the client chose it, 1..MaxIDBytes bytes
	Began string // id of the turn that began it: another one where it was deleted and begun anew
	Title string // 1..MaxTitleRunes characters; empty: nothing was said yet that makes one

	Summary           string // of the events 1..SummarisedThrough; empty: none
	SummarisedThrough int64
	SummarisedTokens  int64 // of the events that the summary stands for, and of those of before tokens were counted

	ConsolidatedThrough int64 // the last event up to which the stated ones have passed the gate

	Turns  int64
	Events int64 // how many there are, and so the number of the last one
	Tokens int64 // of all events, see text.CountTokens

	StartedAt time.Time // when the first of what was said was said
	LastAt    time.Time // ... and the last
	EndedAt   time.Time // zero: it is open
	EndReason string    // empty unless it has ended
}

// Fill is how full a working memory of so many events and tokens is with what
// the summary does not stand for: 1 is full, and more is over it.
func (c *Conversation) Fill(events, tokens int) float64 {
	return max(float64(c.Events-c.SummarisedThrough)/float64(events), float64(c.Tokens-c.SummarisedTokens)/float64(tokens))
}

// SameTalk reports whether nothing has been said between two reads of a
// conversation, and it was not begun anew.
func (c *Conversation) SameTalk(other Conversation) bool {
	return c.Began == other.Began && c.Events == other.Events
}

// MessageKind says what an event is.
type MessageKind string

// The kinds of message.
const (
	Chat        MessageKind = "chat" // something was said; also what an empty kind means
	Observation MessageKind = "observation"
	Task        MessageKind = "task"
	Decision    MessageKind = "decision"
	ToolUse     MessageKind = "tool_use"
	Failure     MessageKind = "error"
	Insight     MessageKind = "insight"
)

// MessageKinds lists every kind.
var MessageKinds = []MessageKind{Chat, Observation, Task, Decision, ToolUse, Failure, Insight}

// MessageContext are flags that make an event matter more.
type MessageContext struct {
	MentionedMe    bool `json:"mentioned_me,omitempty"`
	DirectMessage  bool `json:"direct_message,omitempty"`
	ActionTaken    bool `json:"action_taken,omitempty"`
	ErrorRecovered bool `json:"error_recovered,omitempty"`
}

// IsChat reports whether a message is one that somebody said.
func (m Message) IsChat() bool { return m.Kind == "" || m.Kind == Chat }

// Importance of an event, 0..1, by its kind and context. No model is asked.
func Importance(m Message) float64 {
	hundredths := 50
	switch m.Kind {
	case Chat, "":
		hundredths = 60
	case Observation:
		hundredths = 40
	case Task, ToolUse:
		hundredths = 70
	case Decision:
		hundredths = 80
	case Failure:
		hundredths = 90
	case Insight:
		hundredths = 85
	}
	for _, flag := range []struct {
		set  bool
		adds int
	}{{m.Context.MentionedMe, 20}, {m.Context.DirectMessage, 15}, {m.Context.ActionTaken, 10}, {m.Context.ErrorRecovered, 15}} {
		if flag.set {
			hundredths += flag.adds
		}
	}
	return float64(min(hundredths, 100)) / 100
}

// The lengths of a title, in characters: of one that a client gives, and of one
// that is made.
const (
	MaxTitleRunes  = 200
	madeTitleRunes = 80
)

// TitleOf makes a title of the first thing that the user says in a turn: its
// first line with something on it, cut between words. "": the user says nothing.
func TitleOf(messages []Message) string {
	for _, m := range messages {
		if m.Role != "user" || !m.IsChat() {
			continue
		}
		for line := range strings.Lines(m.Content) {
			if line = strings.Join(strings.FieldsFunc(line, blank), " "); line != "" {
				return Clip(line, madeTitleRunes)
			}
		}
	}
	return ""
}

func blank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Clip cuts a text to so many characters (at least 1), the sign of the cut
// included: after a word, where one ends in the last third of them.
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
