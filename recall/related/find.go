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

// How many memories are considered for each kind of reason.
const (
	maxNeighbours = 10  // of the conversation, on either side
	maxSimilar    = 50  // nearest vectors
	maxTagged     = 100 // newest memories that share a tag
	maxRelations  = 200 // newest relations
)

// partVectors names the vector store in Degraded.
const partVectors = "vector_store"

// Answer lists memories that are related to one, the most related first.
type Answer struct {
	Memories []Found
	Degraded []string // unavailable parts: "vector_store"
}

// Found is one related memory.
type Found struct {
	Memory  memory.Memory
	Score   float64 // 0..1, see score
	Reasons []Reason
}

// Find returns at most limit active memories of the same user that are related
// to a memory of the app. With an agent it returns only memories that are visible
// to that agent, and the memory itself must be. KindNotFound: there is no such memory.
func (s *Service) Find(ctx context.Context, appID, id, agentID string, limit int) (Answer, error) {
	m, err := s.records.Memory(ctx, appID, id)
	if err != nil || !visible(m, agentID) {
		return Answer{}, noMemory(id, err)
	}
	space := llm.SpaceOf(llm.Serving(s.embedder))
	vector, err := s.embedding(ctx, m, space)
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
		own, err := s.ownWrites(ctx, m.Owner, space, vector, agentID)
		if err != nil {
			return Answer{}, err
		}
		stored, err := s.search(ctx, m.Owner, space, vector, agentID)
		if err != nil {
			s.log.Warn("related memories are found without the vector store", zap.Error(err))
			answer.Degraded = []string{partVectors}
		}
		ids = slices.Concat(ids, own, stored)
	}
	rows, err := s.records.Hydrate(ctx, m.Owner, ids, ids)
	if err != nil {
		return Answer{}, err
	}
	for _, row := range rows {
		if row.ID == id || !visible(row, agentID) {
			continue
		}
		reasons := e.reasons(m, row, cosine(vector, row.EmbeddingIn(space)))
		row.Embedding, row.OtherEmbedding = nil, nil
		if len(reasons) > 0 {
			answer.Memories = append(answer.Memories, Found{row, score(reasons), reasons})
		}
	}
	slices.SortFunc(answer.Memories, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Memory.CreatedAt.Compare(a.Memory.CreatedAt),
			cmp.Compare(a.Memory.ID, b.Memory.ID))
	})
	answer.Memories = answer.Memories[:min(limit, len(answer.Memories))]
	return answer, nil
}

// visible reports whether a memory is visible to an agent; "" sees every memory.
func visible(m memory.Memory, agentID string) bool {
	return agentID == "" || m.AgentID == "" || m.AgentID == agentID
}

// gather reads what the database knows to be related. Memories that the agent may not see neither take places of others
// nor count in distances.
func (s *Service) gather(ctx context.Context, m memory.Memory, agentID string) (evidence, error) {
	e := evidence{
		relations: map[string][]memory.Relation{}, distances: map[string]int{}, tagged: map[string]bool{},
	}
	all, err := s.records.Relations(ctx, m.AppID, m.ID)
	if err != nil {
		return e, err
	}
	for _, r := range all[max(0, len(all)-maxRelations):] { // oldest first
		other := r.To
		if other == m.ID {
			other = r.From
		}
		e.relations[other] = append(e.relations[other], r)
	}
	if m.ConversationID != "" {
		place := db.Position{At: m.CreatedAt, ID: m.ID}
		neighbours, err := s.records.ConversationNeighbours(
			ctx, m.Owner, agentID, m.ConversationID, place, maxNeighbours)
		if err != nil {
			return e, err
		}
		before := 0 // how many neighbours come before m; the others come after it
		for _, n := range neighbours {
			if cmp.Or(n.CreatedAt.Compare(place.At), cmp.Compare(n.ID, place.ID)) < 0 {
				before++
			}
		}
		for i, n := range neighbours {
			e.distances[n.ID] = max(before-i, i-before+1)
		}
	}
	if len(m.Tags) > 0 {
		tagged, err := s.records.ListMemories(ctx, db.MemoryFilter{
			Owner: m.Owner, SeenBy: agentID, AnyTags: m.Tags, Statuses: []memory.Status{memory.Active}, Limit: maxTagged,
		})
		if err != nil {
			return e, err
		}
		for _, t := range tagged {
			e.tagged[t.ID] = true
		}
	}
	return e, nil
}

// ownWrites returns the nearest writes that the vector store may not show yet.
func (s *Service) ownWrites(
	ctx context.Context, owner memory.Owner, space memory.Space, vector []float32, agentID string,
) ([]string, error) {
	writes, err := s.records.Unconfirmed(ctx, owner, s.now().Add(-s.set.OwnWindow), s.set.OwnLimit)
	if err != nil {
		return nil, err
	}
	writes = slices.DeleteFunc(writes, func(m memory.Memory) bool { return !visible(m, agentID) })
	ids, similarity := make([]string, len(writes)), make(map[string]float64, len(writes))
	for i, w := range writes {
		ids[i], similarity[w.ID] = w.ID, cosine(vector, w.EmbeddingIn(space))
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(similarity[b], similarity[a]), cmp.Compare(a, b))
	})
	return ids[:min(maxSimilar, len(ids))], nil
}

// search returns the nearest memories in the vector store.
func (s *Service) search(
	ctx context.Context, owner memory.Owner, space memory.Space, vector []float32, agentID string,
) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.set.VectorTimeout)
	defer cancel()
	hits, err := s.vectors.Search(ctx, vectorstore.Query{
		Owner: owner, Embedding: vector, Space: space, AgentID: agentID,
		Limit: maxSimilar + 1, // one is the memory itself
	})
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, err
}

// embedding returns the embedding of an active memory in a space, or nil.
func (s *Service) embedding(ctx context.Context, m memory.Memory, space memory.Space) ([]float32, error) {
	rows, err := s.records.Hydrate(ctx, m.Owner, []string{m.ID}, []string{m.ID})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0].EmbeddingIn(space), nil
}
