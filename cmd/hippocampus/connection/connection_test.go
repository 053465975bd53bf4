package connection

import "testing"

func TestDialable_ReachesAnyListenAddress(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		":8080": "localhost:8080", "0.0.0.0:8080": "localhost:8080", "[::]:8080": "localhost:8080",
		"127.0.0.1:8080": "127.0.0.1:8080", "[::1]:8080": "[::1]:8080", "memory.internal:80": "memory.internal:80",
	} {
		if got := Dialable(listen); got != want {
			t.Errorf("Dialable(%q) = %q, want %q", listen, got, want)
		}
	}
}
