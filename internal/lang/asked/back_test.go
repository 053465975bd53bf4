package asked

import "testing"

func TestRefersBack_IsForQuestionsThatLackTheirSubject(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]Reference{
		"What does she teach?":           Surely,
		"And the drill?":                 Surely,
		"How much does it cost?":         Surely,
		"What about Spotify?":            Surely,
		"Why?":                           Surely,
		"班主任是谁？":                         Perhaps,
		"电钻呢？":                           Surely,
		"她老公做什么的？":                       Surely,
		"为什么？":                           Surely,
		"how do I deploy":                NoReference,
		"Where does my sister live?":     NoReference,
		"Which dentist did I go to?":     NoReference,
		"What did I plan for this year?": NoReference,
		"我姐住在哪儿？":                        NoReference,
		"我今年读完了哪些书？":                     NoReference,
		"今年公司年会的抽奖环节由谁来主持？": NoReference,
	} {
		if got := RefersBack(query); got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}
