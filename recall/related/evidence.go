package related

import (
	"slices"

	"hippocampus/internal/memory"
)

// Why names a reason for being related.
type Why string

// The reasons.
const (
	ByRelation     Why = "relation"
	ByConversation Why = "conversation"
	ByTags         Why = "tags"
	BySimilarity   Why = "similarity"
)

// Reason is one way in which a memory is related to the one asked about.
type Reason struct {
	Why      Why
	Strength float64 // 0..1

	Relation memory.Relation // ByRelation
	Distance int             // ByConversation: how many memories further, 1 or more
	Tags     []string        // ByTags: those that both have, in the order of the one asked about
	Cosine   float64         // BySimilarity: above 0
}

// How strong a reason is, at its strongest.
const (
	statedStrength  = 0.9 // a relation
	besideStrength  = 0.5 // the next in the conversation; divided by the distance
	taggedStrength  = 0.6 // the same tags; times the shared ones' part of all that either has
	similarStrength = 0.8 // times the cosine
)

// evidence is what the database knows to be related to a memory, by id.
type evidence struct {
	related  map[string][]memory.Relation
	distance map[string]int // in the conversation
	tagged   map[string]bool
}

// ids are all that there is evidence for, some of them more than once.
func (e evidence) ids() []string {
	var ids []string
	for id := range e.related {
		ids = append(ids, id)
	}
	for id := range e.distance {
		ids = append(ids, id)
	}
	for id := range e.tagged {
		ids = append(ids, id)
	}
	return ids
}

// reasons are those for which another memory is related to m.
func (e evidence) reasons(m, other memory.Memory, cosine float64) (reasons []Reason) {
	for _, r := range e.related[other.ID] {
		reasons = append(reasons, Reason{Why: ByRelation, Strength: statedStrength, Relation: r})
	}
	if d := e.distance[other.ID]; d > 0 {
		reasons = append(reasons, Reason{Why: ByConversation, Strength: besideStrength / float64(d), Distance: d})
	}
	if shared, part := common(m.Tags, other.Tags); len(shared) > 0 {
		reasons = append(reasons, Reason{Why: ByTags, Strength: taggedStrength * part, Tags: shared})
	}
	if cosine > 0 {
		reasons = append(reasons, Reason{Why: BySimilarity, Strength: similarStrength * min(cosine, 1), Cosine: cosine})
	}
	return reasons
}

// common are the words of a that b has too, and their part of all words of
// both (Jaccard), 0..1.
func common(a, b []string) (shared []string, part float64) {
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

// score is how related a memory is, 0..1. Each reason lessens what is left of
// the doubt that it is:
//
//	1 - product(1 - strength)
func score(reasons []Reason) float64 {
	doubt := 1.0
	for _, r := range reasons {
		doubt *= 1 - r.Strength
	}
	return 1 - doubt
}

// cosine of two unit vectors; 0 where they cannot be compared.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	return float64(memory.Dot(a, b))
}
