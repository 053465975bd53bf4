package rowcodec

import (
	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Count is one of the rows from which StatsOf computes an app's stats:
//
//	What        By
//	users
//	memories    status, domain, type
//	vectors     status of the memory, vector state; those in the outbox only
//	turns       status
//	candidates  verdict
type Count struct {
	What string
	By   [3]string
	N    int
}

// StatsOf adds up counts. A vector that is not in the outbox is synced if its memory
// is active, and absent otherwise.
func StatsOf(counts []Count) db.Stats {
	s := db.Stats{
		Memories: map[memory.Status]int{}, Domains: map[memory.Domain]int{}, Types: map[memory.Type]int{},
		Turns: map[memory.TurnStatus]int{}, Candidates: map[memory.Verdict]int{}, Vectors: map[memory.VectorState]int{},
	}
	waiting := map[memory.Status]int{}
	for _, c := range counts {
		switch c.What {
		case "users":
			s.Users = c.N
		case "memories":
			status := memory.Status(c.By[0])
			s.Memories[status] += c.N
			if status == memory.Active {
				s.Domains[memory.Domain(c.By[1])] += c.N
				s.Types[memory.Type(c.By[2])] += c.N
			}
		case "vectors":
			waiting[memory.Status(c.By[0])] += c.N
			s.Vectors[memory.VectorState(c.By[1])] += c.N
		case "turns":
			s.Turns[memory.TurnStatus(c.By[0])] = c.N
		case "candidates":
			s.Candidates[memory.Verdict(c.By[0])] = c.N
		}
	}
	for status, n := range s.Memories {
		state := memory.VectorAbsent
		if status == memory.Active {
			state = memory.VectorSynced
		}
		if rest := n - waiting[status]; rest > 0 {
			s.Vectors[state] += rest
		}
	}
	return s
}
