package ingest

import (
	"context"
	"slices"

	"hippocampus/db"
	"hippocampus/ingest/statement"
	"hippocampus/ingest/write"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// forgetting forgets memories of one owner, and the memories that state the same.
type forgetting struct {
	*Service
	by    llm.Embedder
	owner memory.Owner
	batch []memory.Memory
	Forgetting
	turn *memory.Turn // the withdrawn turn, whose memories are the batch; may be nil
	// keepsTurn: the turn itself stays, and so do repetitions of the batch elsewhere.
	keepsTurn bool
	rescores  bool                       // the turn is scored again: other turns state what their candidates are
	title     string                     // new one of its conversation, if that had the turn's
	revived   []memory.Memory            // facts that are to be active again
	settle    write.Settle               // of what is active again; nil: nothing is
	sources   map[string][]memory.Memory // of the batch
	planned   []*planned
	sayings   []saying                 // where the log states what is forgotten
	done      map[string]*consequences // by id of the batch
	log       *logEdit                 // what was changed of it
}

// planned is the change that is planned for a memory that was found with a memory of the batch.
type planned struct {
	statement.Found
	root      memory.Memory               // of the batch
	said      string                      // content that Left was made from
	unasked   bool                        // the question that it answers is forgotten; Left is not empty
	undo      func(m *memory.Memory) bool // changes it back, unless something else has changed it since; nil: it goes
	text      string                      // to be embedded; "": nothing
	embedding []float32
}

// plan finds the memories that state the same as the batch, and embeds what is left of messages.
func (p *forgetting) plan(ctx context.Context) error {
	p.planned, p.sayings = nil, nil
	p.revived = nil
	if err := p.find(ctx); err != nil || p.DryRun {
		return err
	}
	return p.prepare(ctx)
}

// find finds the memories that state the same as the batch.
func (p *forgetting) find(ctx context.Context) (err error) {
	roots := slices.DeleteFunc(slices.Clone(p.batch), isGone)
	if len(roots) == 0 {
		return nil
	}
	docs, err := p.Records.Documents(ctx, p.owner)
	if err != nil {
		return err
	}
	if docs, err = p.withFaded(ctx, docs); err != nil {
		return err
	}
	if docs, err = p.withCondensed(ctx, docs, roots); err != nil {
		return err
	}
	if p.turn == nil {
		if docs, err = p.withInactive(ctx, docs, roots); err != nil {
			return err
		}
	}
	if p.sources, err = p.Records.Sources(ctx, p.owner, memory.IDs(roots)); err != nil {
		return err
	}
	statements := make([]statement.Statement, len(roots))
	for i, m := range roots {
		statements[i] = p.note(m, docs)
	}
	var withdrawn []string
	for _, c := range p.planned {
		if c.Why == statement.Derived {
			withdrawn = append(withdrawn, c.ID)
		}
	}
	condensed, err := p.Records.Sources(ctx, p.owner, withdrawn)
	if err != nil {
		return err
	}
	for _, id := range withdrawn {
		p.release(p.plannedFor(id).root, condensed[id])
	}
	if err := p.readLog(ctx, roots, statements, docs); err != nil {
		return err
	}
	return p.unask(ctx, roots, docs)
}

// withInactive adds inactive facts that were taken from the messages to be forgotten: an insight may have been made of
// them, and they could be restored.
func (p *forgetting) withInactive(
	ctx context.Context, docs []db.Document, roots []memory.Memory,
) ([]db.Document, error) {
	known := map[string]bool{}
	for _, d := range docs {
		known[d.ID] = true
	}
	var taken []string
	said := map[string]string{} // contents of messages, by id of a fact that was taken from them
	for _, m := range roots {
		if m.Type != memory.TypeMessage {
			continue
		}
		relations, err := p.Records.Relations(ctx, p.owner.AppID, m.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range relations {
			if r.Kind == memory.DerivedFrom && r.To == m.ID && !known[r.From] {
				taken, known[r.From] = append(taken, r.From), true
				said[r.From] += m.Content + "\n"
			}
		}
	}
	if len(taken) == 0 {
		return docs, nil
	}
	sources, err := p.Records.Sources(ctx, p.owner, taken)
	if err != nil {
		return nil, err
	}
	for _, id := range taken {
		m, err := p.Records.Memory(ctx, p.owner.AppID, id)
		if memory.IsKind(err, memory.KindNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.Status == memory.Forgotten && !statement.States(said[id], m.Content) {
			continue // the messages lost it when it was forgotten
		}
		docs = append(docs, documentOf(m, sources[id]))
	}
	return docs, nil
}

// withCondensed adds the condensed summaries of condensed memories to be forgotten, since a later summary may have been
// made of them.
func (p *forgetting) withCondensed(
	ctx context.Context, docs []db.Document, roots []memory.Memory,
) ([]db.Document, error) {
	added := map[string]bool{}
	for _, root := range roots {
		if root.Status != memory.Consolidated {
			continue
		}
		relations, err := p.Records.Relations(ctx, p.owner.AppID, root.ID)
		if err != nil {
			return nil, err
		}
		for _, r := range relations {
			if r.Kind != memory.DerivedFrom || r.To != root.ID || added[r.From] {
				continue
			}
			m, err := p.Records.Memory(ctx, p.owner.AppID, r.From)
			if err != nil {
				return nil, err
			}
			if m.Status != memory.Consolidated {
				continue
			}
			sources, err := p.Records.Sources(ctx, p.owner, []string{m.ID})
			if err != nil {
				return nil, err
			}
			docs, added[m.ID] = append(docs, documentOf(m, sources[m.ID])), true
		}
	}
	return docs, nil
}

// withFaded adds the memories that have faded: they would come back when a recall finds them.
func (p *forgetting) withFaded(ctx context.Context, docs []db.Document) ([]db.Document, error) {
	faded, err := p.Records.Faded(ctx, p.owner)
	if err != nil || len(faded) == 0 {
		return docs, err
	}
	sources, err := p.Records.Sources(ctx, p.owner, memory.IDs(faded))
	if err != nil {
		return nil, err
	}
	for _, m := range faded {
		docs = append(docs, documentOf(m, sources[m.ID]))
	}
	return docs, nil
}

// isGone reports whether a memory is forgotten and cannot come back by itself.
func isGone(m memory.Memory) bool { return m.Status == memory.Forgotten && !m.Faded }

func documentOf(m memory.Memory, sources []memory.Memory) db.Document {
	return db.Document{
		ID: m.ID, Content: m.Content, Lexemes: text.Join(text.Lexemes(m.Content)), Speaker: m.Speaker, Asked: m.Asked,
		Type:    m.Type,
		AgentID: m.AgentID, ConversationID: m.ConversationID, CreatedAt: m.CreatedAt, DerivedFrom: memory.IDs(sources),
	}
}

// note plans what becomes of the documents that state the same as a root, and of the memories that the root was derived
// from. It shortens messages in both lists, so that the next root is compared with what is left of them.
func (p *forgetting) note(root memory.Memory, docs []db.Document) statement.Statement {
	found, stated := p.statement(root, docs)
	p.noteFound(root, found, docs)
	return stated
}

// noteFound plans the changes of the memories that were found with a root.
func (p *forgetting) noteFound(root memory.Memory, found []statement.Found, docs []db.Document) {
	for _, f := range found {
		c := p.plannedFor(f.ID)
		switch {
		case p.isAsked(f.ID), c != nil && (c.Left == "" || c.hasLost(root, f)):
			continue
		case c == nil:
			c = &planned{root: root}
			p.planned = append(p.planned, c)
		}
		f.Taken = append(c.Taken, f.Taken...)
		c.Found = f
		if p.IsSmallTalk(f.Left) {
			c.Left = ""
		}
		m := memory.Memory{Content: c.Left}
		shorten := func(of memory.Type, speaker, asked string, content *string) {
			m.Type, m.Speaker = of, speaker
			m.Asked = asked
			if c.said == "" {
				c.said = *content
			}
			*content = c.Left
		}
		for i := range docs {
			if docs[i].ID == f.ID {
				shorten(docs[i].Type, docs[i].Speaker, docs[i].Asked, &docs[i].Content)
			}
		}
		for _, list := range p.sources {
			for i := range list {
				if list[i].ID == f.ID {
					shorten(list[i].Type, list[i].Speaker, list[i].Asked, &list[i].Content)
				}
			}
		}
		c.text = ""
		if c.Left != "" {
			c.text = m.EmbeddedText()
		}
	}
}

// hasLost reports whether the sentence of a message from which root was taken has already been taken out with another
// root: what is left has no word of root, and does not state it in another language either.
func (c *planned) hasLost(root memory.Memory, f statement.Found) bool {
	sharesWord := func(sentence string) bool { return statement.SharesWord(root.Content, sentence) }
	return f.Why == statement.Source && f.Left == "" &&
		!slices.ContainsFunc(f.Taken, sharesWord) && slices.ContainsFunc(c.Taken, sharesWord)
}

// statement returns the documents that state the same as a root, or go with it.
func (p *forgetting) statement(root memory.Memory, docs []db.Document) ([]statement.Found, statement.Statement) {
	if p.turn != nil {
		return statement.OfWithdrawn(root, p.isAsked, docs)
	}
	return statement.Of(root, p.sources[root.ID], docs)
}

// turnID is the id of the turn that is withdrawn; empty without such a turn.
func (p *forgetting) turnID() string {
	if p.turn == nil || p.keepsTurn {
		return ""
	}
	return p.turn.ID
}

// plannedFor returns the change that is planned for a memory, or nil.
func (p *forgetting) plannedFor(id string) *planned {
	for _, c := range p.planned {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// isAsked reports whether a memory is one of the batch.
func (p *forgetting) isAsked(id string) bool {
	return slices.ContainsFunc(p.batch, func(m memory.Memory) bool { return m.ID == id })
}

// prepare embeds the texts that change, and compares facts that become active again with the active memories. If the
// turn stays, it does not compare: the facts of the model that answers late are compared with these facts anyway.
func (p *forgetting) prepare(ctx context.Context) (err error) {
	if len(p.revived) > 0 && !p.keepsTurn {
		if p.settle, err = p.Writer.Restored(ctx, p.owner, p.revived, false); err != nil {
			return err
		}
	}
	return p.embed(ctx)
}

// embed embeds what is left of messages, and memories that come back with an embedding of another model.
func (p *forgetting) embed(ctx context.Context) error {
	var texts []string
	for _, c := range p.planned {
		if c.text != "" {
			texts = append(texts, c.text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := llm.EmbedDocuments(ctx, p.by, texts)
	if err != nil {
		return err
	}
	for _, c := range p.planned {
		if c.text != "" {
			c.embedding, vectors = vectors[0], vectors[1:]
		}
	}
	return nil
}
