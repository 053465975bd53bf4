package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The erasure of a contributor deletes the copies, also withdrawn ones, in every store, or leaves them without a sign
// of who contributed them. What others have contributed stays.
func TestPool_ErasureOfAContributor(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		for _, setting := range []string{"erase", "orphan"} {
			s := assemble(t, append(size.settings(t), "HIPPOCAMPUS_POOL_ERASE="+setting)...)
			copied := s.share("xuhang", deploy)
			s.share("maya", night)
			withdrawn := s.share("maya", "Maya has been a vegetarian since she was twelve")
			s.call("DELETE", "/v1/pool/"+withdrawn, nil, 200)
			const query = "How is the payment service deployed?"
			if got := s.ask("linxiao", query); got[0] != "xuhang/forge: "+deploy {
				t.Errorf("recalled %q", got)
			}
			s.erase("xuhang")
			got := s.ask("linxiao", query)
			if setting == "erase" && strings.Contains(fmt.Sprint(got), deploy) ||
				setting == "orphan" && got[0] != "<nil>/<nil>: "+deploy {
				t.Errorf("%s: recalled %q", setting, got)
			}
			exported := s.call("GET", "/v1/export", nil, 200).raw
			for gone, where := range map[string]string{"xuhang": exported, s.ids[deploy]: exported, "forge": exported} {
				if strings.Contains(where, gone) {
					t.Errorf("%s: the export has %q:\n%s", setting, gone, where)
				}
			}
			if strings.Contains(exported, copied) != (setting == "orphan") {
				t.Errorf("%s: the export:\n%s", setting, exported)
			}
			asks := object{"user_id": "linxiao", "query": query, "scope": "app", "language": "en"}
			context := s.call("POST", "/v1/context", asks, 200).body["text"].(string)
			if strings.Contains(context, deploy+" (shared by the team)") != (setting == "orphan") {
				t.Errorf("%s: the context:\n%s", setting, context)
			}
			s.erase("maya")
			if exported := s.call("GET", "/v1/export", nil, 200).raw; strings.Contains(exported, "vegetarian") !=
				(setting == "orphan") {
				t.Errorf("%s: what was withdrawn:\n%s", setting, exported)
			}
			s.wantAgreement("linxiao")
			s.kill()
		}
	})
}

// A merge and a rename carry what a user has contributed.
func TestPool_MergeAndRenameCarryContributions(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := assemble(t, size.settings(t)...)
		copied := s.share("xuhang", deploy)
		s.call("POST", "/v1/users/xuhang/rename", object{"to": "xu"}, 200)
		s.call("POST", "/v1/users/xu/merge", object{"into": "maya"}, 200)
		if got := s.ask("linxiao", "How is the payment service deployed?"); got[0] != "maya/forge: "+deploy {
			t.Errorf("recalled %q", got)
		}
		if again := s.share("maya", deploy, 200); again != copied {
			t.Errorf("promoted again as the other user: %s, not %s", again, copied)
		}
		s.erase("maya")
		if r := s.call("GET", "/v1/pool", nil, 200); len(r.list("memories")) != 0 {
			t.Errorf("after the erasure: %s", r.raw)
		}
	})
}

// Nothing that happens by time touches the pool: copies neither fade nor follow originals that have faded, even when
// those are purged. A copy whose original the user has forgotten is deleted with it.
func TestPool_OutlivesTheNights(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		clock := filepath.Join(t.TempDir(), "clock")
		if err := os.WriteFile(clock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
		move := func(d time.Duration) {
			at = at.Add(d)
			if err := os.Chtimes(clock, at, at); err != nil {
				t.Fatal(err)
			}
		}
		move(0)
		s := assemble(t, append(size.settings(t), "E2E_CLOCK="+clock, "HIPPOCAMPUS_SCHEDULE_PURGE=@every 1s",
			"HIPPOCAMPUS_SCHEDULE_FORGETTING=@every 1s", "HIPPOCAMPUS_FORGETTING_CLOCK=wall",
			"HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none", "HIPPOCAMPUS_FORGETTING_MAX_SHARE=1",
			"HIPPOCAMPUS_MEMORIES_MAX_PER_USER=100", "HIPPOCAMPUS_SCHEDULE_REFLECTION=@every 1s",
			"HIPPOCAMPUS_SCHEDULE_COMPRESSION=@every 1s", "HIPPOCAMPUS_SCHEDULE_EPISODES=@every 1s",
			"HIPPOCAMPUS_SCHEDULE_EVOLUTION=@every 1s")...)
		copied, forgotten := s.share("xuhang", deploy), s.share("maya", night)
		s.call("DELETE", "/v1/memories/"+s.ids[night], nil, 200)
		gone := func(content string) func() string {
			return func() string {
				if r := s.call("GET", "/v1/memories/"+s.ids[content], nil, 200, 404); r.status != 404 {
					move(time.Minute)
					return r.raw
				}
				return ""
			}
		}
		move(100 * 24 * time.Hour)
		eventually(t, "the purge of what was forgotten", gone(night))
		move(100 * 24 * time.Hour)
		eventually(t, "the purge of what has faded", gone(deploy))
		got := s.ask("linxiao", "How is the payment service deployed?")
		if !slices.Contains(got, "xuhang/forge: "+deploy) {
			t.Errorf("recalled %q", got)
		}
		exported := s.call("GET", "/v1/export", nil, 200).raw
		if strings.Contains(exported, night) || !strings.Contains(exported, copied) {
			t.Errorf("the copy %s of what was forgotten, or not %s, is left:\n%s", forgotten, copied, exported)
		}
	})
}
