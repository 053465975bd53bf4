package recall

import (
	"testing"

	"hippocampus/internal/memory"
)

// The assistant may be mistaken about the user: the user's reply with words of the claim answers first.
func TestRecall_PutsTheUsersReplyBeforeTheAssistantsClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claim, reply, query string
		first               bool // the reply
	}{
		"a correction": {
			"You use an iPhone 12, so the iPhone 16 is a good step.", "I've got a Pixel, not an iPhone.",
			"What phone do I have, an iPhone 12?", true,
		},
		"in Chinese": {"你开的是丰田，可以看看平安。", "我开的不是丰田，是本田。", "我开的是丰田吗，可以看看平安？", true},
		"in German": {
			"Mit deiner Schuhgröße 42 passt der Trailrunner.", "Meine Schuhgröße ist 39.",
			"Welche Schuhgröße passt mir im Trailrunner, ich frage wegen 42?", true,
		},
		"a German question with was": {
			"Deine Frau mag Schmuck, also eine Kette.", "Sie mag keinen Schmuck, sie liest gern.",
			"Was mag meine Frau?", true,
		},
		"another subject": {
			"Your car is on level P3 at the airport.", "My flight lands at ten.", "Where is my car at the airport?", false,
		},
		"not about the user": {
			"Hotel Lancelot is your quiet choice in Rome.", "My wife has never been to Rome.",
			"Which hotel in Rome is quiet?", false,
		},
		"what the assistant said": {
			"Your iPhone 12 is slow.", "My iPhone is two years old.", "What did you say about my slow iPhone 12?", false,
		},
	} {
		f := newFixture(t)
		claim := f.inTalk(memory.RoleAssistant, c.claim, 0)
		reply := f.inTalk(memory.RoleUser, c.reply, 1)
		got := f.recall(Query{Text: c.query, NoTouch: true}).Memories
		if len(got) < 2 {
			t.Errorf("%s: %d memories", name, len(got))
			continue
		}
		want := claim.ID
		if c.first {
			want = reply.ID
		}
		if got[0].Memory.ID != want || c.first && got[0].Updates != claim.ID {
			t.Errorf("%s: first is %q, which updates %q", name, got[0].Memory.Content, got[0].Updates)
		}
	}
}
