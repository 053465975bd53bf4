package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// NoteDay notes the active day $4 of the user in $1 and $2, with the agent in $3.
const NoteDay = `INSERT INTO active_days (app_id, user_id, agent_id, day)
	VALUES ($1, $2, '', $4), ($1, $2, $3, $4) ON CONFLICT DO NOTHING`

// NoteTurn notes that a turn was accepted.
func (s *Store) NoteTurn(ctx context.Context, tx Querier, t memory.Turn) error {
	_, err := conn{tx, s.dialect, s.fault}.exec(ctx, NoteDay, t.AppID, t.UserID, t.AgentID, db.DayOf(t.AcceptedAt))
	return err
}

// activeDay is a day on which a user was active with an agent.
type activeDay struct {
	agentID string
	day     int
}

// NoteActivity keeps a day for the commit: a transaction that has noted a day makes other transactions wait that note
// the same day.
func (u *UserTx) NoteActivity(_ context.Context, agentID string, at time.Time) error {
	day := activeDay{agentID, db.DayOf(at)}
	if !slices.Contains(u.active, day) {
		u.active = append(u.active, day)
	}
	return nil
}

// ActiveDays returns the arguments of NoteDay for each day to note, in an order that all transactions share.
func (u *UserTx) ActiveDays() [][]any {
	slices.SortFunc(u.active, func(a, b activeDay) int {
		return cmp.Or(cmp.Compare(a.agentID, b.agentID), cmp.Compare(a.day, b.day))
	})
	rows := make([][]any, len(u.active))
	for i, a := range u.active {
		rows[i] = []any{u.Owner.AppID, u.Owner.UserID, a.agentID, a.day}
	}
	return rows
}

// StoreActivity notes the days.
func (u *UserTx) StoreActivity(ctx context.Context) error {
	if len(u.active) == 0 {
		return nil
	}
	_, err := u.execAll(ctx, NoteDay, u.ActiveDays())
	return u.fault(err, "note that the user is active")
}

func (s *Store) ActiveDays(ctx context.Context, owner memory.Owner) (db.ActiveDays, error) {
	days := db.ActiveDays{}
	var agentID string
	var day int
	err := s.each(ctx, []any{&agentID, &day}, func() error {
		days[agentID] = append(days[agentID], day)
		return nil
	}, `SELECT agent_id, day FROM active_days WHERE app_id = $1 AND user_id = $2 ORDER BY agent_id, day`,
		owner.AppID, owner.UserID)
	return days, s.fault(err, "read the days on which the user was active")
}

func (s *Store) AppActiveDays(
	ctx context.Context, appID string, f func(userID, agentID string, day int) error,
) error {
	var userID, agentID string
	var day int
	var refused error
	err := s.long().each(ctx, []any{&userID, &agentID, &day}, func() error {
		refused = f(userID, agentID, day)
		return refused
	}, `SELECT user_id, agent_id, day FROM active_days WHERE app_id = $1 ORDER BY user_id, agent_id, day`, appID)
	if refused != nil {
		return refused
	}
	return s.fault(err, "read the days on which the app's users were active")
}
