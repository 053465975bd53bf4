package content

import (
	"strings"
	"testing"
)

func TestWord_HasUniqueStems(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 20_000 {
		if m, double := seen[Word(n)]; double {
			t.Fatalf("words %d and %d are both %q", m, n, Word(n))
		}
		seen[Word(n)] = n
	}
}

func TestParseData_ReadsUsersAndMemories(t *testing.T) {
	t.Parallel()
	if d, err := Parse("1000x100"); err != nil || d.Memories() != 100_000 {
		t.Errorf("1000x100 is %+v, %v", d, err)
	}
	for _, text := range []string{"", "5", "x", "0x5", "5x0", "-1x5", "fivexfive"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestStatement_IsNewEachTime(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 5000 {
		text := Statement(n)
		if m, double := seen[text]; double {
			t.Fatalf("statements %d and %d are both %q", m, n, text)
		}
		seen[text] = n
	}
}

func TestData_TakesContentsAndQueriesFromTexts(t *testing.T) {
	t.Parallel()
	texts := Texts{Contents: []string{"Ana: one", "Ben: two"}, Queries: []string{"Who?", "When?"}}
	d := Data{Users: 2, Each: 10, Texts: texts}
	seen := map[string]bool{}
	for j := range d.Each {
		m := d.Memory(1, j)
		if seen[m.Content] || !strings.HasSuffix(m.Content, "Ana: one") && !strings.HasSuffix(m.Content, "Ben: two") {
			t.Errorf("memory %d is %q", j, m.Content)
		}
		seen[m.Content] = true
	}
	if d.Query(3) != "When?" {
		t.Errorf("query 3 is %q", d.Query(3))
	}
	if syllables := (Data{}); syllables.Query(3) != Query(3) {
		t.Errorf("query 3 of no texts is %q", syllables.Query(3))
	}
}
