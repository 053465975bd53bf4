package scorer

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"strings"
	"text/template"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

const (
	maxTurnRunes    = 24_000 // of message text in one prompt
	maxMessageRunes = 8_000  // of one message
	cutMark         = " […]" // ends a message that was cut
	maxAnswerTokens = 4096
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var (
	promptEN = template.Must(template.ParseFS(promptFiles, "prompts/score.en.txt"))
	promptZH = template.Must(template.ParseFS(promptFiles, "prompts/score.zh.txt"))
)

// promptData fills a prompt file.
type promptData struct {
	MaxFacts  int
	At        string   // of the turn, with the weekday
	Lines     []string // messages, one JSON object each
	LeftOut   int      // messages dropped from the beginning
	Delimiter string   // around the lines; derived from them, so that no message can hold it
}

// render makes the prompt of a turn, in the language of the user's words.
func render(turn memory.Turn) (llm.Prompt, error) {
	messages, leftOut := fit(turn.Messages)
	data := promptData{
		MaxFacts: MaxFacts,
		At:       turn.At.Format("2006-01-02 15:04 MST, Monday"),
		LeftOut:  leftOut,
	}
	sum := sha256.New()
	for _, m := range messages {
		line, err := quote(m)
		if err != nil {
			return llm.Prompt{}, memory.Errorf(memory.KindInternal, "quote a message for the scorer: %w", err)
		}
		data.Lines = append(data.Lines, line)
		sum.Write([]byte(line))
	}
	data.Delimiter = "=====" + hex.EncodeToString(sum.Sum(nil)[:8]) + "====="
	prompt := promptEN
	if text.IsChinese(userWords(messages)) {
		prompt = promptZH
	}
	var system, user strings.Builder
	for name, into := range map[string]*strings.Builder{"system": &system, "user": &user} {
		if err := prompt.ExecuteTemplate(into, name, data); err != nil {
			return llm.Prompt{}, memory.Errorf(memory.KindInternal, "fill the scorer's prompt: %w", err)
		}
	}
	return llm.Prompt{System: system.String(), User: user.String(), MaxTokens: maxAnswerTokens}, nil
}

// fit bounds the messages: each is cut to its limit, and the earliest are left
// out until the rest fits.
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

// quote writes a message as one line of JSON, readable in any script.
func quote(m memory.Message) (string, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(m)
	return strings.TrimSuffix(line.String(), "\n"), err
}

// userWords joins what the user said, or all of it if nothing is the user's.
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
