package consolidation

import (
	"context"

	"hippocampus/conversation/session"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// TryReplay has a model summarise events, as at the end of a conversation, and stores nothing. before is the summary of
// earlier events, or "".
func TryReplay(ctx context.Context, chat llm.Chat, before string, events []session.Logged) (string, error) {
	return (&Service{Parts: Parts{Chat: chat}}).askReplay(ctx, before, share{events: events})
}

// TryDeep has a model find lasting statements in events, as at the end of a conversation, and stores nothing. It
// returns facts as memories too, as if a single agent had seen the events.
func TryDeep(ctx context.Context, chat llm.Chat, guess func(string) memory.Domain, events []session.Logged) (
	[]memory.Memory, error,
) {
	s := &Service{Parts: Parts{Chat: chat, Guess: guess}}
	sh := share{agentID: "any", events: events}
	found, err := s.askDeep(ctx, sh)
	if err != nil {
		return nil, err
	}
	_, made := s.evidence(memory.Consolidation{}, sh, found.facts)
	for _, m := range found.memories {
		made = append(made, sh.draft(memory.Consolidation{}, m.kind, m.text, guess(m.text), m.importance))
	}
	return made, nil
}
