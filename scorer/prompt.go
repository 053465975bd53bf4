package scorer

import (
	"embed"
	"strings"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
)

const (
	maxTurnRunes    = 24_000 // of message text in one prompt
	maxMessageRunes = 8_000  // of one message
	maxBeforeRunes  = 400    // of one message before the turn
	cutMark         = " […]" // stands for what was cut off
	maxAnswerTokens = 4096
)

//go:embed prompts
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "score")

// promptData fills a prompt file. Only the user block may use it: the system block is the same for all
// turns, so that endpoints can cache it.
type promptData struct {
	prompt.Quoted        // messages, one a line
	At            string // of the turn, with the weekday
	LeftOut       int    // messages dropped from the beginning
}

// line is a message in a prompt.
type line struct {
	Before  bool               `json:"before,omitempty"` // said before the turn
	Role    string             `json:"role"`
	Name    string             `json:"name,omitempty"`
	At      string             `json:"at,omitempty"` // empty: at the time of the turn
	Kind    memory.MessageKind `json:"kind,omitempty"`
	Content string             `json:"content"`
}

// timeLayout is how times are written in a prompt.
const timeLayout = "2006-01-02 15:04 MST, Monday"

// lineOf returns a message of a turn, or one before it, as a line.
func lineOf(turn memory.Turn, m memory.Message) line {
	l := line{Role: m.Role, Name: m.Name, Content: m.Content}
	if at := turn.Local(m.At); !m.At.IsZero() && at.Format(timeLayout) != turn.Local(turn.At).Format(timeLayout) {
		l.At = at.Format(timeLayout)
	}
	if !m.IsChat() {
		l.Kind = m.Kind
	}
	return l
}

// render returns the prompt of a turn and of messages before it, in the language of the user's messages.
func render(turn memory.Turn, before []memory.Message) (llm.Prompt, error) {
	messages, leftOut := fit(turn.Messages)
	var lines []line
	for _, m := range before {
		l := lineOf(turn, m)
		l.Before = true
		// A reply refers to the end of what was said.
		if all := []rune(m.Content); len(all) > maxBeforeRunes {
			l.Content = strings.TrimLeft(cutMark, " ") + " " + string(all[len(all)-maxBeforeRunes:])
		}
		lines = append(lines, l)
	}
	for _, m := range messages {
		lines = append(lines, lineOf(turn, m))
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return llm.Prompt{}, err
	}
	said := userWords(messages)
	p, err := template.Render(said, promptData{
		Quoted: quoted, LeftOut: leftOut, At: turn.Local(turn.At).Format(timeLayout),
	}, maxAnswerTokens)
	if err != nil || !SpeaksToModel(turn.Policy) {
		return p, err
	}
	return withPolicy(p, *turn.Policy, said)
}

// fit cuts each message to maxMessageRunes, and drops the earliest messages until the rest fits
// into maxTurnRunes.
func fit(all []memory.Message) (kept []memory.Message, leftOut int) {
	room := maxTurnRunes
	start := len(all)
	kept = make([]memory.Message, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		m := all[i]
		runes := []rune(m.Content)
		if len(runes) > maxMessageRunes {
			runes = runes[:maxMessageRunes]
			m.Content = string(runes) + cutMark
		}
		if room -= len(runes); room < 0 {
			break
		}
		kept[i] = m
		start = i
	}
	return kept[start:], start
}

// userWords joins the user's messages, or all messages if the user wrote no message.
func userWords(messages []memory.Message) string {
	var user []memory.Message
	for _, m := range messages {
		if m.Role == memory.RoleUser {
			user = append(user, m)
		}
	}
	if user == nil {
		user = messages
	}
	return words(user)
}
