package jobs

import (
	"context"
	"testing"
	"time"
)

// The progress is the result of a job while the job runs. The job's own result then replaces it.
func TestNoteProgress_ShowsUntilTheJobEnds(t *testing.T) {
	t.Parallel()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := migrated(t, fresh)
			noted, end := make(chan struct{}), make(chan struct{})
			NoteProgress(t.Context(), "outside a job")
			work := Maintenance{Kind: testKind, Work: func(ctx context.Context, _ time.Time) (any, error) {
				for n := range 3 { // more often than is written
					NoteProgress(ctx, map[string]int{"checked": n})
				}
				close(noted)
				<-end
				return map[string]int{"checked": 9}, nil
			}}
			o := options
			o.Processes = r
			runner, err := r.withOptions(o, work.Handler())
			if err != nil {
				t.Fatal(err)
			}
			if err := runner.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = runner.Stop(context.Background()) })
			job, err := EnqueueAt(t.Context(), r, testKind, midnight)
			if err != nil {
				t.Fatal(err)
			}
			result := func() string {
				job, err = r.Job(t.Context(), job.ID)
				if err != nil {
					t.Fatal(err)
				}
				return string(job.Result)
			}
			<-noted
			if got := result(); got != `{"checked":0}` && got != `{"checked": 0}` || job.State != "running" {
				t.Errorf("while it runs: %s, %s", job.State, got)
			}
			close(end)
			for result(); job.EndedAt.IsZero(); result() {
				time.Sleep(10 * time.Millisecond) // until the runner has recorded the end
			}
			if got := result(); got != `{"checked":9}` && got != `{"checked": 9}` {
				t.Errorf("after its end: %s", got)
			}
		})
	}
}
