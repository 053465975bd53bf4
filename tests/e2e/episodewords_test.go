package e2e

import (
	"strings"
	"testing"
	"time"
)

// opening is words for an episode of a life; empty: of no episode.
type opening struct{ life, words, episode string }

// The first two lives were in view when the rule was written, and the others only when it was measured.
var openings = []opening{
	{"life_en", "when we planned the trip to Japan", "japan"},
	{"life_en", "the time before the half marathon", "run"},
	{"life_en", "when Dad was in hospital", "dad"},
	{"life_en", "when we were looking for a house to buy", "house"},
	{"life_en", "how we moved into the new house", "move"},
	{"life_en", "when we got the puppy", "dog"},
	{"life_en", "the billing launch at work", "launch"},
	{"life_en", "my Spanish course", "spanish"},
	{"life_en", "growing vegetables in the garden", "garden"},
	{"life_en", "when I learned to sail", ""},
	{"life_en", "our wedding", ""},
	{"life_en", "the concert in Berlin", ""},
	{"life_zh", "我们去云南旅行的时候", "云南"},
	{"life_zh", "减肥那段时间", "减肥"},
	{"life_zh", "奶奶住院的时候", "奶奶"},
	{"life_zh", "找新工作面试的那段时间", "换工作"},
	{"life_zh", "刚到美团上班的时候", "新工作"},
	{"life_zh", "春节回成都过年", "春节"},
	{"life_zh", "刚养猫的时候", "猫"},
	{"life_zh", "准备考研", "考研"},
	{"life_zh", "新房装修的时候", "装修"},
	{"life_zh", "我学游泳的时候", ""},
	{"life_zh", "大学毕业典礼", ""},
	{"life_zh", "在日本看樱花", ""},
	{"other_en", "when I played in the band", "band"},
	{"other_en", "when we bought the electric car", "car"},
	{"other_en", "the time of my knee surgery", "knee"},
	{"other_en", "while I was writing my master's thesis", "thesis"},
	{"other_en", "when we planned the wedding", ""},
	{"other_en", "our holiday in Greece", ""},
	{"other_zh", "我们参加表姐婚礼的时候", "婚礼"},
	{"other_zh", "写小说的那段时间", "小说"},
	{"other_zh", "女儿刚上幼儿园的时候", "幼儿园"},
	{"other_zh", "搬家租房子的时候", "租房"},
	{"other_zh", "学车考驾照的时候", "驾照"},
	{"other_zh", "去北京出差的时候", ""},
	{"other_zh", "学做蛋糕的时候", ""},
}

// A context opens the episode that words clearly name, and else is the ordinary one.
func TestContext_OpensEpisodesByWords(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		readers := map[string]map[string]string{} // the reader's episode of a statement, by life
		for _, name := range []string{"life_en", "life_zh", "other_en", "other_zh"} {
			life := lifeOf(t, name)
			s.live(name, life)
			s.call("POST", "/v1/users/"+name+"/episodes", nil, 200)
			readers[name] = map[string]string{}
			for _, l := range life {
				readers[name][l.said] = l.episode
			}
		}
		right := map[string]int{}
		for _, o := range openings {
			r := s.call("POST", "/v1/context", object{
				"user_id": o.life, "query": "How was it?", "episode": o.words, "preferences": false, "touch": false,
			}, 200)
			opened, is := r.body["episode"].(map[string]any)
			if is != (r.body["no_episode"] == nil) {
				t.Fatalf("%s: %s", o.words, r.raw)
			}
			if !is {
				if o.episode == "" {
					right[o.life]++
				} else {
					t.Logf("%s: none, wanted %s", o.words, o.episode)
				}
				continue
			}
			found := s.call("GET", "/v1/users/"+o.life+"/episodes/"+opened["id"].(string), nil, 200)
			votes := map[string]int{}
			for _, m := range found.list("memories") {
				votes[readers[o.life][m["content"].(string)]]++
			}
			if o.episode != "" && 2*votes[o.episode] >= len(found.list("memories")) {
				right[o.life]++
			} else {
				t.Logf("%s: %s %v, wanted %q", o.words, opened["title"], votes, o.episode)
			}
			for _, m := range r.list("memories") {
				if !strings.Contains(found.raw, m["id"].(string)) {
					t.Errorf("%s: the context has %v, which is not of the episode", o.words, m["content"])
				}
			}
		}
		t.Logf("right: %v", right)
		for life, n := range map[string]int{"life_en": 12, "life_zh": 11, "other_en": 6, "other_zh": 7} {
			if right[life] < n {
				t.Errorf("%s: %d are right, not %d", life, right[life], n)
			}
		}
		ordinary := object{"user_id": "life_en", "query": "Where is the ryokan?", "preferences": false, "touch": false}
		plain := s.call("POST", "/v1/context", ordinary, 200)
		ordinary["episode"] = "the concert in Berlin"
		if r := s.call("POST", "/v1/context", ordinary, 200); r.body["text"] != plain.body["text"] {
			t.Errorf("without an episode: %s\nnot %s", r.body["text"], plain.body["text"])
		}
		ordinary["episode"] = " "
		s.call("POST", "/v1/context", ordinary, 400)
		ordinary["episode"] = "when we planned the trip to Japan"
		s.call("PUT", "/v1/users/life_en", object{"memory": "off"}, 200)
		if r := s.call("POST", "/v1/context", ordinary, 200); r.body["episode"] != nil || len(r.list("memories")) > 0 {
			t.Errorf("with memory off: %s", r.raw)
		}
	})
}

// A plan whose day has passed stays in its episode, since it says what happened: words find the episode by it, a
// context of the episode says until when it held, and a recall leaves it out.
func TestEpisodes_KeepWhatCameToPass(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		begin, passed := now().AddDate(0, -2, 0), now().AddDate(0, -1, 0)
		for i, content := range []string{
			"I plan a trip to Kyoto.", "I booked a ryokan in Kyoto.", "I booked the flight to Kyoto.",
		} {
			body := object{"user_id": "ada", "content": content, "at": begin.AddDate(0, 0, i)}
			if i == 2 {
				body["expires_at"] = passed
			}
			s.call("POST", "/v1/memories", body, 201)
		}
		s.call("POST", "/v1/users/ada/episodes", nil, 200)
		if all := s.episodes("ada", ""); len(all) != 1 || all[0]["count"] != 3.0 {
			t.Fatalf("episodes: %v", all)
		}
		text := s.call("POST", "/v1/context", object{
			"user_id": "ada", "query": "How was it?", "episode": "when I booked the flight to Kyoto", "preferences": false,
		}, 200).body["text"].(string)
		want := "I booked the flight to Kyoto. (until " + passed.UTC().Format(time.DateOnly) + ")"
		if !strings.Contains(text, want) {
			t.Errorf("the context lacks %q:\n%s", want, text)
		}
		r := s.call("POST", "/v1/recall", object{
			"user_id": "ada", "query": "ryokan in Kyoto", "expand": "episodes", "limit": 1, "touch": false,
		}, 200)
		if strings.Contains(r.raw, "flight") || !strings.Contains(r.raw, "I plan a trip to Kyoto.") {
			t.Errorf("recalled: %s", r.raw)
		}
	})
}
