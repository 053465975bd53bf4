package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hippocampus/conversation/consolidation"
	"hippocampus/conversation/session"
	"hippocampus/ingest"
	"hippocampus/ingest/judge"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/evolution"
	"hippocampus/recall/profile"
	"hippocampus/reflection"
	"hippocampus/reflection/compression"
	"hippocampus/reflection/derivation"
	"hippocampus/reflection/episodes"
	"hippocampus/router"
	"hippocampus/scorer"
	"hippocampus/scorer/statement"
	"hippocampus/server/config"
)

var (
	errNoMessages = errors.New("there are no messages")
	errNoMemories = errors.New("there are no memories")
)

func tryScore(ctx context.Context, chat llm.Chat, cfg config.Config, t Input) (made []Made, err error) {
	if len(t.Messages) == 0 {
		return nil, errNoMessages
	}
	turn := memory.Turn{At: t.At, Messages: messagesOf(t.Messages), Policy: t.Policy}
	before := messagesOf(t.Before)
	facts, err := scorer.NewLLM(chat).Score(ctx, turn, before)
	talk := ingest.TalkOf(turn, before)
	for _, f := range facts {
		if f.IsNever {
			made = append(made, Made{Verdict: neverKept, Content: f.Content})
			continue
		}
		one := Made{
			Verdict: string(memory.Kept), Content: f.Content,
			Note: fmt.Sprintf("importance %.2f, %s, %s", f.Importance, f.Domain, f.Type),
		}
		switch {
		case f.Invalid != "":
			one.Verdict, one.Note = string(memory.InvalidAnswer), f.Invalid
		case talk.Unsaid(f.Content) != "":
			one.Verdict, one.Note = string(memory.InvalidAnswer), "not said: "+talk.Unsaid(f.Content)
		case f.Importance < cfg.Gate.Threshold:
			one.Verdict = string(memory.BelowThreshold)
		}
		made = append(made, one)
	}
	return made, err
}

// neverKept is the verdict of words that the app's policy never keeps.
const neverKept = "never kept"

func tryPolicy(ctx context.Context, chat llm.Chat, cfg config.Config, t Input) ([]Made, error) {
	if !scorer.SpeaksToModel(t.Policy) {
		return nil, errors.New("there is no policy with instructions, types, domains or categories")
	}
	return tryScore(ctx, chat, cfg, t)
}

func tryJudge(ctx context.Context, chat llm.Chat, _ config.Config, t Input) (made []Made, err error) {
	if t.Fact == nil || len(t.Memories) == 0 || len(t.Memories) > judge.MaxNear {
		return nil, fmt.Errorf("there is no fact, or there are not 1 to %d memories", judge.MaxNear)
	}
	near := t.statements(t.Memories)
	verdicts, err := judge.NewLLM(chat).Judge(ctx, t.statements([]Statement{*t.Fact})[0], near)
	for i, v := range verdicts {
		one := Made{Verdict: string(v.Decision), Content: near[i].Content, Note: string(v.Relation)}
		if v.Merged != "" {
			one.Note = strings.TrimSpace(one.Note + " merged: " + v.Merged)
		} else if v.Why != "" {
			one.Note = v.Why
		}
		made = append(made, one)
	}
	return made, err
}

func tryRoute(ctx context.Context, chat llm.Chat, _ config.Config, t Input) (made []Made, err error) {
	if t.Query == "" {
		return nil, errors.New("there is no query")
	}
	domains, err := router.NewLLM(chat).Route(ctx, t.Query)
	for _, d := range domains {
		made = append(made, Made{Verdict: string(memory.Kept), Content: string(d)})
	}
	return made, err
}

func tryReflect(ctx context.Context, chat llm.Chat, _ config.Config, t Input) (made []Made, err error) {
	if len(t.Memories) == 0 {
		return nil, errNoMemories
	}
	tried, err := reflection.Try(ctx, chat, t.statements(t.Memories))
	for i, in := range tried.Insights {
		one := derived(in)
		if retire := tried.Retire[i]; len(retire) > 0 {
			one.Note += ", retires " + strings.Join(retire, ", ")
		}
		made = append(made, one)
	}
	return append(made, leftOut(tried.LeftOut)...), err
}

func tryFields(ctx context.Context, chat llm.Chat, _ config.Config, t Input) (made []Made, err error) {
	if len(t.Memories) == 0 {
		return nil, errNoMemories
	}
	found, err := profile.Try(ctx, chat, t.Schema, t.statements(t.Memories))
	for _, f := range found {
		made = append(made, Made{Verdict: string(memory.Kept), Content: f.Field + ": " + f.Value, Note: "from " + f.ID})
	}
	return made, err
}

func tryEvolve(ctx context.Context, chat llm.Chat, _ config.Config, t Input) (made []Made, err error) {
	workflows := make([]memory.Workflow, len(t.Workflows))
	for i, w := range t.Workflows {
		workflows[i] = memory.Workflow{Text: w.Workflow, Successes: w.Successes, Failures: w.Failures}
		for _, note := range w.Notes {
			workflows[i].Notes = append(workflows[i].Notes, memory.OutcomeNote{Note: note})
		}
	}
	if len(workflows) == 0 {
		return nil, errors.New("workflows: give at least one")
	}
	steps, err := evolution.Try(ctx, chat, workflows)
	for _, s := range steps {
		made = append(made, Made{Verdict: string(memory.Kept), Content: s.Line})
	}
	return made, err
}

func tryName(ctx context.Context, chat llm.Chat, _ config.Config, t Input) ([]Made, error) {
	if len(t.Memories) == 0 {
		return nil, errNoMemories
	}
	return oneMade(episodes.Try(ctx, chat, t.statements(t.Memories)))
}

func tryCompress(ctx context.Context, chat llm.Chat, _ config.Config, t Input) (made []Made, err error) {
	if len(t.Memories) == 0 {
		return nil, errNoMemories
	}
	summaries, refused, err := compression.Try(ctx, chat, t.statements(t.Memories))
	for _, s := range summaries {
		made = append(made, derived(s))
	}
	return append(made, leftOut(refused)...), err
}

func derived(c derivation.Conclusion) Made {
	return Made{
		Verdict: string(memory.Kept), Content: c.Content, Note: "from " + strings.Join(memory.IDs(c.Sources), ", "),
	}
}

func leftOut(reasons []string) (made []Made) {
	for _, why := range reasons {
		made = append(made, Made{Verdict: string(memory.InvalidAnswer), Content: why})
	}
	return made
}

func tryCondense(ctx context.Context, chat llm.Chat, cfg config.Config, t Input) ([]Made, error) {
	if len(t.Memories) == 0 {
		return nil, errNoMemories
	}
	var lines []compression.Line
	for _, m := range t.statements(t.Memories) {
		lines = append(lines, compression.Line{Said: m.CreatedAt, Text: m.Content})
	}
	condenser := compression.NewCondenser(chat, compression.Limits{Timeout: cfg.Chat.Timeout})
	text, why := condenser.Condense(ctx, lines, compression.Room{Size: t.maxChars()}, "")
	if why != "" {
		return nil, errors.New(why)
	}
	return []Made{{Verdict: string(memory.Kept), Content: text}}, nil
}

func tryCompact(ctx context.Context, chat llm.Chat, _ config.Config, t Input) ([]Made, error) {
	if len(t.Messages) == 0 {
		return nil, errNoMessages
	}
	var events []session.Event
	for _, e := range t.logged() {
		events = append(events, e.Event)
	}
	return oneMade(session.Try(ctx, chat, t.Summary, events, t.maxChars()))
}

func tryReplay(ctx context.Context, chat llm.Chat, _ config.Config, t Input) ([]Made, error) {
	if len(t.Messages) == 0 {
		return nil, errNoMessages
	}
	return oneMade(consolidation.TryReplay(ctx, chat, t.Summary, t.logged()))
}

func tryDeep(ctx context.Context, chat llm.Chat, _ config.Config, t Input) (made []Made, err error) {
	if len(t.Messages) == 0 {
		return nil, errNoMessages
	}
	found, err := consolidation.TryDeep(ctx, chat, statement.Domain, t.logged())
	for _, m := range found {
		made = append(made, Made{
			Verdict: string(memory.Kept), Content: m.Content, Note: fmt.Sprintf("importance %.2f, %s", m.Importance, m.Type),
		})
	}
	return made, err
}

func oneMade(text string, err error) ([]Made, error) {
	if err != nil {
		return nil, err
	}
	return []Made{{Verdict: string(memory.Kept), Content: text}}, nil
}

// defaultChars is the size of a result if the trial states no size.
const defaultChars = 500

func (t Input) maxChars() int {
	if t.MaxChars == 0 {
		return defaultChars
	}
	return t.MaxChars
}

// statements returns memories whose ids are their numbers, from 1.
func (t Input) statements(list []Statement) []memory.Memory {
	memories := make([]memory.Memory, len(list))
	for i, s := range list {
		m := memory.Memory{
			ID: fmt.Sprint(i + 1), Content: s.Content, CreatedAt: s.At, Domain: s.Domain, Importance: s.Importance,
			Type: memory.TypeFact,
		}
		if m.CreatedAt.IsZero() {
			m.CreatedAt = t.At
		}
		if m.Domain == "" {
			m.Domain = memory.GeneralChat
		}
		if m.Importance == 0 {
			m.Importance = 0.8
		}
		memories[i] = m
	}
	return memories
}

func messagesOf(list []Message) []memory.Message {
	messages := make([]memory.Message, len(list))
	for i, m := range list {
		messages[i] = memory.Message{Role: m.Role, Name: m.Name, Kind: m.Kind, Content: m.Content}
	}
	return messages
}

// logged returns the messages as events of a conversation, one turn each.
func (t Input) logged() []session.Logged {
	events := make([]session.Logged, len(t.Messages))
	for i, m := range messagesOf(t.Messages) {
		if m.Kind == "" {
			m.Kind = memory.Chat
		}
		at := t.Messages[i].At
		if at.IsZero() {
			at = t.At.Add(time.Duration(i) * time.Second)
		}
		turn := memory.Turn{ID: fmt.Sprint(i + 1), At: at, FirstEvent: int64(i + 1), Messages: []memory.Message{m}}
		events[i] = session.Logged{Event: session.EventsOf(turn)[0], Turn: turn}
	}
	return events
}
