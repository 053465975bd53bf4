package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

func TestAuthentication_LimitsFailuresByAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Access.Failures = 3 })
	made := frame.NewSecret()
	f.issue(made, "app", memory.RoleRead)
	send := func(address, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/v1/stats", nil)
		r.RemoteAddr = address
		r.Header.Set("X-Forwarded-For", key) // is ignored
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	const attacker, other = "192.0.2.1:1000", "192.0.2.2:1000"
	check := func(address, key string, want int) {
		t.Helper()
		if w := send(address, key); w.Code != want {
			t.Errorf("%q from %s: %d, want %d: %s", key, address, w.Code, want, w.Body)
		}
	}
	check(attacker, "read", http.StatusOK)
	for i := range 3 {
		check(fmt.Sprintf("192.0.2.1:%d", i+1), fmt.Sprintf("guess %d", i), http.StatusUnauthorized)
	}
	w := send(attacker, "guess 4")
	if got := w.Header().Get("Retry-After"); w.Code != http.StatusTooManyRequests || got != "20" {
		t.Errorf("%d, Retry-After %q", w.Code, got)
	}
	check(attacker, "", http.StatusTooManyRequests)
	check(attacker, "write", http.StatusTooManyRequests) // a valid key that was not sent lately, and can be guessed
	check(attacker, made, http.StatusOK)
	check(attacker, frame.NewSecret(), http.StatusTooManyRequests)
	check(attacker, "read", http.StatusOK)
	check(other, "guess 5", http.StatusUnauthorized)
	check(other, "write", http.StatusOK)
	f.advance(20 * time.Second)
	check(attacker, "guess 6", http.StatusUnauthorized)
	check(attacker, "guess 7", http.StatusTooManyRequests)
	f.advance(time.Minute)
	check(attacker, "admin", http.StatusOK)
}
