package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hippocampus/exchange"
)

func TestLastLine(t *testing.T) {
	t.Parallel()
	end := `{"end":{"memories":7}}` + "\n"
	long := strings.Repeat("x", maxLastLine+10) + "\n"
	for what, c := range map[string]struct {
		parts []string
		want  string // of the error; empty: 7 memories
	}{
		"at once":             {[]string{"{}\n" + end}, ""},
		"byte by byte":        {strings.Split("{}\n"+end, ""), ""},
		"after a long line":   {[]string{long[:9], long[9:], end}, ""},
		"without a break":     {[]string{"{}\n", strings.TrimSpace(end)}, ""},
		"nothing":             {nil, "its end is missing"},
		"in the middle":       {[]string{"{}\n" + end[:9]}, "its end is missing"},
		"something after it":  {[]string{end, "{}\n"}, "its end is missing"},
		"an error":            {[]string{"{}\n", `{"error":"It is away."}` + "\n"}, "It is away."},
		"a long line is last": {[]string{end, long}, "its end is missing"},
	} {
		l := &lastLine{}
		for _, part := range c.parts {
			if n, err := io.WriteString(l, part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		n, err := l.counts(t.Context(), nil)
		if (err == nil) != (c.want == "") || err == nil && n[exchange.Memories] != 7 || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", what, n, err)
		}
		if n, err := l.counts(t.Context(), errors.New("reset")); err == nil {
			t.Errorf("%s, with the connection reset: %v", what, n)
		}
	}
}

// The report of an import is printed, and decides the exit code.
func TestImportTellsItsReport(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for report, c := range map[string]struct {
		code int
		out  string
		err  string
	}{
		`{"imported":2,"skipped":1,"complete":true}`:                                           {0, "imported 2 memories, skipped 1", ""},
		`{"imported":2,"complete":false}`:                                                      {1, "imported 2", "hippocampus: the export is not whole"},
		`{"lines":9,"failed":3,"errors":[{"line":4,"message":"is too much"}],"complete":true}`: {1, "imported 0", "line 4: is too much\nand 2 more lines failed\nhippocampus: 3 of 9 lines failed\n"},
		`{"lines":9,`: {1, "", "hippocampus: the answer broke off"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if sent, _ := io.ReadAll(r.Body); string(sent) != "{}\n" || r.Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("sent %q with %v", sent, r.Header)
			}
			fmt.Fprint(w, report)
		}))
		// Without --url it is the server of the same configuration.
		code, out, errOut := run(t, []string{"HIPPOCAMPUS_KEY=secret"}, "import", file, "--listen", s.Listener.Addr().String())
		if code != c.code || !strings.HasPrefix(out, c.out) || !strings.HasPrefix(errOut, c.err) || c.err == "" && errOut != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", report, code, out, errOut)
		}
		s.Close()
	}
}
