package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

// Every process reads the log without what is withheld, whatever it has cached.
func TestWorking_LeavesOutWhatIsWithheld(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	here, there := b.replica(small), b.replica(small)
	b.say(here, "c", said("Hello."))
	key := b.say(here, "c", said("The key is red."))
	b.say(here, "c", said("Thanks."))
	for _, c := range []struct {
		withheld string
		want     []string
	}{
		{"", []string{"Hello.", "The key is red.", "Thanks."}},
		{" is red.", []string{"Hello.", "The key", "Thanks."}},
		{"The key is red.", []string{"Hello.", "Thanks."}},
		{"", []string{"Hello.", "The key is red.", "Thanks."}},
	} {
		apptest.Withhold(t, b.store, key, c.withheld)
		for _, s := range []*Service{here, there} {
			w := b.working(s, "c")
			if diff := cmp.Diff(c.want, contents(w.Events)); diff != "" {
				t.Errorf("without %q (-want +got):\n%s", c.withheld, diff)
			}
		}
	}
	apptest.Withhold(t, b.store, key, "The key is red.")
	b.say(here, "c", said("Bye."))
	if diff := cmp.Diff([]string{"Hello.", "Thanks.", "Bye."}, contents(b.working(here, "c").Events)); diff != "" {
		t.Error(diff)
	}
}

// If a part of a summarised event is withheld, the summary is made again without the part, also if all of its first
// half is withheld.
func TestWork_CondensesAgainWithoutWhatIsWithheld(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	s := b.replica(small)
	first := b.say(s, "c", said("The key is red."))
	for range 11 {
		b.say(s, "c", said("Thanks for the tea."))
	}
	compact := func() memory.Conversation {
		t.Helper()
		_, err := s.Work(t.Context(), s.compaction(b.conversation("c")).(CompactConversation))
		b.must(err)
		return b.conversation("c")
	}
	if c := compact(); !strings.Contains(c.Summary, "red") {
		t.Fatalf("the summary is %q", c.Summary)
	}
	apptest.Withhold(t, b.store, first, "The key is red.")
	if c := b.conversation("c"); c.Summary != "" || c.SummarisedThrough != 0 {
		t.Errorf("after the forgetting: %q through %d", c.Summary, c.SummarisedThrough)
	}
	if c := compact(); strings.Contains(c.Summary, "red") || !strings.Contains(c.Summary, "tea") {
		t.Errorf("the new summary is %q", c.Summary)
	}

	long := b.say(s, "d", said("The key is red."))
	for range 10 {
		b.say(s, "d", said(strings.Repeat("Thanks for the tea. ", 20)))
	}
	apptest.Withhold(t, b.store, long, "The key is red.")
	_, err := s.Work(t.Context(), s.compaction(b.conversation("d")).(CompactConversation))
	b.must(err)
	if c := b.conversation("d"); strings.Contains(c.Summary, "red") || c.SummarisedThrough == 0 {
		t.Errorf("the summary through %d is %q", c.SummarisedThrough, c.Summary)
	}
}
