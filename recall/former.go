package recall

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// maxSuperseded is the most superseded memories that a query about the past reads: the ones said last.
const maxSuperseded = 4 * memory.MaxPage

// former states until when a former statement was true, and what superseded it.
type former struct {
	until     time.Time // when what superseded it was said
	successor int       // place of the document that superseded it, or of the one that stands for it; -1: no document
}

// withPast returns the index for a query about the past: it also has the superseded memories as documents, and its
// field outdated holds what was outdated at q.AsOf.
func (s *Service) withPast(ctx context.Context, q Query, x *index) (*index, error) {
	superseded, err := s.readSuperseded(ctx, q.Owner)
	if err != nil {
		return nil, err
	}
	sources, err := s.records.Sources(ctx, q.Owner, memory.IDs(superseded))
	if err != nil {
		return nil, err
	}
	docs := make([]db.Document, len(superseded))
	for i := range superseded {
		m := &superseded[i]
		docs[i] = db.Document{
			ID: m.ID, Lexemes: m.Lexemes, Speaker: m.Speaker, Content: m.Content, DerivedFrom: memory.IDs(sources[m.ID]),
			Domain: m.Domain, Type: m.Type, Tags: m.Tags, AgentID: m.AgentID, ConversationID: m.ConversationID,
			Importance: m.Importance, CreatedAt: m.CreatedAt, LastAccessedAt: m.LastAccessedAt,
		}
	}
	y := x.changed(db.Changes{Revision: x.revision, Documents: docs})
	y.superseded = make(map[int]*memory.Memory, len(superseded))
	for i := range superseded {
		doc, _ := y.place(superseded[i].ID)
		y.superseded[doc] = &superseded[i]
	}
	y.outdated = y.outdatedAt(q.AsOf, y.outdated)
	return y, nil
}

func (s *Service) readSuperseded(ctx context.Context, owner memory.Owner) (superseded []memory.Memory, err error) {
	filter := db.MemoryFilter{Owner: owner, Statuses: []memory.Status{memory.Superseded}, Limit: memory.MaxPage}
	for {
		page, err := s.records.ListMemories(ctx, filter)
		superseded = append(superseded, page...)
		if err != nil || len(page) < filter.Limit || len(superseded) >= maxSuperseded {
			return superseded, err
		}
		last := page[len(page)-1]
		filter.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
	}
}

// outdatedAt returns what had been superseded at an instant, or now if the instant is zero: the superseded memories,
// the statements that they share with their messages, and the memories derived from them. Messages without such a
// memory keep their entries of known.
func (x *index) outdatedAt(at time.Time, known []outdated) (list []outdated) {
	whole := map[uint32]bool{} // by message
	for _, o := range known {
		whole[o.message] = whole[o.message] || o.whole
	}
	read := map[uint32]bool{} // messages, and what was derived
	for doc, m := range x.superseded {
		messages, derived := x.messagesOf(doc), x.derivedFrom(known, x.lexemesOf(doc))
		for _, t := range messages {
			read[t.message] = true
		}
		for _, d := range derived {
			read[d] = true
		}
		until := x.supersededAt(m)
		if !at.IsZero() && until.After(at) {
			continue
		}
		successor := x.successorAt(at, m)
		add := func(message uint32, whole bool) {
			o := outdated{
				doc: message, message: message, whole: whole, stated: x.lexemesOf(doc), until: until.UnixMicro(),
			}
			if successor >= 0 {
				o.doc = uint32(successor)
			}
			list = append(list, o)
		}
		add(uint32(doc), true)
		for _, t := range messages {
			add(t.message, whole[t.message])
		}
		for _, d := range derived {
			add(d, true)
		}
	}
	for _, o := range known {
		if !read[o.message] {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b outdated) int {
		return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.message, b.message), cmp.Compare(a.until, b.until))
	})
	return list
}

// derivedFrom returns the places of the memories that were derived from the superseded memory with these lexemes.
func (x *index) derivedFrom(known []outdated, lexemes []uint64) (derived []uint32) {
	for _, o := range known {
		if x.kind(int(o.message)).Type.IsDerived() && slices.Equal(o.stated, lexemes) {
			derived = append(derived, o.message)
		}
	}
	return derived
}

// supersededAt returns when the successor of a superseded memory was said, or when the memory itself was said last if
// that is later: such a successor has been said again since. If the successor is not in the index, it returns the last
// change of the memory.
func (x *index) supersededAt(m *memory.Memory) time.Time {
	doc, known := x.place(m.SupersededBy)
	if !known {
		return m.UpdatedAt
	}
	if at := x.docs[doc].createdAt(); at.After(m.Said()) {
		return at
	}
	return m.Said()
}

// successorAt returns the place of the document that superseded a memory, directly or through others, and was current
// at an instant, or now if the instant is zero; -1 if there is no such document.
func (x *index) successorAt(at time.Time, m *memory.Memory) int {
	for range len(x.superseded) + 1 {
		doc, known := x.place(m.SupersededBy)
		if !known {
			return -1
		}
		next, superseded := x.superseded[doc]
		if !superseded || !at.IsZero() && x.supersededAt(next).After(at) {
			return doc
		}
		m = next
	}
	return -1
}

// formerOf describes a former message or memory. A message of one clause is former from the first time that a memory
// taken from it was superseded; a longer message is former from the last time.
func (x *index) formerOf(doc uint32, successor int) *former {
	f := former{successor: successor}
	if successor == int(doc) {
		f.successor = -1
	}
	for _, o := range x.outdated {
		if o.message != doc || o.until == 0 {
			continue
		}
		until := time.UnixMicro(o.until).UTC()
		if f.until.IsZero() || until.Before(f.until) == o.whole {
			f.until = until
		}
	}
	return &f
}

// limit returns the importance and the last access that count for a candidate. For a former statement they are at most
// those of its successor, which the function of returns, so that the statement does not rank above its successor.
func (r *relevant) limit(importance float64, accessed time.Time, of func(doc int) (float64, time.Time)) (
	float64, time.Time) {
	if r.former == nil || r.former.successor < 0 {
		return importance, accessed
	}
	most, latest := of(r.former.successor)
	if accessed.After(latest) {
		accessed = latest
	}
	return min(importance, most), accessed
}

// raiseSuccessors raises the relevance of each successor to that of the statement that it superseded, which the
// reranking model may have raised.
func raiseSuccessors(list []relevant) {
	places := map[int]int{} // by document
	for i := range list {
		places[list[i].doc] = i
	}
	for i := range list {
		if list[i].former == nil {
			continue
		}
		if place, found := places[list[i].former.successor]; found {
			lift := max(0, list[i].relevance-list[place].relevance)
			list[place].rerank += lift
			list[place].relevance += lift
		}
	}
}

// compareSuperseded compares the superseded memories with a query. The vector store does not have them.
func (s *Service) compareSuperseded(ctx context.Context, q Query, vector queryVector, x *index) ([]hit, error) {
	if len(x.superseded) == 0 {
		return nil, nil
	}
	ids := make([]string, 0, len(x.superseded))
	for _, m := range x.superseded {
		ids = append(ids, m.ID)
	}
	embeddings, err := s.records.Embeddings(ctx, q.Owner, vector.embedder.Model(), ids)
	if err != nil {
		return nil, err
	}
	hits := make([]hit, 0, len(embeddings))
	for id, v := range embeddings {
		if len(v) == len(vector.values) {
			hits = append(hits, hit{id, Cosine(vector.values, v), fromFormer})
		}
	}
	return hits, nil
}
