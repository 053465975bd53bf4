package chatfile

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read returns the turns of an export as lines, one message each, and the errors.
func read(t *testing.T, format string, file []byte) (lines []string, errs []error) {
	t.Helper()
	export, err := Open(format, bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, []error{err}
	}
	for turn, err := range export.Turns(io.Discard) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, m := range turn.Messages {
			lines = append(lines, fmt.Sprintf("%s@%s %s/%s %s %s: %s", turn.UserID, turn.ConversationID, turn.ID, m.ID,
				m.At.UTC().Format("2006-01-02T15:04:05"), m.Role, m.Content))
		}
	}
	return lines, errs
}

func zipOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	for i := 0; i < len(files); i += 2 {
		w, err := archive.Create(files[i])
		if err == nil {
			_, err = io.WriteString(w, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// The tree has an edited question, a hidden message, thoughts, a call of a tool, and a picture.
const chatGPTChat = `{"id": "c1", "conversation_id": "c1", "create_time": 1769927000, "current_node": "h", "mapping": {
  "root": {"parent": null, "message": null},
  "s": {"parent": "root", "message": {"id": "s", "author": {"role": "system"}, "content": {"content_type": "text",
    "parts": ["Be kind."]}, "metadata": {"is_visually_hidden_from_conversation": true}}},
  "old": {"parent": "s", "message": {"id": "old", "author": {"role": "user"}, "create_time": 1769927300,
    "content": {"content_type": "text", "parts": ["I adopted a dog."]}}},
  "a": {"parent": "s", "message": {"id": "a", "author": {"role": "user"}, "create_time": 1769927400.5,
    "content": {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"},
      "I adopted a cat.", {"content_type": "audio_transcription", "text": "She is called Mochi."}]}}},
  "t": {"parent": "a", "message": {"id": "t", "author": {"role": "assistant"},
    "content": {"content_type": "thoughts"}}},
  "u": {"parent": "t", "message": {"id": "u", "author": {"role": "assistant"}, "recipient": "web.run",
    "content": {"content_type": "text", "parts": ["search(cats)"]}}},
  "b": {"parent": "u", "message": {"id": "b", "author": {"role": "assistant"}, "recipient": "all",
    "content": {"content_type": "text", "parts": ["A lovely name!"]}}},
  "h": {"parent": "b", "message": {"id": "h", "author": {"role": "user"}, "create_time": 1769927500,
    "content": {"content_type": "text", "parts": ["Thanks."]}}}}}`

func TestTurns_ReadChatsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	chatGPTLines := []string{
		"@c1 c1-b/a 2026-02-01T06:30:00 user: I adopted a cat.\nShe is called Mochi.",
		"@c1 c1-b/b 2026-02-01T06:23:20 assistant: A lovely name!",
		"@c1 c1-h/h 2026-02-01T06:31:40 user: Thanks.",
	}
	for name, test := range map[string]struct {
		format string
		file   []byte
		want   []string
	}{
		"ChatGPT's zip": {"chatgpt", zipOf(t, "user.json", "{}", "conversations.json", "["+chatGPTChat+"]",
			"shared_conversations.json", "[]"), chatGPTLines},
		"ChatGPT's divided zip": {"chatgpt", zipOf(t, "x/conversations-000.json", "["+chatGPTChat+"]",
			"x/conversations-001.json", "[]"), chatGPTLines},
		"ChatGPT's JSON": {"chatgpt", []byte(" \n[" + chatGPTChat + "]"), chatGPTLines},
		"one chat":       {"chatgpt", []byte(chatGPTChat), chatGPTLines},
		"Claude's zip": {"claude", zipOf(t, "users.json", "[]", "conversations.json", `[{"uuid": "c2", "name": "Cats",
			"chat_messages": [
			{"uuid": "m1", "sender": "human", "created_at": "2026-01-31T22:30:00.123456Z", "text": "I adopted a cat.",
			 "content": [], "attachments": []},
			{"uuid": "m2", "sender": "assistant", "created_at": "2026-01-31T22:30:09Z", "text": "Wait. (unsupported) Lovely!",
			 "content": [{"type": "text", "text": "Wait."}, {"type": "tool_use"}, {"type": "text", "text": "Lovely!"}]}]}]`),
			[]string{
				"@c2 c2-m2/m1 2026-01-31T22:30:00 user: I adopted a cat.",
				"@c2 c2-m2/m2 2026-01-31T22:30:09 assistant: Wait.\nLovely!",
			}},
		"Open WebUI's tree": {"openwebui", []byte(`[{"id": "c3", "user_id": "u1", "chat": {"history": {"currentId": "m2",
			"messages": {"m0": {"role": "user", "content": "an edited question", "parentId": null},
			"m1": {"role": "user", "content": [{"type": "text", "text": "I adopted a cat."}], "timestamp": 1769927400},
			"m2": {"id": "m2", "parentId": "m1", "role": "assistant", "content": "Lovely!", "timestamp": 1769927409000}}},
			"messages": []}}]`),
			[]string{
				"u1@c3 c3-m2/m1 2026-02-01T06:30:00 user: I adopted a cat.",
				"u1@c3 c3-m2/m2 2026-02-01T06:30:09 assistant: Lovely!",
			}},
		"Open WebUI's list": {"openwebui", []byte(`[{"id": "c3", "chat": {"messages": [
			{"id": "m1", "role": "user", "content": "I adopted a cat."}]}}]`),
			[]string{"@c3 c3-m1/m1 0001-01-01T00:00:00 user: I adopted a cat."}},
		"Zep's thread": {"zep", []byte(`{"user_id": "ada", "messages": [{"uuid": "m1", "thread_uuid": "t1", "role": "user",
			"name": "Ada", "content": "I adopted a cat.", "reference_time": "2026-01-31T22:30:00Z",
			"created_at": "2026-03-01T00:00:00Z"}]}`),
			[]string{"ada@t1 t1-m1/m1 2026-01-31T22:30:00 user: I adopted a cat."}},
		"Zep's session": {"zep", []byte(`{"messages": [{"uuid": "m1", "role": "Ada", "role_type": "user",
			"content": "I adopted a cat.", "created_at": "2026-01-31T22:30:00Z"}]}`),
			[]string{"@m1 m1-m1/m1 2026-01-31T22:30:00 user: I adopted a cat."}},
		"a loop of parents": {"chatgpt", []byte(`[{"id": "c4", "current_node": "a", "mapping": {
			"a": {"parent": "a", "message": {"id": "a", "author": {"role": "tool"}}}}}]`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, errs := read(t, test.format, test.file)
			if diff := cmp.Diff(test.want, lines); diff != "" || len(errs) > 0 {
				t.Errorf("errors %v, -want +got\n%s", errs, diff)
			}
		})
	}
}

func TestTurns_NameWhatTheyCannotRead(t *testing.T) {
	t.Parallel()
	var cut *ChatError
	lines, errs := read(t, "chatgpt", []byte("["+chatGPTChat+`, {"title": "foreign"}, {"mapping": 7}, `+
		strings.ReplaceAll(chatGPTChat, "c1", "c9")+`, {"cut`))
	if len(lines) != 6 || len(errs) != 3 || !errors.As(errs[0], &cut) || cut.Number != 2 ||
		!errors.As(errs[1], &cut) || cut.Number != 3 || errors.As(errs[2], &cut) {
		t.Errorf("lines %q, errors %v", lines, errs)
	}
	for name, test := range map[string]struct{ format, file string }{
		"of another program": {"claude", "[" + chatGPTChat + "]"},
		"no list of chats":   {"openwebui", `{"chats": 1}`},
		"no JSON":            {"zep", "hello"},
		"no last message":    {"chatgpt", strings.Replace(chatGPTChat, `"current_node": "h"`, `"current_node": null`, 1)},
		"no end of a tree":   {"openwebui", `{"id": "c", "chat": {"history": {"messages": {"m": {"role": "user"}}}}}`},
		"a zip of a mailbox": {"chatgpt", string(zipOf(t, "mail.json", "[]"))},
	} {
		if lines, errs := read(t, test.format, []byte(test.file)); len(lines) > 0 || len(errs) != 1 {
			t.Errorf("%s: lines %q, errors %v", name, lines, errs)
		}
	}
}

// Whatever a chat holds, reading it ends, and each turn can be sent.
func FuzzTurns(f *testing.F) {
	f.Add(chatGPTChat)
	f.Add(`{"uuid": "c2", "chat_messages": [{"uuid": "m1", "sender": "human", "text": "a"}]}`)
	f.Add(`{"id": "c3", "chat": {"history": {"currentId": "a", "messages":
		{"a": {"parentId": "a", "role": "user", "content": "b"}}}}}`)
	f.Add(`{"messages": [{"uuid": "m1", "role": "user", "content": "a"}]}`)
	f.Fuzz(func(t *testing.T, chat string) {
		for _, format := range Formats() {
			export, err := Open(format, strings.NewReader(chat), int64(len(chat)))
			if err != nil {
				continue
			}
			for turn, err := range export.Turns(io.Discard) {
				if _, failed := json.Marshal(turn); failed != nil {
					t.Errorf("%s: %v", format, failed)
				}
				if err == nil && (len(turn.Messages) == 0 || len(turn.Messages) > maxMessages) {
					t.Errorf("%s: a turn of %d messages", format, len(turn.Messages))
				}
			}
		}
	})
}
