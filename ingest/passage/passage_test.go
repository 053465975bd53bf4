package passage

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

func TestRead_CutsAtHeadingsAndBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		as      memory.ContentType
		content string
		want    Document
	}{
		"plain text": {memory.PlainText, "One.\r\n\r\nTwo,\nof two lines.", Document{
			Passages: []Passage{{"", "One.\nTwo,\nof two lines."}},
		}},
		"Markdown": {memory.Markdown, `---
title: "The guide"
---
# Guide

Read *this* **first**, see [the map](https://example.com/map "Map") and ` + "`run`" + `.
It goes on.

Setup
-----
1. Unpack the file_name_of it.
2. Press &amp; hold.

> quoted <b>words</b>

### Cables ###

| Colour | Use |
|--------|-----|
| red    | 5 V |

![A plug](plug.png)

` + "```sh\nmake *all*\n```" + `
[map]: https://example.com
<!-- a
comment -->`, Document{"The guide", []Passage{
			{"Guide", "Guide\nRead this first, see the map and run. It goes on."},
			{"Guide > Setup", "Guide > Setup\n1. Unpack the file_name_of it.\n2. Press & hold.\nquoted words"},
			{
				"Guide > Setup > Cables",
				"Guide > Setup > Cables\nColour | Use\nred    | 5 V\nA plug\nmake *all*",
			},
		}}},
		"HTML": {memory.HTML, `<!doctype html><html><head><title>Shop &ndash; Help</title><style>p{}</style>
<script>var a = "<p>no</p>"</script></head><body><nav><a href="/">Home</a><ul><li>Links</ul></nav>
<h1>Help</h1><p>You can <b>re</b>turn
 goods.<br>Within 30&nbsp;days.</p><ul><li>Shoes<li>Hats</ul><form><input><button>Go</button></form>
<h2>Costs</h2><table><tr><th>To<th>Price</tr><tr><td>DE<td>5 &euro;</tr></table><pre>a
  b</pre><p>Open</body>`, Document{"Shop – Help", []Passage{
			{"Help", "Help\nYou can return goods.\nWithin 30 days.\n- Shoes\n- Hats"},
			{"Help > Costs", "Help > Costs\nTo | Price\nDE | 5 €\na\n  b\nOpen"},
		}}},
		"the first heading is the title": {memory.HTML, "<h1>Terms</h1>All of them.", Document{"Terms", []Passage{
			{"", "All of them."},
		}}},
		"nothing to read": {memory.HTML, "<script>a</script><h1></h1><p> - </p>", Document{}},
	} {
		if diff := cmp.Diff(c.want, Read(c.content, c.as)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A passage without its headings has at most 600 characters, 240 in Chinese. It ends after a sentence if it can.
func TestRead_BoundsPassages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("This is a sentence of a long paragraph. ", 100)
	heading := strings.Repeat("deep ", 100)
	for _, p := range Read("# T\n\n## "+heading+"\n\n### "+heading+"\n\n"+long, memory.Markdown).Passages {
		body := strings.TrimPrefix(p.Content, p.Heading+"\n")
		if utf8.RuneCountInString(body) > 600 || !strings.HasSuffix(body, ".") {
			t.Errorf("a passage: %q", body)
		}
		if n := utf8.RuneCountInString(p.Heading); n == 0 || n > memory.MaxCitedRunes {
			t.Errorf("the headings have %d characters", n)
		}
	}
	for _, p := range Read(strings.Repeat("这是一个很长的段落里的一句话。", 100), memory.PlainText).Passages {
		if n := utf8.RuneCountInString(p.Content); n > 240 || !strings.HasSuffix(p.Content, "。") {
			t.Errorf("%d characters: %q", n, p.Content)
		}
	}
	if list := Read(strings.Repeat("a", 5000), memory.PlainText).Passages; len(list) != 9 {
		t.Errorf("a line without sentences has %d passages", len(list))
	}
}

// No content breaks the reader: passages are valid, visible text without control characters.
func TestRead_SurvivesHostileContent(t *testing.T) {
	t.Parallel()
	const size = 1 << 18
	for _, unit := range []string{
		"<div>", "</div>", "<b>", "<nav>", "<table><tr><td>", "<!--", "<![CDATA[", "<a href='", "&#x41;", "&#0;", "<script>",
		"\x00", "\xff\xfe", "\x1b[31m", "> ", "- ", "[", "](", "*a ", "a*b_", "`", "```\n", "[a]: b\n", "|a|b|\n", "# a\n",
		"a\n-\n", "\u202e", "word ", "\n",
	} {
		content := strings.Repeat(unit, size/len(unit))
		for _, as := range memory.ContentTypes {
			for _, p := range Read(content, as).Passages {
				if !utf8.ValidString(p.Content) || strings.ContainsAny(p.Content, "\x00\x1b\u202e") ||
					strings.TrimSpace(p.Content) == "" {
					t.Fatalf("%q as %s: %.80q", unit, as, p.Content)
				}
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("# A\n\ntext\n\n- b", "text/markdown")
	f.Add("<h1>A</h1><p>text", "text/html")
	f.Fuzz(func(t *testing.T, content, as string) {
		for _, p := range Read(content, memory.ContentType(as)).Passages {
			if why := memory.CheckContent(p.Content, memory.MaxContentRunes); why != "" {
				t.Errorf("a passage %s: %q", why, p.Content)
			}
		}
	})
}

func ExampleRead() {
	read := Read("# Handbook\n\n## Leave\n\nYou have 28 days.", memory.Markdown)
	fmt.Printf("%s: %q\n", read.Title, read.Passages[0].Content)
	// Output: Handbook: "Leave\nYou have 28 days."
}
