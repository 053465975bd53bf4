package sqlstore

import (
	"context"
	"time"

	"hippocampus/db/rowcodec"
	"hippocampus/internal/memory"
)

// UserTx implements the parts of db.UserTx that both databases share. Every
// statement names the owner.
type UserTx struct {
	conn
	Owner   memory.Owner
	Changed bool // memories were written

	// The commit announces these: events, their memories as they were written, and the rest.
	events    []memory.Event
	written   map[string]memory.Memory
	announced []memory.Announcement
}

// UserTx returns the shared parts of an owner's transaction.
func (s *Store) UserTx(tx Querier, owner memory.Owner) UserTx {
	return UserTx{conn: conn{tx, s.dialect, s.fault}, Owner: owner}
}

// shared returns what the statements of the transaction run on.
func (u *UserTx) shared() conn { return u.conn }

// Wrote notes memories as they are written, for their announcements.
func (u *UserTx) Wrote(memories ...memory.Memory) {
	u.Changed = true
	if u.written == nil {
		u.written = make(map[string]memory.Memory, len(memories))
	}
	for _, m := range memories {
		u.written[m.ID] = m
	}
}

// Happened notes events for their announcements.
func (u *UserTx) Happened(events ...memory.Event) { u.events = append(u.events, events...) }

// Announce has announcements made at the commit.
func (u *UserTx) Announce(_ context.Context, announcements []memory.Announcement) error {
	u.announced = append(u.announced, announcements...)
	return nil
}

// Announcements returns all that the commit announces.
func (u *UserTx) Announcements() []memory.Announcement {
	return append(rowcodec.Announcing(u.events, u.written), u.announced...)
}

// FinishTurn makes an accepted turn processed.
func (u *UserTx) FinishTurn(ctx context.Context, turnID string, attempts int, at time.Time) error {
	if !memory.IsID(turnID) {
		return NotFound("turn", turnID)
	}
	n, err := u.exec(ctx, `UPDATE turns SET status = 'processed', attempts = $4, last_error = '', processed_at = $5
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3 AND {|+}status = 'accepted'`,
		turnID, u.Owner.AppID, u.Owner.UserID, attempts, at)
	if err != nil || n == 1 {
		return u.fault(err, "finish the turn")
	}
	status, ok, err := first(ctx, u.conn, only[memory.TurnStatus], `SELECT status FROM turns
		WHERE id = $1 AND {|+}app_id = $2 AND {|+}user_id = $3`, turnID, u.Owner.AppID, u.Owner.UserID)
	if err != nil || !ok {
		return u.require(ok, err, "read the turn", NotFound("turn", turnID))
	}
	return memory.Errorf(memory.KindConflict, "turn %s is %s: it has been finished by another worker", turnID, status)
}
