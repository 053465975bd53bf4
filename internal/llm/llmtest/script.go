package llmtest

import (
	"encoding/json"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// The texts that identify the system prompts of the scorer and the router.
const (
	ScoreMark = "hippocampus/score"
	RouteMark = "hippocampus/route"
)

// Fact is one fact of the scorer's answer, which omits empty fields.
type Fact struct {
	Fact       string        `json:"fact"`
	Importance float64       `json:"importance"`
	Domain     memory.Domain `json:"domain"`
	Type       memory.Type   `json:"type,omitempty"`
}

// script holds the answers that the test has set.
type script struct {
	facts   []scripted[[]Fact]
	domains []scripted[[]memory.Domain]
	prompts []scripted[func(ChatRequest) Reply]
}

type scripted[T any] struct {
	part  string
	value T
}

// Facts adds these facts to the scorer's answer to every turn that contains part.
// Turns without a match have no facts.
func (s *Server) Facts(part string, facts ...Fact) {
	s.set(func() { s.script.facts = append(s.script.facts, scripted[[]Fact]{part, facts}) })
}

// Domains makes these the router's answer to every query that contains part; the
// latest match wins. Queries without a match go to three domains other than small
// talk.
func (s *Server) Domains(part string, domains ...memory.Domain) {
	s.set(func() { s.script.domains = append(s.script.domains, scripted[[]memory.Domain]{part, domains}) })
}

// OnPrompt answers the calls whose system prompt contains mark by calling f; the
// latest match wins.
func (s *Server) OnPrompt(mark string, f func(ChatRequest) Reply) {
	s.set(func() { s.script.prompts = append(s.script.prompts, scripted[func(ChatRequest) Reply]{mark, f}) })
}

// Answer answers as the server does without OnChat.
func (s *Server) Answer(r ChatRequest) Reply {
	s.mu.Lock()
	script := s.script
	s.mu.Unlock()
	return script.answer(r)
}

// answer answers a request from a copy of the script.
func (s script) answer(r ChatRequest) Reply {
	for _, p := range slices.Backward(s.prompts) {
		if strings.Contains(r.System, p.part) {
			return p.value(r)
		}
	}
	switch {
	case strings.Contains(r.System, ScoreMark):
		facts := []Fact{}
		turn := withoutBefore(r.User)
		for _, f := range s.facts {
			if contains(turn, f.part) {
				facts = append(facts, f.value...)
			}
		}
		return answerJSON(map[string]any{"facts": facts})
	case strings.Contains(r.System, RouteMark):
		domains := []memory.Domain{memory.Preferences, memory.Profession, memory.Lifestyle}
		for _, d := range s.domains {
			if contains(r.User, d.part) {
				domains = d.value
			}
		}
		return answerJSON(map[string]any{"domains": domains})
	}
	return Text("I do not know this prompt.")
}

// withoutBefore removes the messages before the turn from a prompt of the scorer.
func withoutBefore(prompt string) string {
	var turn strings.Builder
	for line := range strings.Lines(prompt) {
		if !strings.HasPrefix(line, `{"before":true`) {
			turn.WriteString(line)
		}
	}
	return turn.String()
}

func answerJSON(v any) Reply {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a mistake in the test
	}
	return Text(string(text))
}

// contains reports whether a prompt contains a text, literally or encoded as JSON.
func contains(prompt, part string) bool {
	quoted, err := json.Marshal(part)
	return strings.Contains(prompt, part) || err == nil && strings.Contains(prompt, string(quoted[1:len(quoted)-1]))
}
