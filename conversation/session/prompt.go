package session

import (
	"cmp"
	"strings"
	"time"

	"hippocampus/internal/grounding"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/scorer/voice"
)

// promptEvent is an event as a line of a prompt.
type promptEvent struct {
	Day  string             `json:"day,omitempty"` // empty: that of the line before
	Role string             `json:"role"`
	Name string             `json:"name,omitempty"`
	Kind memory.MessageKind `json:"kind,omitempty"` // empty for chat
	Said string             `json:"said"`
}

// PromptLines returns a summary of earlier events, if it is not empty, and events as lines of a prompt, with at
// most so many characters of each event's content.
func PromptLines(summary string, events []Event, maxRunes int) []any {
	var lines []any
	if summary != "" {
		lines = append(lines, struct {
			Summary string `json:"summary_so_far"`
		}{summary})
	}
	today := ""
	for _, e := range events {
		line := promptEvent{Role: e.Role, Name: e.Name, Said: memory.Clip(e.Content, maxRunes)}
		if e.Kind != memory.Chat {
			line.Kind = e.Kind
		}
		if day := e.At.Format(prompt.Day); day != today {
			line.Day, today = day, day
		}
		lines = append(lines, line)
	}
	return lines
}

// PromptTime returns the time of events for a prompt: of the first event, and of the last one if it is at least a
// minute later.
func PromptTime(events []Event) string {
	const layout = "2006-01-02 15:04 MST, Monday"
	first, last := events[0].At, events[0].At
	for _, e := range events {
		if e.At.Before(first) {
			first = e.At
		}
		if e.At.After(last) {
			last = e.At
		}
	}
	if last.Sub(first) < time.Minute {
		return first.Format(layout)
	}
	return first.Format(layout) + " – " + last.Format(layout)
}

// Sources returns the sources of a text about a summary and the events after it: one source for each day rather than
// for each message, since messages are not things to count.
func Sources(summary string, events []Event) []grounding.Source {
	var sources []grounding.Source
	if summary != "" {
		sources = append(sources, grounding.Source{Text: summary})
	}
	for _, e := range events {
		said := e.Name + ": " + e.Content
		n := len(sources)
		if n == 0 || sources[n-1].At.Format(time.DateOnly) != e.At.Format(time.DateOnly) {
			sources = append(sources, grounding.Source{Text: said, At: e.At})
			continue
		}
		sources[n-1].Text += "\n" + said
	}
	return sources
}

// Heard returns the talk of a conversation's events, from which the user's statements can be read. The names of the
// speakers count as known.
func Heard(events []Event) *grounding.Talk {
	names := ""
	for _, e := range events {
		names += e.Name + "\n"
	}
	lines := linesOf(names, events)
	lines[0].Names = true
	return grounding.ReadTalk(lines...)
}

// Account returns the statements of all speakers in events and in an earlier summary.
func Account(earlier string, events []Event) grounding.Account {
	return grounding.ReadAccount(linesOf(earlier, events)...)
}

// linesOf returns events as the lines of a talk, after a text that is known already.
func linesOf(known string, events []Event) []grounding.Line {
	lines := make([]grounding.Line, 0, 1+len(events))
	lines = append(lines, grounding.Line{Source: grounding.Source{Text: known}})
	for _, e := range events {
		lines = append(lines, voice.Lines(e.Role, e.Content, e.At)...)
	}
	return lines
}

// Texts joins a summary and the contents of events. The language of a prompt is that of its texts.
func Texts(summary string, events []Event) string {
	texts := []string{summary}
	for _, e := range events {
		texts = append(texts, e.Content)
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// ParseSummary reads an answer that holds a summary of events, and of an earlier summary, in at most maxRunes
// characters. KindBadAnswer: there is no summary, or it is invalid, adds something, or says the opposite of something.
func ParseSummary(answer *llm.Answer, template prompt.Template, earlier string, events []Event, maxRunes int) (
	string, error,
) {
	var reply struct {
		Summary string `json:"summary"`
	}
	if err := answer.Decode(&reply); err != nil {
		return "", err
	}
	summary := strings.TrimSpace(reply.Summary)
	if summary == "" {
		return "", llm.BadAnswer("the answer has no summary")
	}
	why := template.Check(summary, maxRunes, Texts(earlier, events))
	if why == "" {
		has := grounding.Read(Sources(earlier, events)...).Uncounted()
		why = cmp.Or(has.Why(summary), Account(earlier, events).Opposes(summary))
	}
	if why != "" {
		return "", llm.BadAnswer("its summary %s", why)
	}
	return summary, nil
}
