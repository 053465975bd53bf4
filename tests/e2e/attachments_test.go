package e2e

import (
	"strings"
	"testing"
)

// What is known of an image is a part of the message, in each shape and at each door, is found by its caption, and
// never becomes a fact. Neither the data of an image nor the query of its URL is kept in the words.
func TestAttachments_AreDescribedInMessages(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		parts := map[string]object{
			"openai": {"type": "image_url", "caption": "A heron in the reeds",
				"image_url": object{"url": "https://x.example/heron.jpg?sig=topsecret"}},
			"responses": {"type": "input_image", "alt": "A heron in the reeds",
				"image_url": "data:image/png;base64,aGkgdGhlcmU="},
			"anthropic": {"type": "image", "title": "A heron in the reeds",
				"source": object{"type": "base64", "media_type": "image/png", "data": "aGkgdGhlcmU="}},
			"mcp":  {"type": "image", "description": "A heron in the reeds", "data": "aGkgdGhlcmU=", "mimeType": "image/png"},
			"file": {"type": "file", "file": object{"filename": "A heron in the reeds", "file_id": "f-1"}},
		}
		for user, part := range parts {
			message := object{"role": "user", "content": []any{object{"type": "text", "text": "Look at this."}, part}}
			s.call("POST", "/v1/turns", object{"user_id": user, "wait": true, "messages": []object{message}}, 200)
			only := object{"role": "user", "content": []any{object{"type": "image_url"}}}
			s.call("POST", "/v1/turns", object{"user_id": user, "wait": true, "messages": []object{only}}, 200)
			s.call("POST", "/mem0/v1/memories/", object{"user_id": user + "-mem0", "messages": []object{message}}, 200, 201)
			for _, of := range []string{user, user + "-mem0"} {
				eventually(t, "the message of "+of, func() string {
					if found := s.recalled(of, "Which bird was in the reeds?"); !strings.Contains(found, "A heron in the reeds") {
						return found
					}
					return ""
				})
				for _, m := range s.call("GET", "/v1/memories?limit=100&user_id="+of, nil, 200).list("memories") {
					content := m["content"].(string)
					if m["type"] != "message" || strings.Contains(content, "topsecret") || strings.Contains(content, "aGkgdGhl") {
						t.Errorf("%s: %v", of, m)
					}
				}
			}
		}
	})
}
