package memory

import "time"

// LoggedRecall is an entry of the log of recalls.
type LoggedRecall struct {
	ID string
	Owner
	AgentID  string // empty: the recall named no agent
	Query    string
	Memories []LoggedMemory // that were returned, best first
	Degraded []string       // unavailable parts
	Took     time.Duration  // to the microsecond
	At       time.Time      // when it began
}

// LoggedMemory is a memory that a recall returned.
type LoggedMemory struct {
	ID        string  `json:"id"`
	Relevance float64 `json:"relevance"` // 0..1

	Confidence float64 `json:"confidence"` // 0..1; 0 in entries from before it was logged
}
