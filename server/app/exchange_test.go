package app

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/exchange"
	"hippocampus/server/config"
)

// A stream may go on while requests are drained, and ends with that.
func TestShutdownEndsStreams(t *testing.T) {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Dev = "127.0.0.1:0", t.TempDir(), true
	cfg.API.ShutdownTimeout = 200 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var out buffer
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, Host{Out: &out, Err: io.Discard, Now: time.Now}) }()
	url := waitFor(t, &out, ended)

	client := &http.Client{}
	body, stream := io.Pipe()
	answered := make(chan error, 1)
	go func() {
		res, err := client.Post(url+"/v1/import", "application/x-ndjson", body)
		if err == nil {
			err = res.Body.Close()
		}
		answered <- err
	}()
	// More than the sockets hold, so that the server is reading: blank lines and part of a first one.
	blank := strings.Repeat(strings.Repeat(" ", 1023)+"\n", 16<<10)
	if _, err := io.WriteString(stream, blank+`{"format":"`+exchange.Format+`",`); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a stream was cut off, and nobody hears of it")
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("the server waits for a stream that never ends")
	}
	stream.Close()
	<-answered
	client.CloseIdleConnections()
}
