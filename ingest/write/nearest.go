package write

import (
	"cmp"
	"context"
	"slices"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/ingest/judge"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// nearestLimit bounds the similar memories of a draft that are compared.
const nearestLimit = 20

// nearest holds the memories with which drafts of one user are compared before the user's lock is taken.
type nearest struct {
	ids   [][]string      // of each draft: the memories most similar to it
	known []memory.Memory // those of all drafts, and recent ones, which searches may not find yet; only for a judge
	facts []memory.Memory // the user's newest, which are compared by their words
	// condensed are the newest facts that an insight stands for. What is said later may contradict them.
	condensed []memory.Memory
	words     wordIndex // of facts and condensed; only for a judge
	few       bool      // no floor is set, and the judge can see all facts at once
}

// showsAnyway reports whether the judge sees a memory however dissimilar it is.
func (near nearest) showsAnyway(m memory.Memory) bool {
	return near.few && slices.ContainsFunc(near.facts, func(f memory.Memory) bool { return f.ID == m.ID })
}

// nearest finds what drafts may concern, except for memories whose ids are in except.
func (w *Writer) nearest(ctx context.Context, owner memory.Owner, drafts []Draft, except []string) (
	near nearest, err error,
) {
	var recent []memory.Memory
	judged := w.Judge != nil && slices.ContainsFunc(drafts, func(d Draft) bool { return d.Compare == Judged })
	if judged { // before the searches, which find what was confirmed by then
		recent, err = w.Records.Unconfirmed(ctx, owner, w.Now().Add(-w.set.OwnWindow), w.set.OwnLimit)
		if err != nil {
			return near, err
		}
	}
	search := &search{w: w, owner: owner}
	near.ids = make([][]string, len(drafts))
	for i, d := range drafts {
		if !d.mayMerge() || d.WordsOnly() {
			continue
		}
		ids, err := search.near(ctx, d.Memory)
		if err != nil {
			return near, err
		}
		near.ids[i] = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(except, id) })
	}
	excepted := func(m memory.Memory) bool { return slices.Contains(except, m.ID) }
	if judged || w.claimAny(drafts) {
		facts, condensed, err := w.newestFacts(ctx, owner)
		if err != nil {
			return near, err
		}
		near.facts = slices.DeleteFunc(slices.Clone(facts), excepted)
		near.condensed = slices.DeleteFunc(slices.Clone(condensed), excepted)
	}
	if judged {
		known, err := w.withRows(ctx, owner, recent, near.ids)
		if err != nil {
			return near, err
		}
		near.known = slices.DeleteFunc(known, excepted)
		near.words = w.indexWords(slices.Concat(near.facts, near.condensed))
		near.few = w.set.JudgeSimilarity < 0 && len(near.facts) <= judge.MaxNear
	}
	return near, nil
}

// withRows returns memories, and the active memories with the ids, each once.
func (w *Writer) withRows(ctx context.Context, owner memory.Owner, memories []memory.Memory, ids [][]string) (
	[]memory.Memory, error,
) {
	seen := map[string]bool{}
	for _, m := range memories {
		seen[m.ID] = true
	}
	var missing []string
	for _, id := range slices.Concat(ids...) {
		if !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return memories, nil
	}
	found, err := w.Records.Hydrate(ctx, owner, missing, missing)
	return append(memories, found...), err
}

// search finds memories of one owner that are similar to drafts. It must not be used concurrently.
type search struct {
	w     *Writer
	owner memory.Owner

	away       bool // the vector store is unavailable: the newest memories are compared here
	ids        []string
	embeddings map[string][]float32
}

// near returns ids of memories that a draft may be merged into. Memories written in the last
// seconds may be missing; the transaction reads those itself.
func (n *search) near(ctx context.Context, draft memory.Memory) ([]string, error) {
	if n.away {
		return n.compare(draft), nil
	}
	hits, err := n.w.Vectors.Search(ctx, vectorstore.Query{
		Owner: n.owner, Embedding: draft.Embedding, Limit: nearestLimit, AgentID: draft.AgentID,
		Types: mergeable, Space: spaceOf(&draft),
	})
	if err != nil {
		n.w.Log.Warn("duplicates are searched in the database: the vector store is unavailable", zap.Error(err))
		if err := n.read(ctx, draft.EmbeddingModel); err != nil {
			return nil, err
		}
		return n.compare(draft), nil
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids, nil
}

// mergeable are the types of memories that a draft may be merged into.
var mergeable = slices.DeleteFunc(slices.Clone(memory.Types), func(t memory.Type) bool {
	return t == memory.TypeMessage
})

// read loads the embeddings of the owner's newest memories by a model.
func (n *search) read(ctx context.Context, model string) error {
	docs, err := n.w.Records.Documents(ctx, n.owner)
	if err != nil {
		return err
	}
	docs = slices.DeleteFunc(docs, func(d db.Document) bool { return d.Type == memory.TypeMessage })
	slices.SortFunc(docs, func(a, b db.Document) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for _, d := range docs[:min(len(docs), n.w.set.FallbackLimit)] {
		n.ids = append(n.ids, d.ID)
	}
	n.embeddings, err = n.w.Records.Embeddings(ctx, n.owner, model, n.ids)
	n.away = err == nil
	return err
}

func (n *search) compare(draft memory.Memory) []string {
	similarity := make(map[string]float64, len(n.ids))
	for _, id := range n.ids {
		similarity[id] = cosine(n.embeddings[id], draft.Embedding)
	}
	ids := slices.Clone(n.ids)
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(similarity[b], similarity[a]) })
	return ids[:min(len(ids), nearestLimit)]
}
