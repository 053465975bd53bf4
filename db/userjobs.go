package db

import (
	"context"

	"hippocampus/internal/memory"
)

// UserJobs stores jobs that name a user. A user who is being erased, or who was erased since the reason for the
// job was read, gets no job: an erasure deletes the jobs about its user, and would miss a job that is stored
// afterwards.
type UserJobs interface {
	// EnqueueForUser is Jobs.Enqueue if the owner is not being erased and was erased as often as
	// UserState.Erased said. Otherwise it does nothing.
	EnqueueForUser(ctx context.Context, owner memory.Owner, erased int, job Job) error
	// EnqueueForConversation is Jobs.Enqueue if the owner is not being erased and the conversation
	// exists with the FirstTurnID of c. Otherwise it does nothing.
	EnqueueForConversation(ctx context.Context, c memory.Conversation, job Job) error
}
