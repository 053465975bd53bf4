package recall

import (
	"slices"
	"testing"
)

// A follow-up is searched for with what was said before, and what answers the follow-up comes first. A query with a
// subject of its own, small talk, and a query for a time alone are searched for by themselves.
func TestRecall_OfAFollowUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, content := range []string{
		"My sister Anna lives in Graz.", "My sister teaches maths.", "Tom teaches swimming.", "Tom lives in York.",
	} {
		f.add(content, nil, true)
	}
	const previous = "Where does my sister live? In Graz."
	got := f.recall(Query{Text: "What does she teach?", Previous: previous, At: begin})
	if first := contents(got)[0]; first != "My sister teaches maths." {
		t.Errorf("found %q first", first)
	}
	if want := []string{previous + " What does she teach?"}; !slices.Equal(got.Asked, want) {
		t.Errorf("asked %q, want %q", got.Asked, want)
	}
	for _, text := range []string{"Where does Tom live?", "Thanks!", "What did I do yesterday?"} {
		if got := f.recall(Query{Text: text, Previous: previous, At: begin}); got.Asked != nil {
			t.Errorf("%q was searched for as %q", text, got.Asked)
		}
	}
}
