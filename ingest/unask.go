package ingest

import (
	"context"
	"slices"
	"strings"

	"hippocampus/db"
	"hippocampus/ingest/statement"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// unask plans that messages are kept without the question that they answer, if the question is forgotten.
func (p *forgetting) unask(ctx context.Context, roots []memory.Memory, docs []db.Document) error {
	gone, err := p.gone(ctx, roots)
	if err != nil || len(gone) == 0 {
		return err
	}
	answers, err := p.answers(ctx, roots, docs)
	if err != nil {
		return err
	}
	for _, d := range answers {
		i := slices.IndexFunc(gone, func(g goneText) bool { return g.isIn(d.Asked) })
		c := p.plannedFor(d.ID)
		switch {
		case i < 0, p.isAsked(d.ID), c != nil && c.Left == "":
			continue
		case c == nil:
			c = &planned{Found: statement.Found{ID: d.ID, Left: d.Content, Why: statement.Answers}, root: gone[i].root,
				said: d.Content}
			p.planned = append(p.planned, c)
		}
		without := memory.Memory{Type: d.Type, Speaker: d.Speaker, Content: c.Left}
		c.unasked, c.text = true, without.EmbeddedText()
	}
	return nil
}

// onlyUnasks reports whether the content of a message is kept as it is.
func (c *planned) onlyUnasks() bool { return c.unasked && c.Left == c.said }

// answers returns the messages that are kept with a question: the active ones, and the inactive ones of conversations
// in which something is forgotten, since they could be restored.
func (p *forgetting) answers(ctx context.Context, roots []memory.Memory, docs []db.Document) ([]db.Document, error) {
	var answers []db.Document
	talks := map[string]bool{}
	for _, m := range roots {
		talks[m.ConversationID] = true
	}
	for _, d := range docs {
		if p.plannedFor(d.ID) != nil {
			talks[d.ConversationID] = true
		}
		if d.Asked != "" {
			answers = append(answers, d)
		}
	}
	delete(talks, "")
	for id := range talks {
		f := db.MemoryFilter{
			Owner: p.owner, ConversationID: id, Types: []memory.Type{memory.TypeMessage},
			Statuses: []memory.Status{memory.Superseded, memory.Consolidated, memory.Forgotten},
		}
		for m, err := range p.list(ctx, f) {
			if err != nil {
				return nil, err
			}
			if m.Asked != "" {
				answers = append(answers, documentOf(m, nil))
			}
		}
	}
	return answers, nil
}

// goneText is a text of a message that is forgotten with a memory of the batch.
type goneText struct {
	root memory.Memory
	text string
}

// isIn reports whether a question has the text, or the text has a sentence of the question.
func (g goneText) isIn(asked string) bool {
	return strings.Contains(asked, g.text) || slices.ContainsFunc(text.Sentences(asked), func(sentence string) bool {
		return strings.Contains(g.text, strings.TrimSpace(sentence))
	})
}

// gone returns the texts of messages that are forgotten: those of the batch, also as they were reported, those that the
// plan takes out, and those that the log withholds.
func (p *forgetting) gone(ctx context.Context, roots []memory.Memory) (gone []goneText, err error) {
	add := func(root memory.Memory, texts ...string) {
		for _, one := range texts {
			if one = strings.TrimSpace(one); one != "" {
				gone = append(gone, goneText{root, one})
			}
		}
	}
	for _, root := range roots {
		if root.Type != memory.TypeMessage {
			continue
		}
		add(root, sentencesOf(root)...)
		turn, err := p.Records.Turn(ctx, p.owner.AppID, root.SourceTurnID)
		switch place := memory.PlaceOf(root.ID); {
		case memory.IsKind(err, memory.KindNotFound):
		case err != nil:
			return nil, err
		case place < len(turn.Messages):
			add(root, turn.Messages[place].Content)
		}
	}
	for _, c := range p.planned {
		switch {
		case c.undo != nil || c.said == "":
		case c.Left == "":
			add(c.root, c.said)
		default:
			add(c.root, c.Taken...)
		}
	}
	for _, s := range p.sayings {
		i := slices.IndexFunc(roots, func(m memory.Memory) bool { return m.ID == s.root })
		add(roots[i], s.texts...)
	}
	return gone, nil
}
