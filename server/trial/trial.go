// Package trial tries the prompts of the server on one input:
//
//	Input -> Prompt -> llm.Prompt -> model, if there is a chat key -> what the server makes of the answer
//
// Each prompt is rendered, and its answer is read, by the service that uses it. Nothing is stored.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/server/config"
)

// Input is the input of one prompt. Each prompt uses some of the fields, see Prompts.
type Input struct {
	Prompt   string      `json:"prompt"`             // its name
	At       time.Time   `json:"at"`                 // of messages and memories without a time; zero: now
	Before   []Message   `json:"before,omitempty"`   // the messages before a turn
	Messages []Message   `json:"messages,omitempty"` // of a turn or a conversation
	Summary  string      `json:"summary,omitempty"`  // of the conversation before the messages
	Query    string      `json:"query,omitempty"`
	Fact     *Statement  `json:"fact,omitempty"` // a new fact
	Memories []Statement `json:"memories,omitempty"`
	MaxChars int         `json:"max_chars,omitempty"` // of the result

	Workflows []Workflow `json:"workflows,omitempty"` // of a skill

	Policy *memory.Policy  `json:"policy,omitempty"` // of the app
	Schema json.RawMessage `json:"schema,omitempty"` // of the app's profiles
}

// Workflow is a workflow of an Input.
type Workflow struct {
	Workflow  string   `json:"workflow"`
	Successes int      `json:"successes,omitempty"`
	Failures  int      `json:"failures,omitempty"`
	Notes     []string `json:"notes,omitempty"` // on failures
}

// Message is a message of an Input.
type Message struct {
	Role    string             `json:"role"`
	Name    string             `json:"name,omitempty"`
	Kind    memory.MessageKind `json:"kind,omitempty"` // empty: chat
	Content string             `json:"content"`
	At      time.Time          `json:"at,omitzero"` // zero: that of the trial
}

// Statement is a memory of an Input.
type Statement struct {
	Content    string        `json:"content"`
	At         time.Time     `json:"at,omitzero"`          // zero: that of the trial
	Domain     memory.Domain `json:"domain,omitempty"`     // empty: general_chat
	Importance float64       `json:"importance,omitempty"` // 0: 0.8
}

// Outcome is the result of a prompt for an Input.
type Outcome struct {
	Prompt   llm.Prompt
	Model    string        // empty: there is no chat key, and no model was asked
	Readings []llm.Reading // of the model's answers; a second one follows a refused one
	Made     []Made        // what the server makes of the answer
	Err      error         // why it makes nothing of it
}

// Made is one item that the server makes of an answer.
type Made struct {
	Verdict string // of a candidate or a judgement, else "kept"
	Content string
	Note    string // details, or the reason of the verdict
}

// Prompt describes a prompt for people.
type Prompt struct {
	Name  string
	Use   string
	Input string // the fields of an Input that it needs, the first one always

	try func(context.Context, llm.Chat, config.Config, Input) ([]Made, error)
}

// Prompts lists all prompts.
var Prompts = []Prompt{
	{Name: "score", Use: "find facts in a turn", Input: "messages, before", try: tryScore},
	{Name: "policy", Use: "find facts in a turn by the app's policy", Input: "policy, messages, before", try: tryPolicy},
	{Name: "judge", Use: "decide what a new fact means for memories", Input: "fact, memories", try: tryJudge},
	{Name: "route", Use: "choose the domains of a query", Input: "query", try: tryRoute},
	{Name: "reflect", Use: "condense facts into insights", Input: "memories", try: tryReflect},
	{Name: "fields", Use: "fill the app's schema of profiles", Input: "memories, schema", try: tryFields},
	{Name: "evolve", Use: "write how to perform a skill", Input: "workflows", try: tryEvolve},
	{Name: "name", Use: "name an episode", Input: "memories", try: tryName},
	{Name: "compress", Use: "condense old memories into summaries", Input: "memories", try: tryCompress},
	{Name: "condense", Use: "shorten the memories of a context", Input: "memories, max_chars", try: tryCondense},
	{Name: "compact", Use: "condense the older half of a conversation", Input: "messages, summary, max_chars",
		try: tryCompact},
	{Name: "replay", Use: "summarise a conversation that has ended", Input: "messages, summary", try: tryReplay},
	{Name: "deep", Use: "find what lasts in a conversation that has ended", Input: "messages", try: tryDeep},
}

// Run renders a prompt. If the configuration has a chat key, it also asks the model, by a client with the options of
// chat, and reads the answer as the server does.
func Run(ctx context.Context, cfg config.Config, chat llm.Options, t Input) (Outcome, error) {
	i := slices.IndexFunc(Prompts, func(p Prompt) bool { return p.Name == t.Prompt })
	if i < 0 {
		return Outcome{}, fmt.Errorf("there is no prompt %q: hippocampus prompts list names them", t.Prompt)
	}
	try := Prompts[i].try
	rendered := &rendering{}
	if t.At.IsZero() {
		t.At = chat.Now()
	}
	_, err := try(ctx, rendered, cfg, t)
	if rendered.prompt.Name == "" {
		return Outcome{}, fmt.Errorf("the prompt %s needs %s: %w", t.Prompt, Prompts[i].Input, err)
	}
	tried := Outcome{Prompt: rendered.prompt}
	if cfg.Chat.APIKey == "" {
		return tried, nil
	}
	tried.Model = cfg.Chat.ScorerModel
	if t.Prompt == "route" {
		tried.Model = cfg.Chat.RouterModel
	}
	seen := &readings{}
	chat.Observer = seen
	client := llm.NewClient(chat)
	defer client.Close()
	tried.Made, tried.Err = try(ctx, client.Chat(tried.Model), cfg, t)
	tried.Readings = seen.list
	return tried, nil
}

// rendering is a chat model that keeps the prompt and does not answer.
type rendering struct{ prompt llm.Prompt }

var errRendered = errors.New("the prompt is only rendered")

func (r *rendering) Model() string { return "none" }

func (r *rendering) Answer(_ context.Context, p llm.Prompt) (string, error) {
	r.prompt = p
	return "", errRendered
}

// readings keeps how answers were read.
type readings struct {
	mu   sync.Mutex
	list []llm.Reading
}

func (r *readings) OnCall(llm.Call) {}

func (r *readings) OnAnswer(reading llm.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, reading)
}
