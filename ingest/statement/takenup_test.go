package statement

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

// What the assistant says later takes up the statement if it has a word that the user's memories have from the
// statement alone.
func TestOf_FindsWhatTakesUpTheStatementLater(t *testing.T) {
	t.Parallel()
	const all = "" // nothing is left
	for _, c := range []struct{ said, besides, later, same, other string }{
		{"I have been seeing a therapist since March.", "How do I sleep better?",
			"You could ask your therapist about it. Switch the lamp off early.",
			"Switch the lamp off early.", "Switch the lamp off early."},
		{"We booked the ferry to Hydra for May.", "What should I pack?", "For Hydra, sun cream and good shoes.", all, all},
		{"My aunt's bakery is next to a lighthouse.", "Which towers are high?", "A lighthouse is a tower with a lamp.",
			all, "A lighthouse is a tower with a lamp."},
		{"My aunt's bakery is next to a lighthouse.", "I collect models of lighthouses.", "You could build a lighthouse.",
			"You could build a lighthouse.", "You could build a lighthouse."},
		{"We sail in May.", "When do tulips bloom?", "Most tulips bloom in May.",
			"Most tulips bloom in May.", "Most tulips bloom in May."},
		{"I ran 92 laps.", "How hot may the oven get?", "An oven gets up to 92 degrees warm on this setting.",
			"An oven gets up to 92 degrees warm on this setting.", "An oven gets up to 92 degrees warm on this setting."},
		{"我老婆怀孕三个月了。", "周末去哪儿玩？", "你老婆怀孕了，就去近一点的公园吧。", all, all},
		{"我月薪一万二。", "推荐一款相机。", "你的预算在一万以内，可以看富士。", "你的预算在一万以内，可以看富士。",
			"你的预算在一万以内，可以看富士。"},
		{"Ich habe Multiple Sklerose.", "Welcher Sport passt?", "Bei Multipler Sklerose ist Schwimmen gut.", all, all},
		{"Ich wohne bei meinem Bruder.", "Was hilft gegen Fett?", "Bei Fett hilft dir Seife.", "Bei Fett hilft dir Seife.",
			"Bei Fett hilft dir Seife."},
	} {
		for conversation, left := range map[string]string{"c": c.same, "another": c.other} {
			var l log
			l.say("u1", "user", 1, c.said)
			l.say("u2", "user", 2, c.besides)
			l.add(memory.Memory{
				ID: "a2", Type: memory.TypeMessage, Speaker: "assistant", Content: c.later, ConversationID: conversation,
				CreatedAt: noon.Add(3 * time.Minute),
			})
			l.state("fact", memory.TypeFact, c.said, "u1")
			want := []string{"u1 source ", "a2 echoes " + left}
			if left == c.later {
				want = want[:1]
			}
			if diff := cmp.Diff(want, l.found("fact")); diff != "" {
				t.Errorf("%s, later in %q: %s (-want +got):\n%s", c.said, conversation, c.later, diff)
			}
		}
	}
}
