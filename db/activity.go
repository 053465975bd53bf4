package db

import (
	"context"
	"slices"
	"time"

	"hippocampus/internal/memory"
)

// Activity lists the days on which users were active. The first of these events on a day notes the day: a turn is
// accepted, a client writes or imports memories, or a recall is counted as an access.
type Activity interface {
	// ActiveDays lists the owner's active days; empty if no day is noted.
	ActiveDays(ctx context.Context, owner memory.Owner) (ActiveDays, error)
	// AppActiveDays calls f with each active day of each user of an app, ordered by user, agent and day, until f returns
	// an error.
	AppActiveDays(ctx context.Context, appID string, f func(userID, agentID string, day int) error) error
}

// ActivityTx notes activity in a user's transaction.
type ActivityTx interface {
	// NoteActivity notes at the commit that the user was active on the day of an instant, with an agent unless
	// agentID is empty.
	NoteActivity(ctx context.Context, agentID string, at time.Time) error
}

// ActiveDays holds the days on which a user was active with each agent, and under "" those on which the user was active
// at all. The days are counted as DayOf does, and ascend.
type ActiveDays map[string][]int

const daySeconds = 24 * 60 * 60

// DayOf returns the day of an instant: the number of days since 1970-01-01 in UTC.
func DayOf(at time.Time) int {
	seconds := at.Unix()
	day := seconds / daySeconds
	if seconds%daySeconds < 0 {
		day--
	}
	return int(day)
}

// Midnight is the instant at which a day begins.
func Midnight(day int) time.Time { return time.Unix(int64(day)*daySeconds, 0).UTC() }

// AgentsOf lists "" and the agents of memories, in ascending order.
func AgentsOf(memories []memory.Memory) []string {
	agents := []string{""}
	for _, m := range memories {
		agents = append(agents, m.AgentID)
	}
	slices.Sort(agents)
	return slices.Compact(agents)
}
