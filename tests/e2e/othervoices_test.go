package e2e

import "testing"

// A question in the first person finds the user's own sentence first, among ten messages in which other people say the
// same about themselves. Without the user's sentence, no message has full confidence.
func TestRecall_FindsTheUsersOwnSentenceAmongOthers(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for user, c := range map[string]struct {
			own, question string
			others        []string
		}{
			"english": {
				"I live in Porto, near the market.", "Where do I live?",
				[]string{
					"My boss said \"I live in Berlin, near the zoo.\"",
					"> I live in Ohio with my three kids.\n\nHow should I answer this post?",
					"Hi Ann,\n\nI live in Leeds now, near the canal. Come and see me.\n\nBest,\nTom\n\nHow do I answer this mail?",
					"Tom: I live in Hamburg\nAna: I live in Rome\nTom: nice\n\nWho of them lives further south?",
					"Translate into French: I live in a small house in Graz.",
					"Please correct this text: \"I am living in Madrid since two years.\"",
					"```go\nfmt.Println(\"I live in memory\") // where I live\n```\nWhat does this print?",
					"Curriculum vitae\nName: Jo Brandt\nAddress: I live in Vienna, Ringstrasse 4\nWhat would you improve?",
					"2031-05-06 10:00:01 INFO user says: I live in Dublin\n2031-05-06 10:00:02 ERROR timeout\nWhat is wrong here?",
					"What does the line \"I live in a yellow submarine\" mean?",
				},
			},
			"allergy": {
				"I'm allergic to walnuts.", "What am I allergic to?",
				[]string{
					"The guest wrote: \"I am allergic to shellfish.\" What can I cook?",
					"> I'm allergic to cats, what should I do?\n\nWrite an answer to this post.",
					"Dear Kim,\n\nI am allergic to pollen and stay inside.\n\nYours,\nPeter\n\nSummarise this mail.",
					"Eve: I'm allergic to gluten\nBob: I'm allergic to soy\nEve: oh no\n\nWhat can both eat?",
					"Translate into German: I am allergic to penicillin.",
					"Correct the grammar: \"I is allergic on eggs.\"",
					"How do you say \"I'm allergic to peanuts\" in Thai?",
					"My friend told me: \"I'm allergic to latex.\" Is that common?",
					"What does she mean by \"I'm allergic to mornings\"?",
					"Rewrite this more politely: I am allergic to your dog, so keep it away.",
				},
			},
			"chinese": {
				"我住在青岛，离海边很近。", "我住在哪里？",
				[]string{
					"我老板说：“我住在北京，离动物园很近。”",
					"> 我住在成都，有三个孩子。\n\n我该怎么回复这个帖子？",
					"小安：\n\n我现在住在苏州，欢迎来玩。\n\n此致\n敬礼\n王涛\n\n这封信我该怎么回？",
					"小王：我住在西安\n小李：我住在大连\n小王：真好\n\n他们谁住得更靠南？",
					"把这句话翻译成英文：我住在昆明的一栋小房子里。",
					"帮我改一下病句：“我住在了两年上海。”",
					"“我住在黄色潜水艇里”这句歌词是什么意思？",
					"朋友发消息说：“我住在杭州，离西湖很近。”我该回什么？",
					"请润色这段话：我住在南京，靠近玄武湖。",
					"日语怎么说“我住在广州”？",
				},
			},
		} {
			s.call("POST", "/v1/turns", turn(user, c.own), 200)
			for _, said := range c.others {
				s.call("POST", "/v1/turns", turn(user, said), 200)
				s.call("POST", "/v1/turns", turn("without-"+user, said), 200)
			}
			without := object{"user_id": "without-" + user, "query": c.question, "touch": false}
			for _, m := range s.call("POST", "/v1/recall", without, 200).list("memories") {
				if m["confidence"].(float64) > 0.5 {
					t.Errorf("%s: %q has the confidence %v", c.question, m["content"], m["confidence"])
				}
			}
			answer := s.call("POST", "/v1/recall", object{"user_id": user, "query": c.question, "touch": false}, 200)
			memories := answer.list("memories")
			if len(memories) == 0 || memories[0]["content"] != c.own {
				t.Errorf("%s finds %v", c.question, memories)
			}
			for _, m := range memories {
				if m["type"] != "message" && m["content"] != c.own {
					t.Errorf("%s: %v became a %v", user, m["content"], m["type"])
				}
			}
		}
	})
}
