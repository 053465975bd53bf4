package e2e

import (
	"slices"
	"strings"
	"testing"
)

// A key reads and writes the pool as it was made to, within its role. A key of one user uses the pool only if it was
// made for that, and withdraws only what this user has contributed.
func TestPool_KeysDecide(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := assemble(t, size.settings(t)...)
		copied := s.share("xuhang", deploy)
		const query = "How is the payment service deployed?"
		whole := s.key
		for _, c := range []struct {
			flags                 string
			access                string
			reads, writes, others bool
		}{
			{"--role write", "write", true, true, true},
			{"--role read", "write", true, false, false},
			{"--role write --pool read", "read", true, false, false},
			{"--role write --pool none", "none", false, false, false},
			{"--role write --user maya", "none", false, false, false},
			{"--role write --user maya --pool read", "read", true, false, false},
			{"--role write --user maya --pool write", "write", true, true, false},
		} {
			s.key = whole
			key := s.createKey(strings.Fields(c.flags)...)
			s.key = key
			status := func(allowed bool, otherwise int) int {
				if allowed {
					return 200
				}
				return otherwise
			}
			if shown := s.call("GET", "/v1/key", nil, 200); shown.body["pool"] != c.access {
				t.Errorf("%s: %s", c.flags, shown.raw)
			}
			s.call("GET", "/v1/pool", nil, status(c.reads, 403))
			asks := object{"user_id": "maya", "query": query, "scope": "app", "route": false}
			found := s.call("POST", "/v1/recall", asks, status(c.reads, 403))
			if strings.Contains(found.raw, deploy) != c.reads {
				t.Errorf("%s: recalled %s", c.flags, found.raw)
			}
			s.call("POST", "/v1/context", asks, status(c.reads, 403))
			s.call("POST", "/v1/recall", object{"user_id": "maya", "query": query}, 200)
			promoted := s.call("POST", "/v1/pool", object{"user_id": "maya", "memory_id": s.ids[night]},
				status(c.writes, 403), status(c.writes, 403)+1)
			if c.writes {
				s.call("DELETE", "/v1/pool/"+promoted.body["id"].(string), nil, 200)
				s.call("POST", "/v1/pool", object{"user_id": "xuhang", "memory_id": s.ids[deploy]}, status(c.others, 403))
				if !c.others {
					s.call("DELETE", "/v1/pool/"+copied, nil, 404)
				}
			} else {
				s.call("DELETE", "/v1/pool/"+copied, nil, 403)
			}
		}
		s.key = whole
		made := s.call("POST", "/v1/admin/keys", object{"role": "read", "user_id": "maya", "pool": "read"}, 201)
		if made.body["pool"] != "read" {
			t.Errorf("the key: %s", made.raw)
		}
		s.call("POST", "/v1/admin/keys", object{"role": "read", "pool": "all"}, 400)
		s.key = s.createKey("--app", "other", "--role", "admin")
		if r := s.call("GET", "/v1/pool", nil, 200); len(r.list("memories")) != 0 {
			t.Errorf("another app: %s", r.raw)
		}
		if got := s.ask("maya", query); len(got) != 0 {
			t.Errorf("another app recalls %q", got)
		}
		s.call("DELETE", "/v1/pool/"+copied, nil, 404)
		s.key = whole
		if got := s.ask("maya", query); !slices.Contains(got, "xuhang/forge: "+deploy) {
			t.Errorf("at the end, recalled %q", got)
		}
	})
}
