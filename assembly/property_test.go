package assembly

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest" // sets its flags
	"hippocampus/internal/text"
	"hippocampus/reflection/compression"
)

// codecs measure independently of package text.
var codecs = func() map[text.Encoding]tokenizer.Codec {
	all := map[text.Encoding]tokenizer.Codec{}
	for _, e := range []text.Encoding{text.O200k, text.CL100k} {
		codec, err := tokenizer.Get(tokenizer.Encoding(e))
		if err != nil {
			panic(err)
		}
		all[e] = codec
	}
	return all
}()

// independently measures a finished context as its reader does.
func independently(c Counter, prompt string, messages []Message) int {
	scale := max(c.Scale, 1)
	size := func(s string) int {
		if c.Encoding == "" {
			return utf8.RuneCountInString(s)
		}
		n, err := codecs[c.Encoding].Count(s)
		if err != nil {
			panic(err)
		}
		return int(math.Ceil(float64(n) * scale))
	}
	if len(messages) == 0 {
		return size(prompt)
	}
	each, all := 0, 0
	if c.Encoding != "" {
		each, all = int(math.Ceil(4*scale)), int(math.Ceil(3*scale))
	}
	for _, m := range messages {
		all += each + size(m.Content)
	}
	return all
}

var (
	anything = rapid.Custom(func(t *rapid.T) string {
		word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"喜欢喝茶。", "Works at \"A/B\".", "🙂🙂", "\n", "/", "//\n", " ", "\r\n", "…", "\u2028", "a", strings.Repeat("x", 40),
			"123456", "[Facts]", "- ", "don't",
		}))
		return strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "words"),
			rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "between"))
	})
	counters = rapid.SampledFrom([]Counter{
		{}, {Encoding: text.O200k, counts: NewCounts(1 << 20)}, {Encoding: text.CL100k},
		{Encoding: text.O200k, Scale: 1.3, counts: NewCounts(1 << 10)},
	})
	share = rapid.SampledFrom([]float64{0, 0, 0.1, 0.3, 1})
)

func drawContents(t *rapid.T) Contents {
	contents := Contents{}
	for _, part := range Parts {
		for i := range rapid.IntRange(0, 6).Draw(t, string(part)) {
			item := Item{ID: string(rune('a' + i)), Text: anything.Draw(t, "text")}
			switch {
			case part == Memories:
				item.Group = Group(rapid.IntRange(0, int(groups)-1).Draw(t, "group"))
				if item.Group == messageGroup {
					item.Who = anything.Draw(t, "who")
					item.Asked = rapid.SampledFrom([]string{"", "a", "don't"}).Draw(t, "asked")
					item.At = time.Unix(int64(rapid.IntRange(0, 2).Draw(t, "day"))*24*60*60, 0)
					item.HeldBy = rapid.SampledFrom([]string{"", "event b", "event c"}).Draw(t, "held by")
					break
				}
				fallthrough
			case part == Facts:
				item.Statement = rapid.SampledFrom([]string{"", "", "1", "2"}).Draw(t, "tells")
			case part == Conversation && i > 0:
				item.Role = rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(t, "role")
				item.Who, item.Mark = anything.Draw(t, "who"), anything.Draw(t, "mark")
				item.Statement = "event " + item.ID
			}
			contents[part] = append(contents[part], item)
		}
	}
	return contents
}

// wasReplaced reports whether an event replaced a message. If the event is dropped
// because the whole is larger than its pieces, both are left out, and memories that
// rank below the message may be there.
func wasReplaced(p *plan, item Item) bool {
	return item.HeldBy != "" && slices.ContainsFunc(p.repeats, func(r pick) bool {
		return r.part == Memories && r.ID == item.ID
	})
}

// A context is within its budget, measured independently. It includes whole items, the best memories and events
// without gaps, reports every item as included or left out, and leaves out only items that do not fit.
func TestMake_NeverExceedsTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		contents, counter := drawContents(t), counters.Draw(t, "counter")
		budget := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 400)).Draw(t, "budget")
		shares := Shares{}
		for _, part := range Parts {
			shares[part] = share.Draw(t, "share")
		}
		asMessages := rapid.Bool().Draw(t, "as messages")
		p := choose(contents, budget, shares, rapid.SampledFrom([]words{english, chinese}).Draw(t, "words"), counter,
			asMessages)
		p.fit()
		p.unquote()
		prompt, messages := p.write()
		size := independently(counter, prompt, messages)
		if size > budget || size != p.size() {
			t.Fatalf("%d, by its own account %d, of %d: %q %q", size, p.size(), budget, prompt, messages)
		}
		for _, c := range p.chosen {
			if p.stated[c.HeldBy] {
				t.Fatalf("memory %s is there, and %s that holds it", c.ID, c.HeldBy)
			}
		}
		whole := prompt
		for _, m := range messages {
			whole += "\n" + m.Content
		}
		parts, left := p.account()
		reasons := map[Part]map[string]string{}
		for _, part := range Parts {
			reasons[part] = map[string]string{}
		}
		for _, l := range left {
			reasons[l.Part][l.ID] = l.Reason
		}
		for _, part := range parts {
			full := ""
			for _, item := range contents[part.Part] {
				reason, isLeft := reasons[part.Part][item.ID]
				at := sectionOf(part.Part, item)
				gapless := part.Part == Memories || at == inEvents
				switch {
				case !isLeft && gapless && full != "":
					t.Fatalf("%s %s is there, though %s is not", part.Part, item.ID, full)
				case !isLeft && p.isMessage(at) && !strings.Contains(whole, item.Text),
					!isLeft && !p.isMessage(at) && !strings.Contains(whole, line(p, at, item)) &&
						!strings.Contains(whole, line(p, at, withoutQuestion(item))):
					t.Fatalf("%s %s is not whole in %q", part.Part, item.ID, whole)
				case isLeft && reason == NoRoom && counter.Encoding == "" && !gapless && p.cost(part.Part, item) <= budget-size:
					t.Fatalf("%s %s has room in %d of %d: %q", part.Part, item.ID, size, budget, whole)
				case isLeft && reason == NoRoom && gapless && !wasReplaced(p, item):
					full = item.ID
				}
			}
			if part.Items+len(reasons[part.Part]) != len(contents[part.Part]) {
				t.Fatalf("%s: %d of %d are there, and %d are not", part.Part, part.Items, len(contents[part.Part]),
					len(reasons[part.Part]))
			}
		}
	})
}

func line(p *plan, at section, item Item) string {
	return strings.TrimSuffix(p.textLine(at, item), "\n")
}

func withoutQuestion(item Item) Item {
	item.Asked = ""
	return item
}

// saying is a Condenser that returns a fixed text for any room.
type saying string

func (saying) ShouldCondense(memories int, _ bool) bool { return memories > 0 }

func (s saying) Condense(
	context.Context, []compression.Line, compression.Room, string,
) (condensed, why string) {
	return string(s), ""
}

// Whatever text a model returns for the memories, the context is within its budget and reports each item.
func TestMake_NeverExceedsTheBudgetWhenCondensed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		contents, counter := drawContents(t), counters.Draw(t, "counter")
		budget, said := rapid.IntRange(0, 300).Draw(t, "budget"), anything.Draw(t, "said")
		shares := Shares{}
		for _, part := range Parts {
			shares[part] = share.Draw(t, "share")
		}
		p := choose(contents, budget, shares, english, counter, rapid.Bool().Draw(t, "as messages"))
		p.fit()
		most := rapid.IntRange(1, 8).Draw(t, "most")
		condensed, _ := Service{Condenser: saying(said)}.condense(t.Context(), p, most, "")
		prompt, messages := p.write()
		if size := independently(counter, prompt, messages); size > budget || size != p.size() {
			t.Fatalf("%d, by its own account %d, of %d: %q %q", size, p.size(), budget, prompt, messages)
		}
		whole := prompt
		for _, m := range messages {
			whole += m.Content + "\n"
		}
		parts, left := p.account()
		not, unfit := map[Part]int{}, 0
		for _, l := range left {
			not[l.Part]++
			if l.Part == Memories && l.Reason == NoRoom {
				unfit++
			}
		}
		if least := min(most, len(contents[Memories])-not[Memories]+unfit); condensed &&
			len(contents[Memories])-not[Memories] < least {
			t.Fatalf("%d memories are condensed, but %d have no room", least, unfit)
		}
		for _, part := range parts {
			if part.Items+not[part.Part] != len(contents[part.Part]) {
				t.Fatalf("%s: %d of %d are there, and %d are not", part.Part, part.Items, len(contents[part.Part]), not[part.Part])
			}
		}
		if condensed && !strings.Contains(whole, "- "+oneLine(said)) {
			t.Fatalf("%q is not in %q", said, whole)
		}
	})
}
