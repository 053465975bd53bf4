package milvus_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
	"hippocampus/vectorstore/milvus"
	"hippocampus/vectorstore/milvus/milvustest"
)

// newProxy starts a proxy to Milvus that the test can stop.
func newProxy(t *testing.T) *toxiproxy.Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "milvus", "127.0.0.1:0", milvustest.Addr(t))
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	return proxy
}

// wantUnavailable checks that run fails with KindUnavailable.
func wantUnavailable(t *testing.T, run func() error) {
	t.Helper()
	if err := run(); !memory.IsKind(err, memory.KindUnavailable) {
		t.Errorf("%v, want an error of kind unavailable", err)
	}
}

// wantRefused checks that run fails with KindUnavailable before its deadline, which is hours away.
func wantRefused(t *testing.T, run func() error) {
	t.Helper()
	if err := run(); !memory.IsKind(err, memory.KindUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want an error of kind unavailable before the deadline", err)
	}
}

func TestStore_ReconnectsAfterOutage(t *testing.T) {
	t.Parallel()
	proxy := newProxy(t)
	o := options(t, space)
	open(t, o).Close() // loading takes longer than the short deadline below
	o.Addr, o.Timeout = proxy.Listen, 3*time.Hour
	s := open(t, o)
	rec := record()
	if !s.Healthy() {
		t.Error("there is no connection")
	}

	// A refused connection fails at once, before the deadline.
	proxy.Stop()
	wantRefused(t, func() error {
		return s.Insert(t.Context(), []vectorstore.Record{rec})
	})
	wantRefused(t, func() error { return s.Ping(t.Context()) })
	wantRefused(t, func() error { _, err := s.Search(t.Context(), query(rec)); return err })
	if s.Healthy() {
		t.Error("the store is healthy without a server")
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	// The same store reconnects, within the 2 s between attempts.
	deadline := time.Now().Add(5 * time.Minute)
	for {
		err := s.Replace(t.Context(), []vectorstore.Record{rec})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the store did not reconnect: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	awaitHit(t, s, rec)
	if !s.Healthy() {
		t.Error("the store is not healthy after it reconnected")
	}
}

// A connected server that does not answer delays a call until its deadline, not longer.
func TestStore_TimesOutOnSilentServer(t *testing.T) {
	t.Parallel()
	proxy := newProxy(t)
	o := options(t, space)
	open(t, o).Close()
	o.Addr, o.Timeout = proxy.Listen, 2*time.Second
	s := open(t, o)
	toxic := `{"name": "hole", "type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
	err := s.Ping(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	search := func() error { _, err := s.Search(t.Context(), query(record())); return err }
	wantUnavailable(t, search)
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	wantUnavailable(t, func() error { return s.Ping(short) })
}

// TestMain checks that a failed Open leaves no goroutine behind.
func TestOpen_FailsSoonWithoutServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	wantRefused(t, func() error {
		_, err := milvus.Open(t.Context(), milvus.Options{Addr: closed, Space: space, Timeout: 3 * time.Hour})
		return err
	})

	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	wantUnavailable(t, func() error {
		o := milvus.Options{Addr: silent.Addr().String(), Space: space, Timeout: time.Second}
		_, err := milvus.Open(t.Context(), o)
		return err
	})
}
