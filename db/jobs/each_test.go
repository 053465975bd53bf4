package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hippocampus/db/jobs"
	"hippocampus/internal/memory"
)

// owners lists three users.
type owners struct{}

func (owners) Owners(context.Context, memory.Owner, int) ([]memory.Owner, error) {
	return []memory.Owner{{AppID: "app", UserID: "ada"}, {AppID: "app", UserID: "bob"}, {AppID: "app", UserID: "cyd"}}, nil
}

func TestEachOwner_TreatsErrorsByKind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error // for bob
		failed int
		called []string
		want   string // of the error
	}{
		"none":        {called: []string{"ada", "bob", "cyd"}},
		"conflict":    {err: memory.Errorf(memory.KindConflict, "changed"), called: []string{"ada", "bob", "cyd"}},
		"unavailable": {err: memory.Errorf(memory.KindUnavailable, "down"), called: []string{"ada", "bob"}, want: "down"},
		"other": {
			err: errors.New("broken"), failed: 1, called: []string{"ada", "bob", "cyd"}, want: "1 of 3 users failed: broken",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var called []string
			failed, err := jobs.EachOwner(t.Context(), owners{}, func(o memory.Owner) error {
				called = append(called, o.UserID)
				if o.UserID == "bob" {
					return test.err
				}
				return nil
			})
			if failed != test.failed || !slices.Equal(called, test.called) {
				t.Errorf("%d failed, called for %v", failed, called)
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
