package vectortest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// testReplace checks that a replaced record is the only one with its id, also after
// a repetition, after a delete, and if no record had the id.
func testReplace(t *testing.T, s vectorstore.Store) {
	o := owner()
	first := record(o, axis(0, 1))
	q := around(o, axis(0, 1))
	must(t, s.Replace(t.Context(), []vectorstore.Record{first}))
	awaitIDs(t, s, q, first.ID)

	second := first
	second.Embedding = axis(0, -1)
	second.Domain = memory.Tasks
	second.Content = "buys tea"
	for range 3 {
		must(t, s.Replace(t.Context(), []vectorstore.Record{second}))
	}
	await(t, func() error {
		hits := search(t, s, q)
		if len(hits) != 1 || hits[0].Similarity > -0.99 {
			return fmt.Errorf("the replaced record is found as %v", hits)
		}
		return nil
	})
	inDomain := q
	inDomain.Domains = []memory.Domain{memory.Preferences}
	awaitIDs(t, s, inDomain)
	inDomain.Domains = []memory.Domain{memory.Tasks}
	awaitIDs(t, s, inDomain, first.ID)

	must(t, s.Delete(t.Context(), []string{first.ID}))
	awaitIDs(t, s, q)
	must(t, s.Replace(t.Context(), []vectorstore.Record{first}))
	awaitIDs(t, s, q, first.ID)

	// A record is identified by its id alone: its owner may change.
	moved := first
	moved.Owner = owner()
	must(t, s.Replace(t.Context(), []vectorstore.Record{moved}))
	awaitIDs(t, s, around(moved.Owner, axis(0, 1)), first.ID)
	awaitIDs(t, s, q)
	must(t, s.Replace(t.Context(), nil))
}

// testDelete checks that only the given ids are deleted, and that unknown and
// impossible ids are ignored.
func testDelete(t *testing.T, s vectorstore.Store) {
	o := owner()
	kept, gone := record(o, axis(0, 1)), record(o, axis(1, 1))
	must(t, s.Insert(t.Context(), []vectorstore.Record{kept, gone}))
	q := around(o, axis(0, 1))
	awaitIDs(t, s, q, kept.ID, gone.ID)

	many := []string{
		gone.ID, "", `"`, `\`, `x"] or id != "`, `" or id != "`, "'; DROP TABLE", "a\nb", "\xff", strings.Repeat("x", 300),
	}
	for range 1500 {
		many = append(many, memory.NewID())
	}
	for range 2 {
		must(t, s.Delete(t.Context(), many))
	}
	awaitIDs(t, s, q, kept.ID)
	must(t, s.Delete(t.Context(), nil))
	must(t, s.Insert(t.Context(), nil))
}

// testContents checks that a scan returns every field but the embedding unchanged.
func testContents(t *testing.T, s vectorstore.Store) {
	var want []vectorstore.Record
	for i, content := range []string{
		"plain", `quotes " and ' and \ and \" and \\`, "lines\nfeeds\r\nand\ttabs", "  spaces  ", "{\"json\": [1, null]}",
		"我在一家医院做护士，喜欢喝龙井茶。", "日本語と한국어 и русский, עברית العربية", "🧠👩‍👩‍👧‍👦 e\u0301 \u200b\u202e",
		strings.Repeat("记", memory.MaxContentRunes), strings.Repeat("🧠", memory.MaxContentRunes),
		"%s %d \\u0022 \\n ${x} {{y}}",
	} {
		rec := record(owner(), axis(i, 1))
		rec.Content, rec.AgentID = content, []string{"", "amy"}[i%2]
		rec.Domain, rec.Type = memory.Domains[i%6], memory.Types[i]
		rec.CreatedAt = time.Date(1900+20*i, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
		want = append(want, rec)
	}
	sent := slices.Clone(want)
	sent[0].CreatedAt = sent[0].CreatedAt.Add(912 * time.Microsecond) // stores truncate to milliseconds
	must(t, s.Insert(t.Context(), sent))
	for i := range want {
		want[i].Embedding = nil
	}
	slices.SortFunc(want, func(a, b vectorstore.Record) int { return strings.Compare(a.ID, b.ID) })
	if diff := cmp.Diff(want, collect(t, s)); diff != "" {
		t.Errorf("records differ (-written +read):\n%s", diff)
	}
}

// testScan checks id order, pages, limits, and that every acknowledged write is seen.
func testScan(t *testing.T, s vectorstore.Store) {
	if got := collect(t, s); len(got) != 0 {
		t.Fatalf("a new store has %d records", len(got))
	}
	const n = 2300
	var records []vectorstore.Record
	for i := range n {
		// The order of ids differs from the order of insertion.
		rec := record(memory.Owner{AppID: "app", UserID: fmt.Sprint("user", i%37)}, axis(i%Dim, 1))
		rec.ID = fmt.Sprintf("%05d-%d", i*7919%n, i)
		records = append(records, rec)
	}
	must(t, s.Insert(t.Context(), records))
	must(t, s.Replace(t.Context(), records[:100]))
	must(t, s.Delete(t.Context(), idsOf(records[100:200])))
	want := slices.Sorted(slices.Values(idsOf(append(slices.Clone(records[:100]), records[200:]...))))

	if got := idsOf(collect(t, s)); !slices.Equal(got, want) {
		t.Fatalf("scanned %d ids, want %d; in order: %t", len(got), len(want), slices.IsSorted(got))
	}
	var paged []string
	after := ""
	for {
		var page []string
		must(t, s.Scan(t.Context(), after, 701, func(r vectorstore.Record) error {
			page = append(page, r.ID)
			return nil
		}))
		if len(page) == 0 {
			break
		}
		paged, after = append(paged, page...), page[len(page)-1]
	}
	if !slices.Equal(paged, want) {
		t.Errorf("pages of 701 give %d ids, want %d", len(paged), len(want))
	}

	calls := 0
	err := s.Scan(t.Context(), "", n, func(vectorstore.Record) error {
		calls++
		return errStop
	})
	if err != errStop || calls != 1 { //nolint:errorlint // the contract returns the error unchanged
		t.Errorf("a callback that fails: %d calls and the error %v, want one call and its own error", calls, err)
	}
}
