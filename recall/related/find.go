package related

import (
	"cmp"
	"context"
	"slices"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// How much is looked at in each way.
const (
	aside     = 10  // memories of the conversation on either side
	alike     = 50  // nearest vectors
	tagged    = 100 // newest memories that share a tag
	relations = 200 // newest relations
)

// partVectors is named where the vector store was away.
const partVectors = "vector_store"

// Answer is what is related to a memory, the most related first.
type Answer struct {
	Memories []Found
	Degraded []string // parts that were away: "vector_store"; empty: none
}

// Found is one related memory.
type Found struct {
	Memory  memory.Memory
	Score   float64 // 0..1, see score
	Reasons []Reason
}

// Find returns at most limit active memories of the same user that are related
// to a memory of the app. With an agent it shows that one's and those shared by
// all, and the memory itself must be one of them. KindNotFound: there is no
// such memory.
func (s *Service) Find(ctx context.Context, appID, id, agentID string, limit int) (Answer, error) {
	m, err := s.records.Memory(ctx, appID, id)
	if err != nil || !shows(agentID, m) {
		return Answer{}, noMemory(id, err)
	}
	by := llm.Serving(s.embedder)
	vector, err := s.embedding(ctx, m, by)
	if err != nil {
		return Answer{}, err
	}
	e, err := s.gather(ctx, m, agentID)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Memories: []Found{}}
	ids := e.ids()
	if vector != nil {
		own, err := s.own(ctx, m.Owner, by, vector, agentID)
		if err != nil {
			return Answer{}, err
		}
		stored, err := s.search(ctx, m.Owner, by, vector, agentID)
		if err != nil {
			s.log.Warn("what is related is told without the vector store", zap.Error(err))
			answer.Degraded = []string{partVectors}
		}
		ids = append(append(ids, own...), stored...)
	}
	rows, err := s.records.Hydrate(ctx, m.Owner, ids, ids)
	if err != nil {
		return Answer{}, err
	}
	for _, row := range rows {
		if row.ID == id || !shows(agentID, row) {
			continue
		}
		reasons := e.reasons(m, row, cosine(vector, row.EmbeddingIn(llm.SpaceOf(by))))
		row.Embedding, row.OtherEmbedding = nil, nil
		if len(reasons) > 0 {
			answer.Memories = append(answer.Memories, Found{row, score(reasons), reasons})
		}
	}
	slices.SortFunc(answer.Memories, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Memory.CreatedAt.Compare(a.Memory.CreatedAt), cmp.Compare(a.Memory.ID, b.Memory.ID))
	})
	answer.Memories = answer.Memories[:min(limit, len(answer.Memories))]
	return answer, nil
}

// shows reports whether an agent may see a memory; without one anybody may.
func shows(agentID string, m memory.Memory) bool {
	return agentID == "" || m.AgentID == "" || m.AgentID == agentID
}

// gather reads what the database knows to be related. What the agent may not see
// takes no place of what it may, and is no step on the way to it.
func (s *Service) gather(ctx context.Context, m memory.Memory, agentID string) (evidence, error) {
	e := evidence{related: map[string][]memory.Relation{}, distance: map[string]int{}, tagged: map[string]bool{}}
	all, err := s.records.Relations(ctx, m.AppID, m.ID)
	if err != nil {
		return e, err
	}
	for _, r := range all[max(0, len(all)-relations):] { // oldest first
		other := r.To
		if other == m.ID {
			other = r.From
		}
		e.related[other] = append(e.related[other], r)
	}
	if m.ConversationID != "" {
		place := db.Position{At: m.CreatedAt, ID: m.ID}
		beside, err := s.records.ConversationNeighbours(ctx, m.Owner, agentID, m.ConversationID, place, aside)
		if err != nil {
			return e, err
		}
		before := 0
		for _, b := range beside {
			if cmp.Or(b.CreatedAt.Compare(place.At), cmp.Compare(b.ID, place.ID)) < 0 {
				before++
			}
		}
		for i, b := range beside {
			e.distance[b.ID] = max(before-i, i-before+1)
		}
	}
	if len(m.Tags) > 0 {
		list, err := s.records.ListMemories(ctx, db.MemoryFilter{
			Owner: m.Owner, SeenBy: agentID, AnyTags: m.Tags, Statuses: []memory.Status{memory.Active}, Limit: tagged,
		})
		if err != nil {
			return e, err
		}
		for _, l := range list {
			e.tagged[l.ID] = true
		}
	}
	return e, nil
}

// own are the nearest of what the vector store may not show yet.
func (s *Service) own(ctx context.Context, owner memory.Owner, by llm.Embedder, vector []float32, agentID string) ([]string, error) {
	written, err := s.records.Unconfirmed(ctx, owner, s.now().Add(-s.set.OwnWindow), s.set.OwnLimit)
	if err != nil {
		return nil, err
	}
	written = slices.DeleteFunc(written, func(m memory.Memory) bool { return !shows(agentID, m) })
	ids, similarity := make([]string, len(written)), make(map[string]float64, len(written))
	for i, w := range written {
		ids[i], similarity[w.ID] = w.ID, cosine(vector, w.EmbeddingIn(llm.SpaceOf(by)))
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(similarity[b], similarity[a]), cmp.Compare(a, b)) })
	return ids[:min(alike, len(ids))], nil
}

// search asks the vector store for the nearest.
func (s *Service) search(ctx context.Context, owner memory.Owner, by llm.Embedder, vector []float32, agentID string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.set.VectorTimeout)
	defer cancel()
	hits, err := s.vectors.Search(ctx, vectorstore.Query{
		Owner: owner, Embedding: vector, Space: llm.SpaceOf(by), Limit: alike + 1, AgentID: agentID, // itself is one
	})
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, err
}

// embedding is that of an active memory by the model that serves; nil: it has none.
func (s *Service) embedding(ctx context.Context, m memory.Memory, by llm.Embedder) ([]float32, error) {
	rows, err := s.records.Hydrate(ctx, m.Owner, []string{m.ID}, []string{m.ID})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].EmbeddingIn(llm.SpaceOf(by)), nil
}
