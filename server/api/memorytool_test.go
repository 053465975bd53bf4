package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

type toolAnswer struct {
	Content string `json:"content"`
	IsError bool   `json:"is_error"`
}

type versionsAnswer struct {
	Versions []fileVersionBody `json:"versions"`
	Next     string            `json:"next_cursor"`
}

// tool runs a command of the user u. fields has the fields of the command, in JSON.
func (f *fixture) tool(command, fields string, headers ...string) toolAnswer {
	f.t.Helper()
	return fetch[toolAnswer](f, 200, "POST", "/v1/memory-tool",
		fmt.Sprintf(`{"user_id":"u","command":%q,%s}`, command, fields), headers...)
}

// createFile creates a file of the user u.
func (f *fixture) createFile(path, text string) {
	f.t.Helper()
	if a := f.tool("create", fmt.Sprintf(`"path":%q,"file_text":%q`, path, text)); a.IsError {
		f.t.Fatal(a.Content)
	}
}

func (f *fixture) versions(query string) versionsAnswer {
	f.t.Helper()
	return fetch[versionsAnswer](f, 200, "GET", "/v1/memory-tool/versions?user_id=u&path=/memories/"+query, "")
}

func TestMemoryTool_RecallsParagraphs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.createFile("/memories/ada.md", "Ada drinks green tea.\n\nShe lives in Lisbon.\n")
	recalled := func(query string) recalledBody {
		t.Helper()
		found := fetch[recallBody](f, 200, "POST", "/v1/recall", fmt.Sprintf(`{"user_id":"u","query":%q}`, query))
		if len(found.Memories) == 0 {
			t.Fatalf("%s: nothing is recalled", query)
		}
		return found.Memories[0]
	}
	if m := recalled("lives in Lisbon"); m.Content != "She lives in Lisbon." ||
		!strings.Contains(string(m.Metadata), `"path":"/memories/ada.md"`) {
		t.Errorf("%+v", m)
	}
	f.tool("str_replace", `"path":"/memories/ada.md","old_str":"Lisbon","new_str":"Porto"`)
	if m := recalled("lives in Lisbon Porto"); m.Content != "She lives in Porto." {
		t.Errorf("%+v", m)
	}
	f.tool("delete", `"path":"/memories/ada.md"`)
	if found := fetch[recallBody](f, 200, "POST", "/v1/recall", `{"user_id":"u","query":"tea"}`); len(found.Memories) > 0 {
		t.Errorf("%+v", found.Memories)
	}
}

func TestMemoryTool_ReadsFormerVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.issue("other", "another app", memory.RoleAdmin)
	f.createFile("/memories/a", "one")
	for _, n := range []string{"two", "three"} {
		f.advance(time.Minute)
		f.tool("insert", fmt.Sprintf(`"path":"/memories/a","insert_line":0,"insert_text":%q`, n))
	}
	f.tool("rename", `"old_path":"/memories/a","new_path":"/memories/b"`)
	f.tool("delete", `"path":"/memories/b"`)
	if n := len(f.versions("a").Versions); n != 0 {
		t.Errorf("%d versions at the former path", n)
	}
	var texts []string
	for page := f.versions("b&limit=2"); ; page = f.versions("b&limit=2&cursor=" + page.Next) {
		for _, v := range page.Versions {
			type whole struct {
				fileVersionBody
				UserID, Content string
			}
			read := fetch[whole](f, 200, "GET", "/v1/memory-tool/versions/"+v.ID+"?user_id=u", "")
			if read.fileVersionBody != v || read.Bytes != len(read.Content) || v.Version != 3-len(texts) {
				t.Errorf("%+v of %+v", read, v)
			}
			texts = append(texts, read.Content)
			f.want(404, "GET", "/v1/memory-tool/versions/"+v.ID+"?user_id=u", "", "Authorization", "Bearer other")
			f.want(404, "GET", "/v1/memory-tool/versions/"+v.ID+"?user_id=v", "")
		}
		if page.Next == "" {
			break
		}
	}
	if got := strings.Join(texts, "|"); got != "three\ntwo\none\n|two\none\n|one" {
		t.Errorf("contents %q", got)
	}
	f.want(404, "GET", "/v1/memory-tool/versions/"+memory.NewID()+"?user_id=u", "")
	f.want(404, "GET", "/v1/memory-tool/versions/x?user_id=u", "")
	f.wantPaths("GET", "/v1/memory-tool/versions?path=/tmp", "", "query.user_id", "query.path")
	f.wantPaths("GET", "/v1/memory-tool/versions?user_id=u&path=/memories/../x&agent_id=%07", "", "query.path",
		"query.agent_id")
	receipt := fetch[erasedBody](f, 200, "DELETE", "/v1/users/u", "")
	if receipt.Deleted.Files != 0 || receipt.Deleted.FileVersions != 3 || !receipt.Verified {
		t.Errorf("%+v", receipt)
	}
}

func TestMemoryTool_RefusesMalformedRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for fields, paths := range map[string][]string{
		`"command":"format","path":"/memories"`:                              {"command"},
		`"command":"view"`:                                                   {"path"},
		`"command":"view","path":7`:                                          {"path"},
		`"command":"view","path":"/memories","x":1`:                          {"x"},
		`"command":"view","path":"/memories","view_range":[1]`:               {"view_range"},
		`"command":"create","path":"/memories/a"`:                            {"file_text"},
		`"command":"create","path":"/memories/\u0000","file_text":""`:        {"path"},
		`"command":"str_replace","path":"/memories/a"`:                       {"old_str", "new_str"},
		`"command":"str_replace","path":"/m","old_str":"","new_str":""`:      {"old_str"},
		`"command":"insert","path":"/memories/a"`:                            {"insert_line", "insert_text"},
		`"command":"insert","path":"/m","insert_line":1.5,"insert_text":""`:  {"insert_line"},
		`"command":"insert","path":"/m","insert_line":1e30,"insert_text":""`: {"insert_line"},
		`"command":"rename","path":"/memories/a"`:                            {"old_path", "new_path"},
		`"command":"delete","path":"/memories/a","agent_id":"\u0007"`:        {"agent_id"},
	} {
		f.wantPaths("POST", "/v1/memory-tool", `{"user_id":"u",`+fields+`}`, paths...)
	}
	f.wantPaths("POST", "/v1/memory-tool", `{}`, "user_id", "command")
}

// A wrong value of the model is a result that it can read, and never a fault of the server.
func TestMemoryTool_AnswersHostileValuesWithResults(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.createFile("/memories/a", "one")
	hostile := []string{
		"", "/", "/memories/..", "/memories/../../etc/passwd", "/memories/%2e%2e/x", `/memories/\..\x`, "/memories/a/b",
		"/memories/\n", "/memories/\u202e", "/memories/'; DROP TABLE memory_files; --", "/memories/%", "/memories/_",
		"/memories/" + strings.Repeat("é", 2000), "/memories" + strings.Repeat("/x", 30), "\ufffd", "/memories/$1",
		"/memories/{a|b}",
	}
	for _, value := range hostile {
		raw, _ := json.Marshal(value)
		for command, fields := range map[string]string{
			"view":        `"path":VALUE,"view_range":[-2147483648,2147483647]`,
			"create":      `"path":VALUE,"file_text":VALUE`,
			"str_replace": `"path":"/memories/a","old_str":"one","new_str":VALUE`,
			"insert":      `"path":VALUE,"insert_line":-2147483648,"insert_text":VALUE`,
			"rename":      `"old_path":"/memories/nothing","new_path":VALUE`,
			"delete":      `"path":VALUE`,
		} {
			body := fmt.Sprintf(`{"user_id":"hostile","command":%q,%s}`, command,
				strings.ReplaceAll(fields, "VALUE", string(raw)))
			if w := f.send("POST", "/v1/memory-tool", body); w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", body, w.Code, w.Body)
			}
		}
	}
	if a := f.tool("view", `"path":"/memories/a"`); !strings.HasSuffix(a.Content, "\tone") {
		t.Errorf("%+v", a)
	}
}

func TestMemoryTool_ChecksRolesAndQuotas(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Quotas.Default.Memories = 4 })
	f.issue("other", "another app", memory.RoleAdmin)
	read := []string{"Authorization", "Bearer read"}
	f.createFile("/memories/a", "One.\n\nTwo.\n")
	if a := f.tool("view", `"path":"/memories/a"`, read...); a.IsError {
		t.Error(a.Content)
	}
	for _, fields := range []string{
		`"command":"create","path":"/memories/b","file_text":""`, `"command":"delete","path":"/memories/a"`,
		`"command":"str_replace","path":"/memories/a","old_str":"One","new_str":"1"`,
		`"command":"insert","path":"/memories/a","insert_line":0,"insert_text":"x"`,
		`"command":"rename","old_path":"/memories/a","new_path":"/memories/b"`,
	} {
		f.want(403, "POST", "/v1/memory-tool", `{"user_id":"u",`+fields+`}`, read...)
	}
	f.overQuota("quotas.memories", 4, "POST", "/v1/memory-tool",
		`{"user_id":"u","command":"create","path":"/memories/b","file_text":"Three.\n\nFour.\n\nFive.\n"}`)
	f.tool("delete", `"path":"/memories/a"`)
	other := fetch[toolAnswer](f, 200, "POST", "/v1/memory-tool",
		`{"user_id":"u","command":"view","path":"/memories/a"}`, "Authorization", "Bearer other")
	if !other.IsError {
		t.Errorf("another app sees %q", other.Content)
	}
}
