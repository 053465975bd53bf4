package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

func tokenDayFields(d *memory.TokenDay) []any { return []any{&d.AppID, &d.Day, &d.Kind, &d.Tokens} }

// TokensOf returns what an app has used on a day, by kind.
func (s *Store) TokensOf(ctx context.Context, appID string, day int) ([]memory.TokenDay, error) {
	used, err := collect(ctx, s.conn, tokenDayFields,
		`SELECT app_id, day, kind, tokens FROM token_days WHERE app_id = $1 AND day = $2 ORDER BY kind`, appID, day)
	return used, s.fault(err, "read how many tokens the app has used")
}

// AddTokens adds tokens in one statement. Its rows are in an order that all servers share, so that two of them do not
// wait for each other.
func (s *Store) AddTokens(ctx context.Context, used []memory.TokenDay) error {
	if len(used) == 0 {
		return nil
	}
	used = slices.SortedFunc(slices.Values(used), func(a, b memory.TokenDay) int {
		return cmp.Or(cmp.Compare(a.AppID, b.AppID), cmp.Compare(a.Day, b.Day), cmp.Compare(a.Kind, b.Kind))
	})
	rows, args := make([]string, len(used)), make([]any, 0, 4*len(used))
	for i, d := range used {
		rows[i] = fmt.Sprintf("($%d, $%d, $%d, $%d)", 4*i+1, 4*i+2, 4*i+3, 4*i+4)
		args = append(args, d.AppID, d.Day, d.Kind, d.Tokens)
	}
	_, err := s.exec(ctx, `INSERT INTO token_days (app_id, day, kind, tokens) VALUES `+strings.Join(rows, ", ")+`
		ON CONFLICT (app_id, day, kind) DO UPDATE SET tokens = token_days.tokens + excluded.tokens`, args...)
	return s.fault(err, "count the tokens that apps have used")
}

// PurgeTokens deletes the counts of days before one. It goes from app to app, since the index begins with the app.
func (s *Store) PurgeTokens(ctx context.Context, before int) (purged int, err error) {
	const doing = "purge the tokens that apps have used"
	appID := ""
	for {
		next, err := collect(ctx, s.conn, func(app *string) []any { return []any{app} },
			`SELECT app_id FROM token_days WHERE app_id > $1 ORDER BY app_id LIMIT 1`, appID)
		if err != nil || len(next) == 0 {
			return purged, s.fault(err, doing)
		}
		appID = next[0]
		n, err := s.exec(ctx, `DELETE FROM token_days WHERE app_id = $1 AND day < $2`, appID, before)
		purged += n
		if err != nil {
			return purged, s.fault(err, doing)
		}
	}
}
