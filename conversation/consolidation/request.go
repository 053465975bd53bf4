package consolidation

import (
	"context"

	"hippocampus/internal/memory"
)

// Mode says what a client requests from a conversation that goes on.
type Mode string

// The modes. Each also passes the stated events through the gate.
const (
	Fast Mode = "fast" // a summary
	Deep Mode = "deep" // facts and insights; needs a chat model
	Full Mode = "full" // both
)

// Modes lists every mode.
var Modes = []Mode{Fast, Deep, Full}

// modeSteps are the steps of each mode. One further event is enough for each step.
var modeSteps = map[Mode]steps{
	Fast: {memory.FastReplay: 1},
	Deep: {memory.DeepReflection: 1},
	Full: {memory.FastReplay: 1, memory.DeepReflection: 1},
}

// Consolidate has a conversation consolidated without ending it: the events since
// the last step of each kind. An empty userID means the only user who has a
// conversation of this id. Without further events it plans nothing, and returns
// the consolidations that reach the last event. KindNotFound, KindConflict: see
// db.Conversations. ErrErasing.
func (s *Service) Consolidate(ctx context.Context, appID, userID, id string, mode Mode) (done Ended, err error) {
	c, err := s.Records.Conversation(ctx, appID, userID, id)
	if err != nil {
		return done, err
	}
	for all := false; !all; {
		if all, err = s.plan(ctx, c, memory.TriggerRequest, modeSteps[mode]); err != nil {
			return done, err
		}
	}
	return s.enqueued(ctx, c, ConsolidateConversation{Trigger: memory.TriggerRequest, Mode: mode})
}
