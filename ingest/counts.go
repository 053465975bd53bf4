package ingest

import (
	"maps"
	"sync"

	"hippocampus/internal/memory"
)

// TurnOutcome is how an attempt at a turn ended.
type TurnOutcome string

// The outcomes of attempts.
const (
	OutcomeProcessed TurnOutcome = "processed"
	OutcomeDeferred  TurnOutcome = "deferred" // the turn is tried again later
	OutcomeFailed    TurnOutcome = "failed"   // the turn is given up, until it is replayed
)

// counts are the counters of this process since it started.
type counts struct {
	mu       sync.Mutex
	turns    map[TurnOutcome]int64
	verdicts map[memory.Verdict]int64
}

func newCounts() *counts {
	c := &counts{
		turns:    map[TurnOutcome]int64{OutcomeProcessed: 0, OutcomeDeferred: 0, OutcomeFailed: 0},
		verdicts: map[memory.Verdict]int64{},
	}
	for _, verdict := range memory.Verdicts {
		c.verdicts[verdict] = 0
	}
	return c
}

// count counts attempts at turns that have the same outcome, and the verdicts on their candidates.
func (c *counts) count(turns int, outcome TurnOutcome, candidates ...memory.Candidate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns[outcome] += int64(turns)
	for _, candidate := range candidates {
		c.verdicts[candidate.Verdict]++
	}
}

// TurnCounts returns the numbers of this process's attempts at turns, by outcome.
func (s *Service) TurnCounts() map[TurnOutcome]int64 {
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	return maps.Clone(s.counts.turns)
}

// VerdictCounts returns the numbers of this process's verdicts on candidates.
func (s *Service) VerdictCounts() map[memory.Verdict]int64 {
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	return maps.Clone(s.counts.verdicts)
}
