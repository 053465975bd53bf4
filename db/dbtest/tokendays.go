package dbtest

import (
	"sync"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// tokenDays adds up the tokens of each app, day and kind, also those of writers at the same time.
func tokenDays(t *testing.T, s db.Store) {
	ctx := t.Context()
	must(t, s.AddTokens(ctx, nil))
	none, err := s.TokensOf(ctx, "a", 7)
	must(t, err)
	wantSame(t, "before the first", len(none), 0)
	chat := memory.TokenDay{AppID: "a", Day: 7, Kind: memory.ChatTokens, Tokens: 3}
	embedded := memory.TokenDay{AppID: "a", Day: 7, Kind: memory.EmbeddingTokens, Tokens: 1 << 40}
	tomorrow, other := chat, chat
	tomorrow.Day, other.AppID = 8, "b"
	must(t, s.AddTokens(ctx, []memory.TokenDay{other, tomorrow, embedded, chat}))
	var writers sync.WaitGroup
	for i := range 8 {
		rows := []memory.TokenDay{chat, other}
		if i%2 == 1 {
			rows = []memory.TokenDay{other, chat}
		}
		writers.Go(func() {
			if err := s.AddTokens(ctx, rows); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	chat.Tokens = 9 * 3
	used, err := s.TokensOf(ctx, "a", 7)
	must(t, err)
	wantSame(t, "the app's day", used, []memory.TokenDay{chat, embedded})
	used, err = s.TokensOf(ctx, "a", 8)
	must(t, err)
	wantSame(t, "the next day", used, []memory.TokenDay{tomorrow})

	purged, err := s.PurgeTokens(ctx, 8)
	must(t, err)
	wantSame(t, "purged counts", purged, 3)
	for _, app := range []string{"a", "b"} {
		used, err = s.TokensOf(ctx, app, 7)
		must(t, err)
		wantSame(t, "a purged day of "+app, len(used), 0)
	}
	used, err = s.TokensOf(ctx, "a", 8)
	must(t, err)
	wantSame(t, "the next day after the purge", used, []memory.TokenDay{tomorrow})
	purged, err = s.PurgeTokens(ctx, 8)
	must(t, err)
	wantSame(t, "counts purged again", purged, 0)
}
