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

// newProxy stands between the store and Milvus, for the test to cut.
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

// wantAway holds an operation to failing as unavailable within the time.
func wantAway(t *testing.T, within time.Duration, run func() error) {
	t.Helper()
	start := time.Now()
	err := run()
	if took := time.Since(start); !memory.IsKind(err, memory.KindUnavailable) || took > within {
		t.Errorf("after %v: %v, want an error of kind unavailable within %v", took, err, within)
	}
}

func TestProxyCutAndRestored(t *testing.T) {
	t.Parallel()
	proxy := newProxy(t)
	o := options(t, space)
	open(t, o).Close() // loading takes longer than the short deadline below
	o.Addr, o.Timeout = proxy.Listen, 5*time.Second
	s := open(t, o)
	rec := record()
	if !s.Healthy() {
		t.Error("there is no connection")
	}

	// Refused connections fail at once, not at the deadline.
	proxy.Stop()
	wantAway(t, o.Timeout+time.Second, func() error { return s.Insert(t.Context(), []vectorstore.Record{rec}) })
	wantAway(t, time.Second, func() error { return s.Ping(t.Context()) })
	wantAway(t, time.Second, func() error { _, err := s.Search(t.Context(), query(rec)); return err })
	if s.Healthy() {
		t.Error("there is a connection to nobody")
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	// The same store connects again, within the 2 s between attempts.
	deadline := time.Now().Add(5 * time.Minute)
	for {
		err := s.Replace(t.Context(), []vectorstore.Record{rec})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the store did not come back: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	awaitHit(t, s, rec)
	if !s.Healthy() {
		t.Error("there is no connection again")
	}
}

// A server that is connected but silent costs a call its deadline and no more.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	proxy := newProxy(t)
	o := options(t, space)
	open(t, o).Close()
	o.Addr, o.Timeout = proxy.Listen, 2*time.Second
	s := open(t, o)
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(`{"name": "hole", "type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`)); err != nil {
		t.Fatal(err)
	}
	err := s.Ping(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline to be named", err)
	}
	wantAway(t, o.Timeout+time.Second, func() error { _, err := s.Search(t.Context(), query(record())); return err })
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	wantAway(t, time.Second, func() error { return s.Ping(short) })
}

// Opening towards nobody fails soon, and leaves nothing running.
func TestOpenTowardsNobody(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	wantAway(t, time.Second, func() error {
		_, err := milvus.Open(t.Context(), milvus.Options{Addr: closed, Space: space})
		return err
	})

	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	wantAway(t, 2*time.Second, func() error {
		_, err := milvus.Open(t.Context(), milvus.Options{Addr: silent.Addr().String(), Space: space, Timeout: time.Second})
		return err
	})
}
