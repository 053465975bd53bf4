package memoryfile

import (
	"testing"

	"hippocampus/internal/growthtest"
)

// Any file is refused, or written as it was read.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "---\nhippocampus: 1\nuser: ada\n---\n\n# Facts\n\n- Lives in Lisbon. <!-- m:1 rev:0.fact -->\n",
		"\ufeffintro\r\n- a\r\n  b\r\n", "```\n- x\n```\n", "<!-- a\nb -->\n* c\n",
		"- a <!-- conflict: with the server -->\n- b\n",
		"---\nuser: \"\\u0000\"\n---\n", "# Skills\n+ x\n\n\n", "<!--", "```", "---",
		"- a\r", "a\r\nb\r",
	} {
		f.Add("", seed)
	}
	for _, unit := range []string{
		"- a\n", "  b\n", "# Facts\n", "<!-- x -->", "\n", "```\n", "`", "- a <!-- m:1 rev:0.fact -->\n", "a: b\n", "\\",
	} {
		f.Add("# Facts\n\n", unit)
		f.Add("---\n", unit)
		f.Add("- a <!--", unit)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		file := head + unit
		for _, form := range []*Form{Memories, Learnings} {
			document, err := form.Parse(file)
			if err != nil {
				continue
			}
			if written := document.Bytes(); written != file {
				t.Fatalf("%q is written as %q", file, written)
			}
			document.Merge(nil, true)
		}
		growthtest.Check(t, head, unit, func(text string) {
			if document, err := Memories.Parse(text); err == nil {
				document.Merge(nil, true)
			}
		})
		growthtest.Check(t, head, unit, func(text string) { _, _ = SplitTopics(text) })
	})
}
