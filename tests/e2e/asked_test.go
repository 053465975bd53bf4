package e2e

import (
	"strings"
	"testing"
)

// A short reply is found by the words of the question that it answers, also if the turn before it has the question, and
// is shown with the question. A context shows the question once. The reply lacks the question while that is forgotten.
func TestAsked_RepliesAreFoundWithTheirQuestions(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, c := range map[string]struct{ stated, question, reply, query, line string }{
			"english": {
				"I finally adopted a puppy.", "A puppy needs a lot of walks. What did you name your dog?",
				"Biscuit.", "What is my dog called?",
				`user (asked "What did you name your dog?"): Biscuit.`,
			},
			"chinese": {
				"我终于领养了一只小猫。", "小猫需要安静的角落。你给小猫取了什么名字？", "团子。", "我的小猫叫什么名字？",
				"user（被问“你给小猫取了什么名字？”）: 团子。",
			},
		} {
			report := func(messages ...object) {
				s.call("POST", "/v1/turns", object{
					"user_id": user, "conversation_id": user, "wait": true, "messages": messages,
				}, 200)
			}
			report(object{"role": "user", "content": c.stated}, object{"role": "assistant", "content": c.question})
			report(object{"role": "user", "content": c.reply}, object{"role": "assistant", "content": "👍"})
			recalled := func() (reply object) {
				t.Helper()
				for _, m := range s.call("POST", "/v1/recall", object{"user_id": user, "query": c.query}, 200).list("memories") {
					if m["content"] == c.reply {
						return m
					}
				}
				t.Fatalf("%q does not recall %q", c.query, c.reply)
				return nil
			}
			asked := recalled()["asked"]
			if asked == nil || !strings.HasSuffix(c.question, asked.(string)) {
				t.Errorf("%q answers %v", c.reply, asked)
			}
			for limit, want := range map[int]string{1: c.line, 10: "assistant: " + c.question + "\nuser: " + c.reply} {
				context := s.call("POST", "/v1/context", object{"user_id": user, "query": c.query, "limit": limit}, 200)
				if text := context.body["text"].(string); !strings.Contains(text, want) {
					t.Errorf("the context of %d lacks %q:\n%s", limit, want, text)
				}
			}
			id := s.messageID(user, c.question)
			s.call("DELETE", "/v1/memories/"+id, nil, 200)
			reply := s.call("GET", "/v1/memories/"+s.messageID(user, c.reply), nil, 200)
			if got := reply.body["asked"]; got != nil {
				t.Errorf("%q still answers %v, which is forgotten", c.reply, got)
			}
			s.call("POST", "/v1/memories/"+id+"/restore", nil, 200)
			if got := recalled()["asked"]; got != asked {
				t.Errorf("%q answers %v after the restore, want %v", c.reply, got, asked)
			}
		}
	})
}

// messageID returns the id of the user's message with a content.
func (s *server) messageID(user, content string) string {
	s.t.Helper()
	for _, m := range s.call("GET", "/v1/memories?type=message&user_id="+user, nil, 200).list("memories") {
		if m["content"] == content {
			return m["id"].(string)
		}
	}
	s.t.Fatalf("%s has no message %q", user, content)
	return ""
}
