package api

import (
	"testing"

	"hippocampus/internal/memory"
)

func TestKey_ShowsWhatTheKeyMayDo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("reader", "other", memory.RoleRead)
	want := callerKeyBody{Role: memory.RoleRead, AppID: "other", Memory: "on", Pool: memory.PoolWrite}
	if got := parse[callerKeyBody](t, f.want(200, "GET", "/v1/key", "", "Authorization", "Bearer reader")); got != want {
		t.Errorf("the key is %+v, want %+v", got, want)
	}
	bound := parse[callerKeyBody](t, f.asUser("u", "GET", "/v1/key", ""))
	want = callerKeyBody{Role: memory.RoleOperator, AppID: "app", UserID: "u", Memory: "on", Pool: memory.PoolWrite}
	if bound != want {
		t.Errorf("the key of one user is %+v, want %+v", bound, want)
	}
	f.want(401, "GET", "/v1/key", "", "Authorization", "Bearer unknown")
}
