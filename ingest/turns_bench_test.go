package ingest

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/db/postgres"
	"hippocampus/db/postgres/postgrestest"
	"hippocampus/db/sqlite"
	"hippocampus/db/sqlite/sqlitetest"
	"hippocampus/internal/memory"
	"hippocampus/scorer"
)

func BenchmarkTurns(b *testing.B) {
	stores := map[string]func(b *testing.B) (db.Store, error){
		"sqlite": func(b *testing.B) (db.Store, error) {
			return sqlite.Open(b.Context(), sqlite.Options{Path: sqlitetest.Path(b)})
		},
		"postgres": func(b *testing.B) (db.Store, error) {
			return postgres.Open(b.Context(), postgres.Options{URL: postgrestest.URL(b)})
		},
	}
	for _, name := range []string{"sqlite", "postgres"} {
		for _, mode := range []string{"idle", "backlog"} {
			b.Run(name+"/"+mode, func(b *testing.B) {
				store, err := stores[name](b)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = store.Close() })
				if err := store.Migrate(b.Context()); err != nil {
					b.Fatal(err)
				}
				var pending sync.WaitGroup
				s := New(Parts{
					Records: store, Scorer: scorer.NewRules(), Now: time.Now, Log: zap.NewNop(),
					OnProcessed: func(context.Context, memory.Turn) { pending.Done() },
				}, Settings{Threshold: 0.7, Attempts: 3, RetryDelay: time.Second, RetryLimit: time.Minute, GiveUp: time.Hour,
					Lease: 20 * time.Second, Renew: 5 * time.Second, Timeout: time.Minute})
				start := func() (stop func()) {
					ctx, cancel := context.WithCancel(context.Background())
					var group sync.WaitGroup
					group.Go(func() { s.Work(ctx) })
					return func() { cancel(); group.Wait() }
				}
				accept := func() {
					pending.Add(1)
					_, _, err := s.Accept(context.Background(), memory.Turn{Owner: ada, Messages: []memory.Message{{Role: "user",
						Content: "Could you look that up for me, please?"}}})
					if err != nil {
						b.Fatal(err)
					}
				}
				if mode == "idle" {
					stop := start()
					time.Sleep(100 * time.Millisecond)
					for b.Loop() {
						accept()
						pending.Wait()
					}
					stop()
					return
				}
				b.StopTimer()
				for range b.N {
					accept()
				}
				b.StartTimer()
				stop := start()
				pending.Wait()
				b.StopTimer()
				stop()
			})
		}
	}
}
