package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/exchange"
)

// longExport is an exchanger that reports when it begins. An export writes a line and then goes on until
// its context ends.
type longExport struct {
	Exchanger
	begun chan struct{}
}

func (l longExport) Import(
	ctx context.Context, appID string, stream io.Reader, check func(line []byte) ([]byte, error),
) (exchange.Report, error) {
	close(l.begun)
	return l.Exchanger.Import(ctx, appID, stream, check)
}

func (l longExport) Export(ctx context.Context, _ exchange.Selection, w io.Writer) error {
	_, _ = io.WriteString(w, "{}\n")
	close(l.begun)
	<-ctx.Done()
	return ctx.Err()
}

// listenLong is listenBriefly with a longExport.
func listenLong(t *testing.T) (*listening, longExport) {
	long := longExport{begun: make(chan struct{})}
	l := listenBriefly(t, func(o *Options) {
		long.Exchanger = o.Exchange
		o.Exchange = long
	})
	return l, long
}

// listenBriefly is a listening server that caches a key for 20 ms.
func listenBriefly(t *testing.T, change func(*Options)) *listening {
	return listen(t, func(o *Options) {
		o.Access.KeyTTL = 20 * time.Millisecond
		if change != nil {
			change(o)
		}
	})
}

func (l *listening) revoke(key string) {
	l.t.Helper()
	l.must(l.store.RevokeKey(l.t.Context(), l.keyIDs[key], "", l.now()))
	l.advance(time.Second)
}

func TestRevokedKey_EndsItsEventStreams(t *testing.T) {
	t.Parallel()
	l := listenBriefly(t, nil)
	stream, _ := l.follow("")
	other, _ := l.follow("", "Authorization", "Bearer write")
	l.revoke("read")
	stream.ends()
	l.peanuts()
	other.next()
}

func TestRevokedKey_EndsItsExport(t *testing.T) {
	t.Parallel()
	l, long := listenLong(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.URL+"/v1/export", http.NoBody)
	l.must(err)
	r.Header.Set("Authorization", "Bearer admin")
	go func() {
		<-long.begun
		l.revoke("admin")
	}()
	answer, err := l.Client().Do(r)
	l.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil || !strings.Contains(string(text), "has been revoked") {
		t.Errorf("the export ends with %v: %s", err, text)
	}
}

func TestRevokedKey_EndsItsImport(t *testing.T) {
	t.Parallel()
	l, long := listenLong(t)
	body, sender := io.Pipe()
	defer sender.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.URL+"/v1/import", body)
	l.must(err)
	r.Header.Set("Authorization", "Bearer admin")
	r.Header.Set("Content-Type", ndjson)
	go func() {
		_, _ = io.WriteString(sender, "{") // and no more, so that the server waits for the line
		<-long.begun
		l.revoke("admin")
	}()
	answer, err := l.Client().Do(r)
	l.must(err)
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "has been revoked") {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
}
