package assembly

import (
	"testing"
	"time"
)

// A question is written once: in the line before its reply, or with the reply. The room of a quote that is not written
// is used for other items, and each part states what it used.
func TestUnquote_WritesAQuestionOnce(t *testing.T) {
	t.Parallel()
	said := func(id, who, asked, text string, minute int) Item {
		at := time.Unix(0, 0).UTC().Add(time.Duration(minute) * time.Minute)
		return Item{ID: id, Group: messageGroup, Who: who, Asked: asked, Text: text, At: at}
	}
	const quote, day = "Where is it?", "M\n1970-01-01:\n"
	question, reply := said("q", "a", "", "Hm. "+quote, 1), said("r", "u", quote, "Here.", 2)
	between, further := said("b", "u", "", "Well.", 1), said("f", "u", "", "Further.", 3)
	long := said("l", "u", "", "Further and further.", 3)
	for name, c := range map[string]struct {
		memories []Item
		budget   int
		want     string
	}{
		"with the reply":      {[]Item{reply}, 100, day + "u (Where is it?): Here."},
		"before the reply":    {[]Item{reply, question}, 100, day + "a: Hm. Where is it?\nu: Here."},
		"another between":     {[]Item{reply, between}, 100, day + "u: Well.\nu (Where is it?): Here."},
		"its room is used":    {[]Item{reply, question, further}, 57, day + "a: Hm. Where is it?\nu: Here.\nu: Further."},
		"its room is smaller": {[]Item{reply, question, long}, 57, day + "a: Hm. Where is it?\nu: Here."},
	} {
		p := choose(Contents{Memories: c.memories}, c.budget, Shares{Memories: 1}, letters, Counter{}, false)
		p.fit()
		p.unquote()
		text, _ := p.write()
		if parts, _ := p.account(); text != c.want || parts[2].Used != len(text) {
			t.Errorf("%s: %q, of %d characters, used %d", name, text, len(text), parts[2].Used)
		}
	}
}
