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

func TestLastLine_CountsOnlyACompleteEnd(t *testing.T) {
	t.Parallel()
	end := `{"end":{"memories":7}}` + "\n"
	long := strings.Repeat("x", maxLastLine+10) + "\n"
	for name, c := range map[string]struct {
		parts []string
		want  string // of the error; empty: 7 memories
	}{
		"in one write":       {[]string{"{}\n" + end}, ""},
		"byte by byte":       {strings.Split("{}\n"+end, ""), ""},
		"after a long line":  {[]string{long[:9], long[9:], end}, ""},
		"without a break":    {[]string{"{}\n", strings.TrimSpace(end)}, ""},
		"empty":              {nil, "its end is missing"},
		"cut off":            {[]string{"{}\n" + end[:9]}, "its end is missing"},
		"line after the end": {[]string{end, "{}\n"}, "its end is missing"},
		"error":              {[]string{"{}\n", `{"error":"It is unavailable."}` + "\n"}, "It is unavailable."},
		"long last line":     {[]string{end, long}, "its end is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lastLine{}
			for _, part := range c.parts {
				if n, err := io.WriteString(l, part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			n, err := l.counts(t.Context(), nil)
			switch {
			case c.want == "" && (err != nil || n[exchange.Memories] != 7):
				t.Errorf("%v, %v", n, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, %v, want %s", n, err, c.want)
			}
			if n, err := l.counts(t.Context(), errors.New("reset")); err == nil {
				t.Errorf("with the connection reset: %v", n)
			}
		})
	}
}

// The report decides the exit code.
func TestImport_PrintsItsReport(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		report string
		code   int
		out    string // prefix
		errOut string // prefix; empty: no error
	}{
		"complete": {
			report: `{"imported":2,"skipped":1,"complete":true}`,
			out:    "imported 2 memories, skipped 1",
		},
		"incomplete export": {
			report: `{"imported":2,"complete":false}`,
			code:   1,
			out:    "imported 2",
			errOut: "hippocampus: the export is incomplete",
		},
		"failed lines": {
			report: `{"lines":9,"failed":3,"errors":[{"line":4,"message":"is too much"}],"complete":true}`,
			code:   1,
			out:    "imported 0",
			errOut: "line 4: is too much\nand 2 more lines failed\nhippocampus: 3 of 9 lines failed\n",
		},
		"broken report": {
			report: `{"lines":9,`,
			code:   1,
			errOut: "hippocampus: the response broke off",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent, _ := io.ReadAll(r.Body)
				if string(sent) != "{}\n" || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("sent %q with %v", sent, r.Header)
				}
				fmt.Fprint(w, c.report)
			}))
			defer s.Close()
			// Without --url it is the server of the same configuration.
			env, listen := []string{"HIPPOCAMPUS_KEY=secret"}, s.Listener.Addr().String()
			code, out, errOut := run(t, env, "import", file, "--listen", listen)
			if code != c.code || !strings.HasPrefix(out, c.out) || !strings.HasPrefix(errOut, c.errOut) ||
				c.errOut == "" && errOut != "" {
				t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
			}
		})
	}
}
