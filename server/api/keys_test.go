package api

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// as is the header of a request with a key.
func as(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

type keyPage struct {
	Keys []keyBody
	Next string `json:"next_cursor"`
}

// listKeys lists the names of all keys that a key sees, page by page.
func (f *fixture) listKeys(secret, query string) []string {
	f.t.Helper()
	var names []string
	for cursor := ""; ; {
		page := fetch[keyPage](f, 200, "GET", "/v1/admin/keys?limit=2"+query+cursor, "", as(secret)...)
		for _, k := range page.Keys {
			names = append(names, k.Name)
			if k.Secret != "" {
				f.t.Errorf("the list shows the secret of %s", k.Name)
			}
		}
		if page.Next == "" {
			return names
		}
		cursor = "&cursor=" + page.Next
	}
}

// wantNames compares the names of keys in any order.
func (f *fixture) wantNames(got []string, want ...string) {
	f.t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.t.Errorf("listed %q, want %q", got, want)
	}
}

func TestKeys_CreateUseRevoke(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.advance(time.Minute)
	made := fetch[keyBody](f, 201, "POST", "/v1/admin/keys", `{"name":"laptop","role":"read","user_id":"u"}`)
	if !strings.HasPrefix(made.Secret, "hp_") || made.AppID != "app" || made.UserID != "u" || made.Role != "read" ||
		made.CreatedBy != f.keyIDs["admin"] || !made.CreatedAt.Equal(f.now()) {
		t.Errorf("created %+v", made)
	}
	stored, err := f.store.Key(t.Context(), made.ID)
	f.must(err)
	if stored.Hash != frame.HashKey(made.Secret) {
		t.Errorf("stored %+v", stored)
	}
	f.want(200, "GET", "/v1/memories?user_id=u", "", as(made.Secret)...)
	f.want(403, "GET", "/v1/memories?user_id=eve", "", as(made.Secret)...)
	if names := f.listKeys("admin", ""); names[0] != "laptop" {
		t.Errorf("listed %q, want the newest first", names)
	}
	gone := fetch[keyBody](f, 200, "DELETE", "/v1/admin/keys/"+made.ID, "")
	if gone.RevokedBy != f.keyIDs["admin"] || !gone.RevokedAt.Equal(f.now()) || gone.Secret != "" {
		t.Errorf("revoked %+v", gone)
	}
	f.advance(5 * time.Second)
	f.want(401, "GET", "/v1/memories?user_id=u", "", as(made.Secret)...)
	if again := fetch[keyBody](f, 200, "DELETE", "/v1/admin/keys/"+made.ID, ""); !again.RevokedAt.Equal(gone.RevokedAt) {
		t.Errorf("revoked again at %s, want %s", again.RevokedAt, gone.RevokedAt)
	}
}

// An admin's key reaches neither a key of another app nor one of a stronger role.
func TestKeys_AreConfinedToAppAndRole(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("foreign", "other", memory.RoleRead)
	f.issue("root", "", memory.RoleOperator)
	f.wantNames(f.listKeys("admin", ""), "read", "write", "admin")
	f.wantNames(f.listKeys("admin", "&app_id=app"), "read", "write", "admin")
	f.wantNames(f.listKeys("operator", ""), "read", "write", "admin", "operator", "foreign", "root")
	f.wantNames(f.listKeys("root", "&app_id=other"), "foreign")
	f.wantPaths("GET", "/v1/admin/keys?app_id=other", "", "query.app_id")
	for _, weak := range []string{"read", "write"} {
		f.want(403, "GET", "/v1/admin/keys", "", as(weak)...)
		f.want(403, "POST", "/v1/admin/keys", `{"role":"read"}`, as(weak)...)
		f.want(403, "DELETE", "/v1/admin/keys/"+f.keyIDs["read"], "", as(weak)...)
	}
	f.want(403, "POST", "/v1/admin/keys", `{"role":"operator"}`)
	f.want(403, "POST", "/v1/admin/keys", `{"role":"read","app_id":"other"}`)
	for _, name := range []string{"foreign", "operator", "root"} {
		f.want(404, "DELETE", "/v1/admin/keys/"+f.keyIDs[name], "")
		if key, err := f.store.Key(t.Context(), f.keyIDs[name]); err != nil || !key.RevokedAt.IsZero() {
			t.Errorf("%+v, %v", key, err)
		}
	}
	f.want(404, "DELETE", "/v1/admin/keys/"+someID, "")
	f.want(404, "DELETE", "/v1/admin/keys/x", "")
	made := fetch[keyBody](f, 201, "POST", "/v1/admin/keys", `{"role":"operator"}`, as("operator")...)
	if made.AppID != "" || made.Role != memory.RoleOperator {
		t.Errorf("%+v", made)
	}
	made = fetch[keyBody](f, 201, "POST", "/v1/admin/keys", `{"role":"admin","app_id":"other"}`, as("root")...)
	f.wantNames(f.listKeys(made.Secret, ""), "foreign", "")
	f.want(200, "DELETE", "/v1/admin/keys/"+f.keyIDs["foreign"], "", as("root")...)
}

func TestKeys_RefuseWrongFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("root", "", memory.RoleOperator)
	f.wantPaths("POST", "/v1/admin/keys", `{"role":"boss","name":"","more":1}`, "role", "name", "more")
	f.wantPaths("POST", "/v1/admin/keys", `{"role":"admin","user_id":"u"}`, "user_id")
	f.wantPaths("POST", "/v1/admin/keys", `{"role":"operator","app_id":"app"}`, "app_id")
	f.wantPaths("POST", "/v1/admin/keys", `{"role":"read","name":"configured"}`, "name")
	f.want(400, "POST", "/v1/admin/keys", `{"role":"read"}`, as("root")...) // the app is missing
	configured := memory.Key{
		ID: memory.NewID(), Hash: "c", Name: ConfiguredKey, AppID: "app", Role: memory.RoleOperator, CreatedAt: noon,
	}
	f.must(f.store.CreateKey(t.Context(), configured))
	f.want(409, "DELETE", "/v1/admin/keys/"+configured.ID, "", as("root")...)
	if n, err := f.store.ListKeys(t.Context(), db.KeyFilter{Limit: 50}); err != nil || len(n) != 6 {
		t.Errorf("%d keys, %v", len(n), err)
	}
}
