package episodes

import (
	"context"

	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// Totals counts the results of a run over all users.
type Totals struct {
	Users    int `json:"users"`
	Same     int `json:"same"`     // users whose memories have not changed since the last run
	Episodes int `json:"episodes"` // of the others
	Changed  int `json:"changed"`
	Named    int `json:"named"`  // by the chat model
	Failed   int `json:"failed"` // users whose run failed
}

// MakeAll makes the episodes of every user, and has the chat model name them; see jobs.EachOwner.
func (s *Service) MakeAll(ctx context.Context) (totals Totals, err error) {
	totals.Failed, err = jobs.EachOwner(ctx, s.Records, func(owner memory.Owner) error {
		made, err := s.Make(ctx, owner)
		totals.Users++
		totals.Episodes += made.Episodes
		totals.Changed += made.Changed
		if made.Same {
			totals.Same++
		}
		if err == nil {
			var named int
			named, err = s.Name(ctx, owner)
			totals.Named += named
		}
		return err
	})
	return totals, err
}

// MakeEpisodes is the job that makes the episodes of a user when a conversation has ended.
type MakeEpisodes struct {
	jobs.Background `json:"-"`

	AppID          string `json:"app_id"`
	UserID         string `json:"user_id"`
	ConversationID string `json:"conversation_id"`
	Events         int64  `json:"events"` // of the conversation
}

// Kind is the name that the job is stored under.
func (MakeEpisodes) Kind() string { return "make_episodes" }

// OnConversationEnded enqueues the job.
func (s *Service) OnConversationEnded(ctx context.Context, c memory.Conversation) error {
	job := MakeEpisodes{AppID: c.AppID, UserID: c.UserID, ConversationID: c.ID, Events: c.Events}
	return s.Records.EnqueueForConversation(ctx, c, job)
}

// maxAtOnce is how many active memories a user has at most whose episodes are made when a conversation ends: of more,
// the schedule makes them.
const maxAtOnce = 1_000

// Work does the job. If the user was erased in the meantime, there is nothing to do.
func (s *Service) Work(ctx context.Context, job MakeEpisodes) (any, error) {
	owner := memory.Owner{AppID: job.AppID, UserID: job.UserID}
	n, err := s.Records.CountActive(ctx, owner)
	if err != nil || n > maxAtOnce {
		return nil, err
	}
	made, err := s.Make(ctx, owner)
	if memory.IsKind(err, memory.KindConflict) {
		return nil, nil
	}
	return made, err
}
