package api

import (
	"fmt"
	"strings"
	"testing"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
)

func TestUsers_ListsThoseOfTheApp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("other", "other", memory.RoleWrite)
	write := func(user string) string { return fmt.Sprintf(`{"user_id":%q,"content":"Likes tea."}`, user) }
	for _, user := range []string{"bob", "ada", "ada", "a/b", "cyd"} {
		f.want(201, "POST", "/v1/memories", write(user))
	}
	f.want(201, "POST", "/v1/memories", write("eve"), "Authorization", "Bearer other")
	type userList struct {
		Users []userBody `json:"users"`
		Next  string     `json:"next_cursor"`
	}
	var got []string
	for query := "?limit=3"; query != ""; {
		page := parse[userList](t, f.want(200, "GET", "/v1/users"+query, ""))
		for _, u := range page.Users {
			got = append(got, fmt.Sprint(u.UserID, u.Memories))
			if u.First.IsZero() || u.Last.Before(u.First) {
				t.Errorf("%s: from %v to %v", u.UserID, u.First, u.Last)
			}
		}
		query = ""
		if page.Next != "" {
			query = "?limit=3&cursor=" + page.Next
		}
	}
	if strings.Join(got, " ") != "a/b1 ada2 bob1 cyd1" {
		t.Errorf("users: %v", got)
	}
	f.want(400, "GET", "/v1/users?cursor=1.x", "")
}

func TestUsers_ShowsWhatIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, user := range []string{"ada", "adb", "bob"} {
		f.keep(ingest.Write{Owner: owner(user), Content: "Likes 茶."})
	}
	gone := f.keep(ingest.Write{Owner: owner("a/b"), Content: "Likes tea."})
	f.want(200, "DELETE", "/v1/memories/"+gone.ID, "")
	f.accept("a/b", "", "I moved.")
	got := fetch[holdingsBody](f, 200, "GET", "/v1/users/a%2Fb", "")
	if got.UserID != "a/b" || got.Memories[memory.Forgotten] != 1 || got.Bytes != 10 || got.Turns != 1 ||
		!got.LastTurn.Equal(noon) {
		t.Errorf("of the user a/b is kept %+v", got)
	}
	if got := fetch[holdingsBody](f, 200, "GET", "/v1/users/unknown", ""); len(got.Memories) != 0 || got.Bytes != 0 {
		t.Errorf("of an unknown user is kept %+v", got)
	}
	page := fetch[struct{ Users []userBody }](f, 200, "GET", "/v1/users?prefix=ad", "")
	if len(page.Users) != 2 || page.Users[0].UserID != "ada" || !page.Users[0].LastTurn.IsZero() {
		t.Errorf("the users with the prefix ad are %+v", page.Users)
	}
}

func TestUsers_ShowsSettingsWithoutCounting(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.want(200, "PUT", "/v1/users/a%2Fb", `{"time_zone":"Asia/Shanghai","memory":"read"}`)
	for user, want := range map[string]string{
		"a%2Fb":   `{"user_id":"a/b","time_zone":"Asia/Shanghai","zone":"Asia/Shanghai","memory":"read"}`,
		"unknown": `{"user_id":"unknown","zone":"UTC","memory":"on"}`,
	} {
		if got := strings.TrimSpace(f.want(200, "GET", "/v1/users/"+user+"/settings", "").Body.String()); got != want {
			t.Errorf("settings %s, want %s", got, want)
		}
	}
}
