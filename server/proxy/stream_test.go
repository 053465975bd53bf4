package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
)

func TestProxy_ReadsCompressedAnswersAlong(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, stream); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, nil)
	f.script = func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "gzip" {
			t.Errorf("the upstream may answer with %q, which the proxy could not read", got)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}
	response, got := f.post("chat/completions", odd, headerUser, "ana", "Accept-Encoding", "br, gzip, zstd")
	if got != packed.String() || response.Header.Get("Content-Encoding") != "gzip" {
		t.Error("the bytes of the answer differ")
	}
	if len(f.turns) != 1 {
		t.Errorf("turns: %v", f.turns)
	}
}

// ticking answers with one event for each tick, and ends when its client leaves or the ticks end.
func ticking(ticks <-chan struct{}, left chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case _, more := <-ticks:
				if !more {
					_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n")
					return
				}
				_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"x"}}]}`+"\n\n")
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				left <- struct{}{}
				return
			}
		}
	}
}

// open begins a streamed answer and returns its lines.
func (f *fixture) open(ctx context.Context, client *http.Client) (*bufio.Reader, io.Closer) {
	f.t.Helper()
	address := f.proxy.URL + Path + "chat/completions"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(odd))
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header.Set(headerUser, "ana")
	response, err := client.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	return bufio.NewReader(response.Body), response.Body
}

// With memory on, answers of 5 MB pass byte by byte to slow readers also, and become turns.
func TestProxy_PassesLargeAnswersToSlowReaders(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Lisbon, 茶. ", 5<<20/14)
	for name, test := range map[string]struct{ contentType, answer string }{
		"whole":  {"application/json", strings.Replace(whole, "In Lisbon.", text, 1)},
		"stream": {"text/event-stream", strings.Repeat(stream, 6000)},
		"one long event": {"text/event-stream", "data: " + `{"choices":[{"index":0,"delta":{"content":"` + text +
			`"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, nil)
			f.answers(test.contentType, test.answer)
			client := &http.Client{Transport: &http.Transport{ReadBufferSize: 512}}
			defer client.CloseIdleConnections()
			lines, body := f.open(t.Context(), client)
			defer body.Close()
			var got strings.Builder
			for piece := make([]byte, 777); ; runtime.Gosched() {
				n, err := lines.Read(piece)
				got.Write(piece[:n])
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if got.String() != test.answer {
				t.Errorf("the client got %d bytes instead of %d, or other ones", got.Len(), len(test.answer))
			}
			if len(f.turns) != 1 {
				t.Fatalf("%d turns", len(f.turns))
			}
		})
	}
}

// Each event reaches the client before the upstream sends the next one, and a client that leaves ends the
// upstream's work.
func TestProxy_StreamsAsItComes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ticks, left := make(chan struct{}), make(chan struct{}, 1)
	f.script = ticking(ticks, left)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ctx, leave := context.WithCancel(t.Context())
	go func() { ticks <- struct{}{} }()
	lines, body := f.open(ctx, client)
	for range 5 {
		line, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(line, `"content":"x"`) {
			t.Fatalf("%q %v", line, err)
		}
		if _, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		ticks <- struct{}{}
	}
	leave()
	<-left
	_ = body.Close()
	if len(f.turns) != 0 {
		t.Errorf("a turn of a cancelled answer: %v", f.turns)
	}
}

// An answer may begin before the request has ended, as that of a transcription does.
func TestProxy_AnswersWhileTheRequestIsSent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if err := control.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		first := make([]byte, len("first"))
		if _, err := io.ReadFull(r.Body, first); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(first)
		if err := control.Flush(); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(w, r.Body)
	}))
	defer upstream.Close()
	base, err := url.Parse(upstream.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	*f.options.Upstream = *base
	body, sent := io.Pipe()
	go func() { _, _ = io.WriteString(sent, "first") }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.proxy.URL+Path+"audio/transcriptions", body)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadFull(response.Body, make([]byte, len("first"))); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(sent, ", second")
	_ = sent.Close()
	if rest, err := io.ReadAll(response.Body); string(rest) != ", second" || err != nil {
		t.Errorf("the answer ends with %q, %v", rest, err)
	}
}
