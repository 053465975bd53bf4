package consolidation

import (
	"context"

	"hippocampus/conversation/session"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/knowledge/facts"
	classifier "hippocampus/scorer/statement"
)

// TryReplay has a model summarise events, after a summary of earlier ones or "", as the end of a
// conversation does, and stores nothing.
func TryReplay(ctx context.Context, chat llm.Chat, before string, events []session.Logged) (string, error) {
	return (&Service{Parts: Parts{Chat: chat}}).askReplay(ctx, before, share{events: events})
}

// TryDeep has a model find what lasts in events, as the end of a conversation does, and stores nothing.
// The results have a type, a content and an importance.
func TryDeep(ctx context.Context, chat llm.Chat, events []session.Logged) (made []memory.Memory, err error) {
	found, err := (&Service{Parts: Parts{Chat: chat}}).askDeep(ctx, share{events: events})
	for _, f := range found.facts {
		content := facts.Sentence(facts.CanonicalName(f.kind), facts.CanonicalName(f.key), f.value)
		made = append(made, memory.Memory{
			Type: memory.TypeFact, Content: content,
			Importance: facts.Importance(content, classifier.Domain(content), f.confidence),
		})

	}
	for _, m := range found.memories {
		made = append(made, memory.Memory{Type: m.kind, Content: m.text, Importance: m.importance})
	}
	return made, err
}
