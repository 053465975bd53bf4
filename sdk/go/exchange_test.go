package hippocampus_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	hippocampus "hippocampus/sdk/go"
	"hippocampus/sdk/go/api"
)

func contents(t *testing.T, client *hippocampus.Client, p hippocampus.ListMemoriesParams) []string {
	t.Helper()
	var found []string
	for memory, err := range client.Memories(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, memory.Content)
	}
	return found
}

func TestMemories_IteratesOverAllPagesFromACursor(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	written := []string{"Likes tea.", "Plays chess.", "Owns a boat.", "Speaks Danish.", "Runs at dawn."}
	want := slices.Clone(written)
	slices.Reverse(want)
	p := hippocampus.ListMemoriesParams{UserID: remember(t, client, written...), Limit: new(2)}
	memories := client.Memories(t.Context(), p)
	for range 2 {
		var got []string
		for memory, err := range memories {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, memory.Content)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the pages have %v, not %v", got, want)
		}
	}
	for memory, err := range memories {
		if err != nil || memory.Content != want[0] {
			t.Errorf("the first memory is %q, %v", memory.Content, err)
		}
		break
	}
	first, err := hippocampus.Decode[api.MemoryPage](client.API().ListMemories(t.Context(), &p))
	if err != nil {
		t.Fatal(err)
	}
	p.Cursor = first.NextCursor
	if got := contents(t, client, p); !slices.Equal(got, want[2:]) {
		t.Errorf("after the first page come %v, not %v", got, want[2:])
	}
}

func TestExport_GivesWhatImportTakes(t *testing.T) {
	t.Parallel()
	client := newApp(t)
	user := remember(t, client, "Likes green tea.", "养了一只猫。")
	of := hippocampus.ListMemoriesParams{UserID: user}
	before := contents(t, client, of)
	export, err := client.Export(t.Context(), hippocampus.ExportMemoriesParams{UserID: &user})
	if err != nil {
		t.Fatal(err)
	}
	defer export.Close()
	lines, err := io.ReadAll(export)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.EraseUser(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ imported, skipped int }{{2, 0}, {0, 2}} {
		report, err := client.Import(t.Context(), bytes.NewReader(lines))
		if err != nil {
			t.Fatal(err)
		}
		if !report.Complete || report.Imported != want.imported || report.Skipped != want.skipped {
			t.Errorf("the report is %+v, not %+v", report, want)
		}
	}
	if after := contents(t, client, of); !slices.Equal(after, before) {
		t.Errorf("the import has %v, not %v", after, before)
	}
	var memories, ends int
	for line, err := range hippocampus.Lines(bytes.NewReader(lines)) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Memory != nil {
			memories++
		}
		if line.End != nil {
			ends++
		}
	}
	if memories != 2 || ends != 1 {
		t.Errorf("the export has %d memories and %d ends", memories, ends)
	}
}

func TestExport_FailsIfItsEndIsMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines string
		kind  hippocampus.Kind
	}{
		"whole":                {"{\"format\":\"x\"}\n{\"end\":{}}\n", ""},
		"no end":               {"{\"format\":\"x\"}\n", hippocampus.KindBadAnswer},
		"half an end":          {"{\"format\":\"x\"}\n{\"end\":{", hippocampus.KindBadAnswer},
		"empty":                {"", hippocampus.KindBadAnswer},
		"an error":             {"{\"format\":\"x\"}\n{\"error\":\"disk full\"}\n", hippocampus.KindBadAnswer},
		"an end within a line": {"{\"x\":\"" + strings.Repeat("a", 5000) + "{\\\"end\\\":\"}\n", hippocampus.KindBadAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/x-ndjson")
				io.WriteString(w, test.lines)
			}))
			defer s.Close()
			export, err := newClient(t, hippocampus.WithURL(s.URL)).Export(t.Context(), hippocampus.ExportMemoriesParams{})
			if err != nil {
				t.Fatal(err)
			}
			defer export.Close()
			got, err := io.ReadAll(export)
			if string(got) != test.lines {
				t.Errorf("%q is read", got)
			}
			if test.kind == "" && err != nil || test.kind != "" && !errors.Is(err, test.kind) {
				t.Errorf("the error is %v, not %q", err, test.kind)
			}
		})
	}
}
