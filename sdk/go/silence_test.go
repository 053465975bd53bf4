package hippocampus_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	hippocampus "hippocampus/sdk/go"
)

func announced(id, content string) string {
	return "id: " + id + "\nevent: memory.written\n" + `data: {"id": "` + id + `", "kind": "memory.written", ` +
		`"at": "2026-01-31T08:00:00Z", "app_id": "a", "user_id": "ada", "data": {"memory_id": "m", "change": "created", ` +
		`"cause": "api", "content": "` + content + `"}}` + "\n\n"
}

// streams answers each request with the next stream, and records Last-Event-ID.
// A stream that ends in "..." stays silent.
func streams(resumed *[]string, texts ...string) answerer {
	return func(r *http.Request) (*http.Response, error) {
		*resumed = append(*resumed, r.Header.Get("Last-Event-ID"))
		text := texts[min(len(*resumed), len(texts))-1]
		resp := answer(r, http.StatusOK, "Content-Type: text/event-stream", "")
		if open, silent := strings.CutSuffix(text, "..."); silent {
			body, w := io.Pipe()
			go io.WriteString(w, open)
			resp.Body = body
		} else {
			resp.Body = io.NopCloser(strings.NewReader(text))
		}
		return resp, nil
	}
}

func TestEvents_ConnectsAgain(t *testing.T) {
	t.Parallel()
	const hello = "retry: 2000\nid: 1.0\n\n"
	for name, test := range map[string]struct {
		texts    []string
		contents []string
		resumed  []string
		err      error
		atLeast  time.Duration
	}{
		"after silence, from the last event": {
			texts: []string{
				hello + announced("1.1", "A") + "...", announced("1.2", "B") + ": still here\nid: 1.7\n\n", "data: {\n\n",
			},
			contents: []string{"A", "B"}, resumed: []string{"", "1.1", "1.7"},
			err: hippocampus.KindBadAnswer, atLeast: 45 * time.Second,
		},
		"after half an event, from the one before": {
			texts:    []string{hello + announced("1.1", "A") + "id: 1.2\nevent: mem", announced("1.2", "B"), "data: {\n\n"},
			contents: []string{"A", "B"}, resumed: []string{"", "1.1", "1.2"},
			err: hippocampus.KindBadAnswer, atLeast: time.Second,
		},
		"and reports that events may be missing": {
			texts:    []string{"event: reset\ndata: {\"after\":\"0.9\"}\nid: 1.0\n\n", "data: {\n\n"},
			contents: []string{"reset"}, resumed: []string{"", "1.0"}, err: hippocampus.KindBadAnswer,
		},
		"but not for ever to streams that end at once": {
			texts: []string{""}, resumed: []string{"", "", ""}, err: hippocampus.KindUnreachable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var resumed, contents []string
				start := time.Now()
				client := newOffline(t, streams(&resumed, test.texts...))
				for event, err := range client.Events(t.Context(), hippocampus.StreamEventsParams{}) {
					switch {
					case err != nil && !errors.Is(err, test.err):
						t.Errorf("the events end with %v", err)
					case err != nil:
					case event.Kind == hippocampus.EventReset:
						contents = append(contents, "reset")
					default:
						contents = append(contents, *event.Memory.Content)
					}
				}
				if !slices.Equal(contents, test.contents) || !slices.Equal(resumed, test.resumed) {
					t.Errorf("the events are %q after %q", contents, resumed)
				}
				if took := time.Since(start); took < test.atLeast {
					t.Errorf("the streams took %s", took)
				}
			})
		})
	}
}
