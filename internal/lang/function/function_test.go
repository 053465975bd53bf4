package function

import (
	"strings"
	"testing"
)

func TestWithout_LeavesWhatAQueryNames(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"Où est-ce que je travaille ?":        "travaille",
		"Qu'est-ce que j'ai acheté à Lyon ?":  "acheté Lyon",
		"Comment s'appelle l'école de Zoé ?":  "s'appelle l'école Zoé",
		"¿Dónde trabajo y con quién?":         "trabajo",
		"Wie heißt mein Hund, und du?":        "Wie heißt mein Hund und du",
		"Где я работаю?":                      "работаю",
		"איפה אני עובד?":                      "עובד",
		"أين أعمل؟":                           "أعمل",
		"나는 어디에서 일해?":                         "일해",
		"แมวของฉันชื่ออะไร":                   "แมว ชื่อ",
		"我在哪里工作？":                             "我在 工作",
		"Where does my son pour the tea?":     "Where does my son pour the tea",
		"What does Des say about La La Land?": "What does Des say about La La Land",
		"Was the war in an old town?":         "Was the war in an old town",
		"Les Paul or Gibson?":                 "Les Paul or Gibson",
		"":                                    "",
	} {
		left := strings.Join(strings.FieldsFunc(Without(query), isBetween), " ")
		if left != want {
			t.Errorf("%q is left as %q, want %q", query, left, want)
		}
	}
}

func TestIsGerman_KnowsWasFromEnglish(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"Was mag meine Frau?": true, "Was esse ich gern?": true, "Was war ich?": true,
		"Was I in Porto?": false, "What was my old number?": false, "Was the flight late?": false, "": false,
	} {
		if got := IsGerman(query); got != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}
