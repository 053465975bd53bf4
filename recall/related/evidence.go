package related

import (
	"slices"

	"hippocampus/internal/memory"
)

// Why names the kind of a reason.
type Why string

// The kinds of reasons.
const (
	ByRelation     Why = "relation"
	ByConversation Why = "conversation"
	ByTags         Why = "tags"
	BySimilarity   Why = "similarity"
)

// Reason is one way in which a memory is related to the one that was asked about.
type Reason struct {
	Why      Why
	Strength float64 // 0..1

	Relation memory.Relation // ByRelation
	Distance int             // ByConversation: how many memories before or after, 1 or more
	Tags     []string        // ByTags: the shared tags, in the order of the memory that was asked about
	Cosine   float64         // BySimilarity: above 0
}

// The strengths of the reasons.
const (
	relationStrength     = 0.9
	conversationStrength = 0.5 // divided by the distance
	tagsStrength         = 0.6 // times the share of the common tags among all tags of both
	similarityStrength   = 0.8 // times the cosine
)

// evidence is what the database knows to be related to a memory, by id.
type evidence struct {
	relations map[string][]memory.Relation
	distances map[string]int // in the conversation
	tagged    map[string]bool
}

// ids lists the memories that there is evidence for, some of them more than once.
func (e evidence) ids() []string {
	var ids []string
	for id := range e.relations {
		ids = append(ids, id)
	}
	for id := range e.distances {
		ids = append(ids, id)
	}
	for id := range e.tagged {
		ids = append(ids, id)
	}
	return ids
}

// reasons lists why another memory is related to m.
func (e evidence) reasons(m, other memory.Memory, cosine float64) (reasons []Reason) {
	for _, r := range e.relations[other.ID] {
		reasons = append(reasons, Reason{Why: ByRelation, Strength: relationStrength, Relation: r})
	}
	if d := e.distances[other.ID]; d > 0 {
		reasons = append(reasons, Reason{Why: ByConversation, Strength: conversationStrength / float64(d), Distance: d})
	}
	if shared, share := common(m.Tags, other.Tags); len(shared) > 0 {
		reasons = append(reasons, Reason{Why: ByTags, Strength: tagsStrength * share, Tags: shared})
	}
	if cosine > 0 {
		reasons = append(reasons, Reason{Why: BySimilarity, Strength: similarityStrength * min(cosine, 1), Cosine: cosine})
	}
	return reasons
}

// common returns the words of a that are also in b, and their share of all
// distinct words of both (Jaccard index), 0..1.
func common(a, b []string) (shared []string, share float64) {
	all := map[string]bool{}
	for _, word := range slices.Concat(a, b) {
		all[word] = true
	}
	for _, word := range a {
		if slices.Contains(b, word) && !slices.Contains(shared, word) {
			shared = append(shared, word)
		}
	}
	return shared, float64(len(shared)) / float64(max(1, len(all)))
}

// score is how related a memory is, 0..1: the chance that at least one reason
// holds, if each holds with its strength:
//
//	1 - product(1 - strength)
func score(reasons []Reason) float64 {
	doubt := 1.0
	for _, r := range reasons {
		doubt *= 1 - r.Strength
	}
	return 1 - doubt
}

// cosine of two unit vectors, 0 if they cannot be compared.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	return float64(memory.Dot(a, b))
}
