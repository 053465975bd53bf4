package e2e

import (
	"strings"
	"testing"
)

// A prompt may be given as a query. Its question is answered as if it were the whole query, whatever was pasted around
// it.
func TestRecall_FindsWhatAPromptAsks(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		trace := strings.Repeat("  at com.acme.auth.Pool.flush(Worker.java:512) NullPointerException: reset by peer\n", 100)
		fault := strings.Repeat("错误：在服务甲的第12行发生空指针异常，线程池已满，请检查数据库连接与内存使用情况。\n", 100)
		for user, c := range map[string]struct {
			said             []string
			question, pasted string
		}{
			"english": {
				[]string{
					"Project Zephyr's rollback code is amber-17.", "Project Boreas's staging host is heron-4.",
					"I work as a surveyor in Graz.", "My colleague Ann likes chess.", "My colleague Bo likes opera.",
				},
				"What is Project Zephyr's rollback code?", trace,
			},
			"chinese": {
				[]string{
					"西风项目的回滚代码是琥珀17号。", "北风项目的预发主机是苍鹭4号。", "我在成都做测绘员。", "我妹妹学法律。", "我的狗叫饼干。",
				},
				"西风项目的回滚代码是什么？", fault,
			},
		} {
			for _, said := range c.said {
				s.call("POST", "/v1/turns", turn(user, said), 200)
			}
			confidence := 0.0 // of the question alone
			for _, query := range []string{
				c.question, c.pasted + "\n" + c.question, c.question + "\n\n" + c.pasted,
				c.pasted + "\n" + c.question + "\n\n" + c.pasted,
			} {
				ask := object{"user_id": user, "query": query, "touch": false}
				answer := s.call("POST", "/v1/recall", ask, 200)
				first := answer.list("memories")[0]
				if confidence == 0 {
					confidence = first["confidence"].(float64)
				}
				if first["content"] != c.said[0] || first["confidence"].(float64) < confidence-0.01 {
					t.Errorf("%s, %d bytes: %q first with confidence %v, alone %v", user, len(query), first["content"],
						first["confidence"], confidence)
				}
				if asked, _ := answer.body["asked"].([]any); query != c.question && (len(asked) != 1 || asked[0] != c.question) {
					t.Errorf("%s, %d bytes: asked %v", user, len(query), asked)
				}
				context := s.call("POST", "/v1/context", ask, 200).body["text"].(string)
				if !strings.Contains(context, c.said[0]) {
					t.Errorf("%s, %d bytes: the context lacks the answer:\n%s", user, len(query), context)
				}
			}
		}
		s.call("POST", "/v1/recall", object{"user_id": "english", "query": strings.Repeat("x", 65_536)}, 200)
		s.call("POST", "/v1/recall", object{"user_id": "english", "query": strings.Repeat("x", 65_537)}, 400)
	})
}

// A code or a number in the question decides between memories that are otherwise the same.
func TestRecall_TellsCodesApart(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, c := range map[string][4]string{
			"invoices": {
				"Invoice INV-2023-052 is paid.", "Invoice INV-2023-053 is open.",
				"Is invoice INV-2023-052 paid?", "Is invoice INV-2023-053 paid?",
			},
			"tickets": {"Ticket ABC-104 is assigned to me.", "Ticket ABC-140 is assigned to me.", "ABC-104", "ABC-140"},
			"flights": {
				"My flight is on 3 May at 08:15.", "My flight is on 5 May at 08:15.", "flight on 3 May", "flight on 5 May",
			},
			"rooms": {"会议室301在三楼。", "会议室302在三楼。", "会议室301在几楼？", "会议室302在几楼？"},
		} {
			for _, said := range c[:2] {
				s.call("POST", "/v1/memories", object{"user_id": user, "content": said, "dedup": false}, 201)
			}
			for i, query := range c[2:] {
				ask := object{"user_id": user, "query": query, "touch": false}
				first := s.call("POST", "/v1/recall", ask, 200).list("memories")[0]
				if first["content"] != c[i] {
					t.Errorf("%s finds %q first", query, first["content"])
				}
			}
		}
	})
}
