package recall

import (
	"testing"

	"hippocampus/internal/memory"
)

// A message whose words of another voice fit a question about the user has half the confidence, and may fall below the
// minimum.
func TestRecall_IsLessSureOfWordsOfAnotherVoice(t *testing.T) {
	t.Parallel()
	const (
		mail  = "Hi Ann,\n\nI live in Leeds now, near the canal.\n\nBest,\nTom\n\nHow do people live there?"
		quote = "我老板说：“我住在北京，离动物园很近。”"
	)
	for _, c := range []struct {
		content, query string
		isOthers       bool
	}{
		{mail, "Where do I live?", true},
		{mail, "Where does Tom live?", false},
		{"I got a mail from Tom.\n\n" + mail, "Which mail did I get from Leeds?", false},
		{"I live in Leeds, near the canal.", "Where do I live?", false},
		{`I live in Leeds. My boss said "I live in Berlin."`, "Where do I live?", false},
		{quote, "我住在哪里？", true},
		{quote, "老板住在哪里？", false},
		{"我住在北京。", "我住在哪里？", false},
	} {
		confidence := func(kind memory.Type, minimum float64) float64 {
			f := newFixture(t)
			f.add(c.content, func(m *memory.Memory) { m.Type = kind }, true)
			answer := f.recall(Query{Text: c.query, MinConfidence: minimum, Explain: true})
			if len(answer.Memories) == 0 {
				if out := answer.Explanation.LeftOut; len(out) != 1 || out[0].Reason != TooUnsure {
					t.Errorf("%s: left out %+v", c.query, out)
				}
				return 0
			}
			return answer.Memories[0].Confidence
		}
		whole, want := confidence(memory.TypeFact, 0), 1.0
		if c.isOthers {
			want = otherVoice
			if got := confidence(memory.TypeMessage, 0.8*whole); got != 0 {
				t.Errorf("%s: confidence %v with a minimum of %v", c.query, got, 0.8*whole)
			}
		}
		if got := confidence(memory.TypeMessage, 0); got != want*whole {
			t.Errorf("%s, %q: confidence %v of %v", c.query, c.content, got, whole)
		}
	}
}

// If a message is left out because its words are another voice's, the next best memory takes its place.
func TestRecall_ReplacesWordsOfAnotherVoiceByTheNextBest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	asMessage := func(m *memory.Memory) { m.Type = memory.TypeMessage }
	const mail = "Hi Ann,\n\nI live in Leeds now, near the canal, where I live with two cats.\n\nBest,\nTom\n\nHow nice?"
	f.add(mail, asMessage, true)
	f.add("I live in Porto.", asMessage, true)
	f.add("We used to live near the sea, in a house with a big garden and many trees around it.", asMessage, true)
	query := Query{Text: "Where do I live?", Limit: 2, NoTouch: true}
	about := userTermsOf(query.Text)
	all := f.recall(query).Memories
	least, foreign := 1.0, 0
	for _, r := range all {
		least = min(least, r.Confidence)
		if about.isOthers(r.Memory) {
			foreign++
		}
	}
	query.MinConfidence = least + 0.001
	found := f.recall(query).Memories
	if len(all) != 2 || foreign != 1 || len(found) != 2 {
		t.Fatalf("%d memories, %d in another voice, %d of at least %v", len(all), foreign, len(found), query.MinConfidence)
	}
	for _, r := range found {
		if about.isOthers(r.Memory) {
			t.Errorf("found %q with %v", r.Memory.Content, r.Confidence)
		}
	}
}
