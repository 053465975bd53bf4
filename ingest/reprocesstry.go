package ingest

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// TryReprocess returns what scoring turns again would change, turn by turn from a place on, and the place of the last
// one; zero after the last turn. It stores nothing. It ends early if the scorer takes long.
func (s *Service) TryReprocess(ctx context.Context, r memory.Reprocessing, limit int) (
	found []Rescored, last memory.TurnPlace, err error,
) {
	const longest = 20 * time.Second
	ctx = llm.ForApp(ctx, r.AppID)
	for begin := s.Now(); len(found) < limit && s.Now().Sub(begin) < longest; {
		next, err := s.nextTurn(ctx, r)
		if err != nil || next == (memory.TurnPlace{}) {
			return found, next, err
		}
		r.Place = next
		turn, err := s.Records.Turn(ctx, r.AppID, next.TurnID)
		if err != nil {
			return nil, next, err
		}
		a, err := s.rescore(ctx, turn)
		switch {
		case memory.IsKind(err, memory.KindBadAnswer):
			found = append(found, Rescored{Turn: turn, Skipped: excerpt(err.Error())})
		case err != nil:
			return nil, next, err
		default:
			found = append(found, a.Rescored)
		}
	}
	return found, r.Place, nil
}

// nextTurn returns the turn of a run that was said next; zero: there is no further turn.
func (s *Service) nextTurn(ctx context.Context, r memory.Reprocessing) (next memory.TurnPlace, err error) {
	at := r.Place
	if r.UserID != "" {
		at.UserID = r.UserID
	}
	for {
		if at.UserID != "" {
			owner := memory.Owner{AppID: r.AppID, UserID: at.UserID}
			turns, err := s.Records.SelectTurns(ctx, owner, r.Selection, db.Position{At: at.At, ID: at.TurnID}, 1)
			if err != nil {
				return next, err
			}
			if len(turns) > 0 {
				return memory.TurnPlace{UserID: at.UserID, At: turns[0].At, TurnID: turns[0].ID}, nil
			}
		}
		if r.UserID != "" {
			return next, nil
		}
		user, err := s.Records.UserWithTurns(ctx, r.AppID, at.UserID)
		if err != nil || user == "" {
			return next, err
		}
		at = memory.TurnPlace{UserID: user}
	}
}
