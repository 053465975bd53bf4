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
	cutMark         = " […]" // ends a message that was cut
	maxAnswerTokens = 4096
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "score")

// promptData fills a prompt file.
type promptData struct {
	prompt.Quoted // messages, one a line
	MaxFacts      int
	At            string // of the turn, with the weekday
	LeftOut       int    // messages dropped from the beginning
}

// render returns the prompt of a turn, in the language of the user's messages.
func render(turn memory.Turn) (llm.Prompt, error) {
	messages, leftOut := fit(turn.Messages)
	quoted, err := prompt.Quote(messages...)
	if err != nil {
		return llm.Prompt{}, err
	}
	return template.Render(userWords(messages), promptData{
		Quoted: quoted, MaxFacts: MaxFacts, LeftOut: leftOut, At: turn.At.Format("2006-01-02 15:04 MST, Monday"),
	}, maxAnswerTokens)
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

// userWords joins the user's messages, or all messages if the user has none.
func userWords(messages []memory.Message) string {
	var user, all []string
	for _, m := range messages {
		all = append(all, m.Content)
		if m.Role == "user" {
			user = append(user, m.Content)
		}
	}
	if user == nil {
		user = all
	}
	return strings.Join(user, "\n")
}
