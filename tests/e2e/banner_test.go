package e2e

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/llm/llmtest"
)

// The curl lines that the first start prints work when pasted. The second start
// prints no secret, and finds the memories of the first.
func TestBanner_CommandsWork(t *testing.T) {
	t.Parallel()
	s := startWithoutKey(t)
	var first string
	eventually(t, "the whole banner", func() string {
		if first = s.printed(); !strings.Contains(first, "Recall:") {
			return first
		}
		return ""
	})
	for _, part := range []string{
		"SQLite", "sqlite-vec", "built-in", "rules", "Admin key, shown this once: hp_",
		"a fact of importance 0.7 that nothing recalls fades after 20 days on which its user is active; from 0.83 on never",
	} {
		if !strings.Contains(first, part) {
			t.Errorf("the banner does not contain %q:\n%s", part, first)
		}
	}
	written := paste(t, first, "Write:")
	if candidates := written.list("candidates"); len(candidates) == 0 || candidates[0]["verdict"] != "kept" {
		t.Errorf("the write line gave %s", written.raw)
	}
	recall := func() {
		t.Helper()
		recalled := paste(t, first, "Recall:")
		checkFirst(t, recalled, "marine biologist", "professional_and_academic")
	}
	recall()

	s.stop()
	before := len(s.printed())
	s.run()
	recall()
	eventually(t, "the whole banner once more", func() string {
		second := s.printed()[before:]
		if strings.Contains(second, "hp_") {
			t.Fatalf("the second start shows a secret:\n%s", second)
		}
		if !strings.Contains(second, "Recall:") {
			return second
		}
		return ""
	})
}

// checkFirst checks that a recall with default settings was routed to a domain, and that its first memory has these
// words and a confidence over the default of a context.
func checkFirst(t *testing.T, recalled reply, words, domain string) {
	t.Helper()
	const least = 0.15
	found := recalled.list("memories")
	route, _ := recalled.body["route"].(map[string]any)
	domains, _ := route["domains"].([]any)
	if len(found) == 0 || !strings.Contains(found[0]["content"].(string), words) {
		t.Errorf("the first memory is not the one with %q: %s", words, recalled.raw)
	} else if confidence, _ := found[0]["confidence"].(float64); confidence <= least {
		t.Errorf("the confidence of %q is %v", words, confidence)
	}
	if !slices.Contains(domains, any(domain)) {
		t.Errorf("routed to %v, not to %s", domains, domain)
	}
}

// paste runs the curl command that the banner shows behind a label.
func paste(t *testing.T, banner, label string) reply {
	t.Helper()
	_, rest, ok := strings.Cut(banner, label)
	if !ok {
		t.Fatalf("the banner has no line %q:\n%s", label, banner)
	}
	line, _, _ := strings.Cut(rest, "\n")
	out, err := exec.Command("bash", "-c", line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	r := reply{raw: string(out)}
	if err := json.Unmarshal(out, &r.body); err != nil {
		t.Fatalf("%s printed %q: %v", line, out, err)
	}
	return r
}

// A wrong setting ends the start with one line that names the setting and the reason.
func TestSettings_ErrorIsOneLine(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	models.SetKey("another-key")
	for name, c := range map[string]struct {
		env  []string
		want []string // parts of the line
	}{
		"unknown variable": {
			[]string{"HIPPOCAMPUS_RECAL_LIMIT=5"},
			[]string{"HIPPOCAMPUS_RECAL_LIMIT", "HIPPOCAMPUS_RECALL_LIMIT"},
		},
		"bad value":    {[]string{"HIPPOCAMPUS_GATE_THRESHOLD=high"}, []string{"gate.threshold", "high"}},
		"out of range": {[]string{"HIPPOCAMPUS_GATE_THRESHOLD=1.7"}, []string{"gate.threshold", "1.7"}},
		"unreachable Postgres": {
			[]string{"DATABASE_URL=postgres://someone:secret@127.0.0.1:1/x"},
			[]string{"127.0.0.1:1", "database"},
		},
		"pgvector alone": {[]string{"HIPPOCAMPUS_VECTORS=pgvector"}, []string{"vectors", "database.url"}},
		"no pgvector there": {
			[]string{"HIPPOCAMPUS_VECTORS=pgvector", "DATABASE_URL=" + postgrestest.URL(t)},
			[]string{"CREATE EXTENSION vector", "vector store"},
		},
		"key refused by the embedder": {
			// At the level info, the log may say that the start waits for the embedder.
			[]string{"QWEN_API_KEY=secret", "QWEN_API_BASE=" + models.URL(), "HIPPOCAMPUS_LOG_LEVEL=error"},
			[]string{"401", "embedder", "check the API key", "set embedding.dimension"},
		},
		"dev on the network": {
			[]string{"HIPPOCAMPUS_DEV=true", "HIPPOCAMPUS_LISTEN=0.0.0.0:8080"},
			[]string{"dev", "127.0.0.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(binary, "serve", "--data", t.TempDir())
			cmd.Env = append(clockEnv(), c.env...)
			out, err := cmd.CombinedOutput()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if err == nil || len(lines) != 1 {
				t.Errorf("ended with %v and %d lines:\n%s", err, len(lines), out)
			}
			for _, part := range c.want {
				if !strings.Contains(string(out), part) {
					t.Errorf("does not contain %q: %s", part, out)
				}
			}
			if strings.Contains(string(out), "secret") {
				t.Errorf("contains a secret: %s", out)
			}
		})
	}
}
