package assembly

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// items have texts of so many x, and the ids a, b, c...
func items(sizes ...int) (list []Item) {
	for i, n := range sizes {
		list = append(list, Item{ID: string(rune('a' + i)), Text: strings.Repeat("x", n)})
	}
	return list
}

func events(sizes ...int) []Item {
	list := items(sizes...)
	for i := range list {
		list[i].Role, list[i].Who = "user", "u"
	}
	return list
}

// The tables count characters. With one-letter headings, an instruction of n x
// costs n+1, a fact or memory n+3, an event n+4 ("u: " and its line break). The
// first heading costs 1, further ones 3, with their line break and the empty
// line before.
var letters = words{
	[sections]string{"I", "F", "M", "S", "E"}, [groups]string{"p", "f", "t", "k", "r", "o"}, " (%s)", " (%s)", ", ",
	" (%s)", " (%d, %s)", " (r)", " (%s)", " (%s)", " (d)", " (s %s)", " (t)",
}

func TestChoose_FillsTheBudget(t *testing.T) {
	t.Parallel()
	std := presets["default"].Shares
	type spent struct{ Budget, Used, Items int }
	for _, c := range []struct {
		name     string
		budget   int
		shares   Shares
		contents Contents
		want     [4]spent
		left     string // part/id of what is left out
		size     int
	}{
		{
			"everything fits", 100, std,
			Contents{Instructions: items(5), Facts: items(5), Memories: items(5), Conversation: events(5)},
			// 1+6; 3+8; 3+8; 3+9
			[4]spent{{10, 7, 1}, {20, 11, 1}, {30, 11, 1}, {40, 12, 1}}, "", 41,
		},
		{
			"what a part leaves flows on in order", 100, std,
			// Facts have 20 and the 10 of the instructions: 1+9+9+9 = 28, and one more would be 37. Memories have 30 and the 2
			// that are left: 3+13+13 = 29. The conversation has 40+3: 3+16+16 = 35; 8 are left over.
			Contents{Facts: items(6, 6, 6, 6), Memories: items(10, 10, 10), Conversation: events(12, 12, 12)},
			[4]spent{{10, 0, 0}, {20, 28, 3}, {30, 29, 2}, {40, 35, 2}}, "facts/d memories/c conversation/c", 92,
		},
		{
			"what the last part leaves goes back to the first", 100, std,
			// In the first round the instruction of 40 does not fit 10, which goes to the next parts; in the second it has 86.
			Contents{Instructions: items(40, 20), Facts: items(10)},
			// First: no instructions (10), facts 1+13 = 14 of 30. Second, 86 left: 3+41 and 21; 21 are left over.
			[4]spent{{10, 65, 2}, {20, 14, 1}, {30, 0, 0}, {40, 0, 0}}, "", 79,
		},
		{
			"an instruction or fact that does not fit is passed over", 40, std,
			// Shares 4, 8, 12, 16. First round: instructions of 30 and 2: 1+3 = 4 fits. Facts 8: 3+33 no, 3+4 yes. Second,
			// 29 left: neither fits.
			Contents{Instructions: items(30, 2), Facts: items(30, 1)},
			[4]spent{{4, 4, 1}, {8, 7, 1}, {12, 0, 0}, {16, 0, 0}}, "instructions/a facts/a", 11,
		},
		{
			"a memory that does not fit ends them", 40, std,
			// 22 for memories in the first round: 1+13, and 33 does not fit. Second: 26 left, still not.
			Contents{Memories: items(10, 30, 1)},
			[4]spent{{4, 0, 0}, {8, 0, 0}, {12, 14, 1}, {16, 0, 0}}, "memories/b memories/c", 14,
		},
		{
			"events have no gap", 60, std,
			// All 60 go to the conversation: 1+24 and 24 fit. 34 does not fit into the other 11, and ends the part, though 5
			// would fit.
			Contents{Conversation: events(20, 20, 30, 1)},
			[4]spent{{6, 0, 0}, {12, 0, 0}, {18, 0, 0}, {24, 49, 2}}, "conversation/c conversation/d", 49,
		},
		{
			"a summary that does not fit is passed over", 30, std,
			// The summary of 40 does not fit; events 1+14 and 3 more would fit, but 24 not: 15 left.
			Contents{Conversation: append([]Item{{ID: SummaryID, Text: strings.Repeat("s", 40)}}, events(10, 20)...)},
			[4]spent{{3, 0, 0}, {6, 0, 0}, {9, 0, 0}, {12, 15, 1}}, "conversation/summary conversation/b", 15,
		},
		{
			"to the character", 41, std,
			Contents{Instructions: items(5), Facts: items(5), Memories: items(5), Conversation: events(5)},
			// Shares 4, 8, 12, 17: instructions 7 no; facts 1+8 of 12; memories 3+8 of 15;
			// events 3+9 of 21. Second, 9 left: 3+6.
			[4]spent{{4, 9, 1}, {8, 9, 1}, {12, 11, 1}, {17, 12, 1}}, "", 41,
		},
		{
			"one character too few", 40, std,
			Contents{Instructions: items(5), Facts: items(5), Memories: items(5), Conversation: events(5)},
			// Shares 4, 8, 12, 16: as above, and 8 left for an instruction of 9.
			[4]spent{{4, 0, 0}, {8, 9, 1}, {12, 11, 1}, {16, 12, 1}}, "instructions/a", 32,
		},
		{
			"a part without a share takes of the rest", 50, Shares{Memories: 1},
			Contents{Facts: items(5), Memories: items(10, 10)},
			// Memories: 1+13+13 = 27 of 50; facts 3+8 of 23.
			[4]spent{{0, 0, 0}, {0, 11, 1}, {50, 27, 2}, {0, 0, 0}}, "", 38,
		},
		{"no room", 0, std, Contents{Facts: items(1)}, [4]spent{}, "facts/a", 0},
		{"nothing", 10, std, Contents{}, [4]spent{{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}}, "", 0},
	} {
		p := choose(c.contents, c.budget, c.shares, letters, Counter{}, false)
		p.fit()
		parts, leftOut := p.account()
		var got [4]spent
		for i, s := range parts {
			got[i] = spent{s.Budget, s.Used, s.Items}
		}
		var left []string
		for _, l := range leftOut {
			left = append(left, string(l.Part)+"/"+l.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || strings.Join(left, " ") != c.left || p.size() != c.size {
			prompt, _ := p.write()
			t.Errorf("%s: size %d, left out %v, %s\n%s", c.name, p.size(), left, diff, prompt)
		}
	}
}

// A fact and a memory with the same statement are included once.
func TestChoose_IncludesAStatementOnce(t *testing.T) {
	t.Parallel()
	fact, same := items(5), append(items(5), items(3)...)
	fact[0].Statement, same[0].Statement = "m", "m"
	for _, c := range []struct {
		budget int
		shares Shares
		want   string
	}{
		{100, Shares{Facts: 0.5, Memories: 0.5}, "F\n- xxxxx\n\nM\n- xxx"},
		{16, Shares{Memories: 1}, "M\n- xxxxx\n- xxx"}, // memories come first here, and there is no room for the fact
		{27, Shares{Memories: 1}, "M\n- xxxxx\n- xxx"}, // there is room for the fact, but a memory states the same
	} {
		p := choose(Contents{Facts: fact, Memories: same}, c.budget, c.shares, letters, Counter{}, false)
		_, left := p.account()
		if got, _ := p.write(); got != c.want || len(left) != 1 || left[0].Reason != AlreadyIncluded {
			t.Errorf("%d: %q, left out %v", c.budget, got, left)
		}
	}
}

// A message that an event holds is in the memories if the event does not fit, else
// only in the conversation.
func TestChoose_ReplacesMessagesByTheirEvents(t *testing.T) {
	t.Parallel()
	contents := Contents{Conversation: events(20, 200)}
	for i := range contents[Conversation] {
		contents[Conversation][i].Statement = "event " + contents[Conversation][i].ID
	}
	for _, event := range []string{"event a", "event b", ""} {
		contents[Memories] = append(contents[Memories], Item{
			ID: "m", Group: messageGroup, Who: "u", Text: strings.Repeat("x", 20), HeldBy: event,
		})
	}
	// The first event and each message cost 24, the day 12, the heading of the events 1, that of the memories 3.
	for _, c := range []struct {
		budget, memories, events int
		reasons                  []string // of the messages that are left out
	}{
		{1000, 1, 2, []string{AlreadyIncluded, AlreadyIncluded}},
		{88, 2, 1, []string{AlreadyIncluded}},
		{87, 1, 1, []string{NoRoom, AlreadyIncluded}},
	} {
		p := choose(contents, c.budget, presets["default"].Shares, letters, Counter{}, false)
		parts, left := p.account()
		var reasons []string
		for _, l := range left {
			if l.Part == Memories {
				reasons = append(reasons, l.Reason)
			}
		}
		if parts[2].Items != c.memories || parts[3].Items != c.events || !slices.Equal(reasons, c.reasons) ||
			parts[2].Used+parts[3].Used != p.size() {
			t.Errorf("%d characters: %+v, without %+v", c.budget, parts, left)
		}
	}
}
