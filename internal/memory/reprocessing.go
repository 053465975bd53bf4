package memory

import "time"

// Scoring says what proposed the facts of a processed turn.
type Scoring struct {
	By     string `json:"by"`     // "rules" or the model's name; empty: not known
	Policy int    `json:"policy"` // version of the app's policy; 0: without a policy
}

// Reprocessing is a run that scores processed turns of an app again, in the order in which they were said.
type Reprocessing struct {
	ID        string // UUIDv7
	Owner            // an empty UserID: all users of the app
	Selection TurnSelection
	State     ReprocessingState
	Counts    ReprocessingCounts
	Place     TurnPlace // of the latest turn that it is done with; zero: no turn yet
	Note      string    // for people: why it waits, or has stopped
	CreatedAt time.Time
	EndedAt   time.Time // zero: it has not ended
}

// TurnSelection chooses processed turns. Empty fields do not restrict.
type TurnSelection struct {
	ConversationID string    `json:"conversation_id,omitempty"`
	From           time.Time `json:"from,omitzero"`            // said at or after
	Until          time.Time `json:"until,omitzero"`           // said before
	Scorer         string    `json:"scorer,omitempty"`         // "rules" or a model's name; see db.Reprocessings
	Policy         *int      `json:"policy_version,omitempty"` // scored by this version; 0: without a policy
	PolicyBefore   *int      `json:"policy_before,omitempty"`  // scored by an older version than this, or without one
}

// TurnPlace is a place in the turns of an app, by user, then by when they were said.
type TurnPlace struct {
	UserID string    `json:"user_id"`
	At     time.Time `json:"at"`
	TurnID string    `json:"turn_id"`
}

// ReprocessingState is the progress of a Reprocessing.
type ReprocessingState string

// The states of a Reprocessing.
const (
	ReprocessingRuns    ReprocessingState = "running" // or waits for a model
	ReprocessingDone    ReprocessingState = "done"
	ReprocessingStopped ReprocessingState = "stopped" // before its end; it can be undone
	ReprocessingUndoing ReprocessingState = "undoing"
	ReprocessingUndone  ReprocessingState = "undone"
)

// IsActive reports whether the run changes memories.
func (s ReprocessingState) IsActive() bool { return s == ReprocessingRuns || s == ReprocessingUndoing }

// ReprocessingCounts counts what a Reprocessing has done.
type ReprocessingCounts struct {
	Turns   int `json:"turns"`   // that were scored again
	Skipped int `json:"skipped"` // such as turns that were withdrawn in the meantime
	Failed  int `json:"failed"`  // whose answer was refused: they stay as they were
	Added   int `json:"added"`   // facts that became memories, or were merged into one
	Kept    int `json:"kept"`    // facts that are stated again, or that the user decides about
	Removed int `json:"removed"` // facts that are not stated again
	Undone  int `json:"undone"`  // turns that are as they were before
}

// ReprocessedTurn is what an undo of a Reprocessing needs of one turn.
type ReprocessedTurn struct {
	RunID string
	Owner
	At      time.Time // when the turn was said
	TurnID  string
	Written bool // false: what it stated was taken back, and nothing was written yet
	Before  TurnBefore
}

// TurnBefore is what a turn had before it was scored again.
type TurnBefore struct {
	Candidates []Candidate `json:"candidates,omitempty"` // that were removed
	New        []string    `json:"new,omitempty"`        // ids of the candidates that took their place
	Memories   []string    `json:"memories,omitempty"`   // ids of those that were changed or added
	Scored     Scoring     `json:"scored"`
	Messages   []Message   `json:"messages,omitempty"` // if words of the turn were withheld since
	Withheld   []Withheld  `json:"withheld,omitempty"`
	LeftOut    []Omission  `json:"left_out,omitempty"`
}
